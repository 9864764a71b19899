# mypy: ignore-errors
"""Written by kernels/header.py: the functions that pass the arguments of kernels to C.

Each is made for one kernel, from its body in NumPy and from the functions that find addresses.
"""

from numpy import ascontiguousarray

from .compiled import backend, row_of


def activate_all(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")

    def activate_all(surfaces):
        if backend().library is None:
            return reference(surfaces)
        return call(find_surfaces(surfaces))

    return activate_all


def add_start_spring_forces(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def add_start_spring_forces(moved, positions, batches):
        if not batches or backend().library is None:
            return reference(moved, positions, batches)
        return call(moved, positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return add_start_spring_forces


def add_update(given):
    reference = given.get("reference")
    call = given.get("call")

    def add_update(front, places, update):
        if backend().library is None:
            return reference(front, places, update)
        return call(front, front.shape[-1], places, update, update.shape[-1])

    return add_update


def alternate(given):
    reference = given.get("reference")
    call = given.get("call")
    find_bodies = given.get("find_bodies")
    find_rows = given.get("find_rows")

    def alternate(bodies, positions, rows, allowed, most, *, with_motion):
        if not bodies or backend().library is None:
            return reference(bodies, positions, rows, allowed, most, with_motion=with_motion)
        return call(row_of([*map(find_bodies, bodies)]), len(bodies), positions, positions.shape[-1], find_rows(rows), allowed, most, with_motion)

    return alternate


def apply_plastic_flow(given):
    reference = given.get("reference")
    call = given.get("call")
    find_flow = given.get("find_flow")

    def apply_plastic_flow(positions, flow):
        if backend().library is None:
            return reference(positions, flow)
        return call(positions, positions.shape[-1], find_flow(flow))

    return apply_plastic_flow


def are_active(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_near = given.get("find_near")

    def are_active(surfaces, near, active):
        if backend().library is None:
            return reference(surfaces, near, active)
        result = result_for(surfaces, near, active)
        call(find_surfaces(surfaces), find_near(near), ascontiguousarray(active), result)
        return result

    return are_active


def are_fresh(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")

    def are_fresh(known, more):
        if backend().library is None:
            return reference(known, more)
        result = result_for(known, more)
        call(ascontiguousarray(known), known.shape[-1], ascontiguousarray(more), more.shape[-1], result, work_for(known, more))
        return result

    return are_fresh


def are_squeezed(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_rows = given.get("find_rows")

    def are_squeezed(rows, which, count):
        if backend().library is None:
            return reference(rows, which, count)
        result = result_for(rows, which, count)
        call(find_rows(rows), ascontiguousarray(which), which.shape[-1], count, result, work_for(rows, which, count))
        return result

    return are_squeezed


def blown_accelerations(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_exposed_surface = given.get("find_exposed_surface")
    find_fields = given.get("find_fields")

    def blown_accelerations(exposed_surface, inverse_masses, positions, velocities, fields, shares, gravity, dt):
        if not fields or backend().library is None:
            return reference(exposed_surface, inverse_masses, positions, velocities, fields, shares, gravity, dt)
        result = result_for(exposed_surface, inverse_masses, positions, velocities, fields, shares, gravity, dt)
        call(find_exposed_surface(exposed_surface), ascontiguousarray(inverse_masses), ascontiguousarray(positions), positions.shape[-1], ascontiguousarray(velocities), row_of([*map(find_fields, fields)]), len(fields), ascontiguousarray(shares), ascontiguousarray(gravity), dt, result, work_for(exposed_surface, inverse_masses, positions, velocities, fields, shares, gravity, dt))
        return result

    return blown_accelerations


def choose_coarse(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_neighbours = given.get("find_neighbours")

    def choose_coarse(neighbours, pinned):
        if backend().library is None:
            return reference(neighbours, pinned)
        result = result_for(neighbours, pinned)
        call(find_neighbours(neighbours), ascontiguousarray(pinned), result, work_for(neighbours, pinned))
        return result

    return choose_coarse


def clamp_points(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_system = given.get("find_system")

    def clamp_points(system, moves):
        if backend().library is None:
            return reference(system, moves)
        result = result_for(system, moves)
        call(find_system(system), ascontiguousarray(moves), result)
        return result

    return clamp_points


def conserve_momentum(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")

    def conserve_momentum(components, inverse_masses, before, after, *, about):
        if backend().library is None:
            return reference(components, inverse_masses, before, after, about=about)
        result = result_for(components, inverse_masses, before, after, about)
        call(ascontiguousarray(components), components.shape[-1], ascontiguousarray(inverse_masses), ascontiguousarray(before), ascontiguousarray(after), ascontiguousarray(about), result, work_for(components, inverse_masses, before, after, about))
        return result

    return conserve_momentum


def count_turns(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def count_turns(rays, vertices, triangles, frame):
        if backend().library is None:
            return reference(rays, vertices, triangles, frame)
        result = result_for(rays, vertices, triangles, frame)
        call(ascontiguousarray(rays), rays.shape[-1], ascontiguousarray(vertices), vertices.shape[-1], ascontiguousarray(triangles), triangles.shape[-1], ascontiguousarray(frame), result)
        return result

    return count_turns


def draw_held_vertices(given):
    reference = given.get("reference")
    call = given.get("call")
    find_held = given.get("find_held")

    def draw_held_vertices(positions, held, goals):
        if backend().library is None:
            return reference(positions, held, goals)
        return call(positions, positions.shape[-1], find_held(held), goals)

    return draw_held_vertices


def drop_tension_jumps(given):
    reference = given.get("reference")
    call = given.get("call")

    def drop_tension_jumps(tension, former):
        if backend().library is None:
            return reference(tension, former)
        return call(tension, tension.shape[-1], former)

    return drop_tension_jumps


def eliminate_unknowns(given):
    reference = given.get("reference")
    call = given.get("call")

    def eliminate_unknowns(front, root):
        if backend().library is None:
            return reference(front, root)
        return call(front, front.shape[-1], root, root.shape[-1])

    return eliminate_unknowns


def factorize_pentadiagonal(given):
    reference = given.get("reference")
    call = given.get("call")

    def factorize_pentadiagonal(rows):
        if backend().library is None:
            return reference(rows)
        return call(rows, rows.shape[-1])

    return factorize_pentadiagonal


def field_effects(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_fields = given.get("find_fields")

    def field_effects(fields, shares, positions, velocities):
        if not fields or backend().library is None:
            return reference(fields, shares, positions, velocities)
        result = result_for(fields, shares, positions, velocities)
        call(row_of([*map(find_fields, fields)]), len(fields), ascontiguousarray(shares), ascontiguousarray(positions), positions.shape[-1], ascontiguousarray(velocities), result)
        return result

    return field_effects


def find_deviations(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def find_deviations(starts, ends, start, end):
        if backend().library is None:
            return reference(starts, ends, start, end)
        result = result_for(starts, ends, start, end)
        call(ascontiguousarray(starts), starts.shape[-1], ascontiguousarray(ends), ascontiguousarray(start), ascontiguousarray(end), result)
        return result

    return find_deviations


def find_near_rows(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_pairs = given.get("find_pairs")
    find_criteria = given.get("find_criteria")
    find_found = given.get("find_found")
    find_near = given.get("find_near")

    def find_near_rows(surfaces, pairs, criteria, slack, progress, found, near, counts):
        if not found or not near or backend().library is None:
            return reference(surfaces, pairs, criteria, slack, progress, found, near, counts)
        return call(find_surfaces(surfaces), find_pairs(pairs), find_criteria(criteria), slack, progress, row_of([*map(find_found, found)]), len(found), row_of([*map(find_near, near)]), len(near), counts)

    return find_near_rows


def find_posed_stress(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_lattice = given.get("find_lattice")
    find_corotations = given.get("find_corotations")
    find_poses = given.get("find_poses")

    def find_posed_stress(lattice, nodes, corotations, poses, modulus, moves):
        if not corotations or not poses or backend().library is None:
            return reference(lattice, nodes, corotations, poses, modulus, moves)
        result = result_for(lattice, nodes, corotations, poses, modulus, moves)
        call(find_lattice(lattice), ascontiguousarray(nodes), row_of([*map(find_corotations, corotations)]), len(corotations), row_of([*map(find_poses, poses)]), len(poses), modulus, ascontiguousarray(moves), *result, work_for(lattice, nodes, corotations, poses, modulus, moves))
        return result

    return find_posed_stress


def find_rows_of_near(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_near = given.get("find_near")
    find_criteria = given.get("find_criteria")
    find_found = given.get("find_found")

    def find_rows_of_near(surfaces, near, criteria, deviations, found, tests):
        if backend().library is None:
            return reference(surfaces, near, criteria, deviations, found, tests)
        return call(find_surfaces(surfaces), find_near(near), find_criteria(criteria), deviations, find_found(found), tests)

    return find_rows_of_near


def find_stress(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_lattice = given.get("find_lattice")
    find_corotations = given.get("find_corotations")

    def find_stress(lattice, nodes, corotations, modulus, moves):
        if not corotations or backend().library is None:
            return reference(lattice, nodes, corotations, modulus, moves)
        result = result_for(lattice, nodes, corotations, modulus, moves)
        call(find_lattice(lattice), ascontiguousarray(nodes), row_of([*map(find_corotations, corotations)]), len(corotations), modulus, ascontiguousarray(moves), *result, work_for(lattice, nodes, corotations, modulus, moves))
        return result

    return find_stress


def finish_responses(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")
    find_responses = given.get("find_responses")

    def finish_responses(poses, responses, positions, first):
        if backend().library is None:
            return reference(poses, responses, positions, first)
        return call(find_poses(poses), find_responses(responses), positions, positions.shape[-1], first)

    return finish_responses


def fit_all(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")

    def fit_all(surfaces, start, end, skins):
        if backend().library is None:
            return reference(surfaces, start, end, skins)
        return call(find_surfaces(surfaces), start, end, skins)

    return fit_all


def gas_pressure_forces(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_gas = given.get("find_gas")

    def gas_pressure_forces(positions, gas, inverse_masses, *, start, pressure, h_squared):
        if backend().library is None:
            return reference(positions, gas, inverse_masses, start=start, pressure=pressure, h_squared=h_squared)
        result = result_for(positions, gas, inverse_masses, start, pressure, h_squared)
        call(ascontiguousarray(positions), positions.shape[-1], find_gas(gas), ascontiguousarray(inverse_masses), ascontiguousarray(start), pressure, h_squared, result)
        return result

    return gas_pressure_forces


def gather_contacts(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_rows = given.get("find_rows")

    def gather_contacts(surfaces, rows, order, keys):
        if backend().library is None:
            return reference(surfaces, rows, order, keys)
        result = result_for(surfaces, rows, order, keys)
        call(find_surfaces(surfaces), find_rows(rows), ascontiguousarray(order), ascontiguousarray(keys), *result)
        return result

    return gather_contacts


def interpolate(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_embedding = given.get("find_embedding")

    def interpolate(embedding, nodes):
        if backend().library is None:
            return reference(embedding, nodes)
        result = result_for(embedding, nodes)
        call(find_embedding(embedding), ascontiguousarray(nodes), nodes.shape[-1], result)
        return result

    return interpolate


def keep_symmetric(given):
    reference = given.get("reference")
    call = given.get("call")
    find_reflections = given.get("find_reflections")

    def keep_symmetric(positions, reflections, planes):
        if not reflections or backend().library is None:
            return reference(positions, reflections, planes)
        return call(positions, positions.shape[-1], row_of([*map(find_reflections, reflections)]), len(reflections), planes)

    return keep_symmetric


def limit_strain(given):
    reference = given.get("reference")
    call = given.get("call")
    find_links = given.get("find_links")

    def limit_strain(positions, links, *, max_strain):
        if backend().library is None:
            return reference(positions, links, max_strain=max_strain)
        return bool(call(positions, find_links(links), max_strain))

    return limit_strain


def linearize_shell(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_system = given.get("find_system")

    def linearize_shell(system, positions):
        if backend().library is None:
            return reference(system, positions)
        result = result_for(system, positions)
        return result, call(find_system(system), ascontiguousarray(positions), result)

    return linearize_shell


def move_back(given):
    reference = given.get("reference")
    call = given.get("call")

    def move_back(body, positions, first, last):
        if backend().library is None:
            return reference(body, positions, first, last)
        return call(body, body.shape[-1], positions, positions.shape[-1], first, last)

    return move_back


def moved_rigidly(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def moved_rigidly(rows, parts, labels):
        if backend().library is None:
            return reference(rows, parts, labels)
        result = result_for(rows, parts, labels)
        call(ascontiguousarray(rows), rows.shape[-1], ascontiguousarray(parts), ascontiguousarray(labels) if labels is not None else None, result)
        return result

    return moved_rigidly


def multiply_shell(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_system = given.get("find_system")

    def multiply_shell(system, moves):
        if backend().library is None:
            return reference(system, moves)
        result = result_for(system, moves)
        call(find_system(system), ascontiguousarray(moves), result)
        return result

    return multiply_shell


def pair_deviations(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_near = given.get("find_near")

    def pair_deviations(surfaces, near, deviations):
        if backend().library is None:
            return reference(surfaces, near, deviations)
        result = result_for(surfaces, near, deviations)
        call(find_surfaces(surfaces), find_near(near), ascontiguousarray(deviations), result)
        return result

    return pair_deviations


def plate_forces(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_exposed_surface = given.get("find_exposed_surface")

    def plate_forces(exposed_surface, positions, rows):
        if backend().library is None:
            return reference(exposed_surface, positions, rows)
        result = result_for(exposed_surface, positions, rows)
        call(find_exposed_surface(exposed_surface), ascontiguousarray(positions), positions.shape[-1], ascontiguousarray(rows), result)
        return result

    return plate_forces


def pose_cells(given):
    reference = given.get("reference")
    call = given.get("call")
    find_lattice = given.get("find_lattice")
    find_poses = given.get("find_poses")
    find_muscles = given.get("find_muscles")

    def pose_cells(lattice, nodes, poses, muscles, keep_volume, muscle_length):
        if not poses or not muscles or backend().library is None:
            return reference(lattice, nodes, poses, muscles, keep_volume, muscle_length)
        return call(find_lattice(lattice), nodes, row_of([*map(find_poses, poses)]), len(poses), row_of([*map(find_muscles, muscles)]), len(muscles), keep_volume, muscle_length)

    return pose_cells


def pose_nodes(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_posing = given.get("find_posing")

    def pose_nodes(posing, skin):
        if backend().library is None:
            return reference(posing, skin)
        result = result_for(posing, skin)
        call(find_posing(posing), ascontiguousarray(skin), skin.shape[-1], result, work_for(posing, skin))
        return result

    return pose_nodes


def precondition_shell(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_factored = given.get("find_factored")

    def precondition_shell(factored, rotations, right):
        if backend().library is None:
            return reference(factored, rotations, right)
        result = result_for(factored, rotations, right)
        call(find_factored(factored), ascontiguousarray(rotations), ascontiguousarray(right), right.shape[-1], result)
        return result

    return precondition_shell


def predict_poses(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")

    def predict_poses(poses, start, positions, rounds):
        if backend().library is None:
            return reference(poses, start, positions, rounds)
        return call(find_poses(poses), start, start.shape[-1], positions, rounds)

    return predict_poses


def project_bend_paths(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_bend_paths(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_bend_paths


def project_clusters(given):
    reference = given.get("reference")
    call = given.get("call")
    find_clusters = given.get("find_clusters")

    def project_clusters(positions, clusters):
        if backend().library is None:
            return reference(positions, clusters)
        return call(positions, positions.shape[-1], find_clusters(clusters))

    return project_clusters


def project_joints(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")
    find_joints = given.get("find_joints")

    def project_joints(poses, joints, positions, most):
        if backend().library is None:
            return reference(poses, joints, positions, most)
        return call(find_poses(poses), find_joints(joints), positions, positions.shape[-1], most)

    return project_joints


def project_lengths(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")
    find_rigid = given.get("find_rigid")
    find_limits = given.get("find_limits")

    def project_lengths(positions, batches, rigid, limits, *, backwards, single_sweep):
        if backend().library is None:
            return reference(positions, batches, rigid, limits, backwards=backwards, single_sweep=single_sweep)
        return call(positions, positions.shape[-1], find_batches(batches), find_rigid(rigid) if rigid is not None else None, find_limits(limits) if limits is not None else None, backwards, single_sweep)

    return project_lengths


def project_levels(given):
    reference = given.get("reference")
    call = given.get("call")
    find_levels = given.get("find_levels")

    def project_levels(positions, levels):
        if not levels or backend().library is None:
            return reference(positions, levels)
        return call(positions, positions.shape[-1], row_of([*map(find_levels, levels)]), len(levels))

    return project_levels


def project_plane(given):
    reference = given.get("reference")
    call = given.get("call")
    find_contact = given.get("find_contact")

    def project_plane(positions, contact, inverse_masses):
        if backend().library is None:
            return reference(positions, contact, inverse_masses)
        return call(positions, positions.shape[-1], find_contact(contact), inverse_masses)

    return project_plane


def project_rods(given):
    reference = given.get("reference")
    call = given.get("call")
    find_rods = given.get("find_rods")

    def project_rods(positions, rest, rods):
        if backend().library is None:
            return reference(positions, rest, rods)
        return call(positions, positions.shape[-1], rest, find_rods(rods))

    return project_rods


def project_rope_bends(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_rope_bends(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_rope_bends


def project_rows(given):
    reference = given.get("reference")
    call = given.get("call")
    find_rows = given.get("find_rows")

    def project_rows(positions, rows):
        if backend().library is None:
            return reference(positions, rows)
        return call(positions, positions.shape[-1], find_rows(rows))

    return project_rows


def project_rows_of_pieces(given):
    reference = given.get("reference")
    call = given.get("call")
    find_rows = given.get("find_rows")
    find_responses = given.get("find_responses")

    def project_rows_of_pieces(positions, rows, responses):
        if backend().library is None:
            return reference(positions, rows, responses)
        return call(positions, positions.shape[-1], find_rows(rows), find_responses(responses))

    return project_rows_of_pieces


def project_seams(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_seams(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_seams


def project_stiff_bends(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_stiff_bends(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_stiff_bends


def project_strips(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_strips(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_strips


def project_surface_bends(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_surface_bends(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return project_surface_bends


def project_tethers(given):
    reference = given.get("reference")
    call = given.get("call")
    find_tethers = given.get("find_tethers")

    def project_tethers(positions, tethers):
        if backend().library is None:
            return reference(positions, tethers)
        return call(positions, positions.shape[-1], find_tethers(tethers))

    return project_tethers


def project_trees(given):
    reference = given.get("reference")
    call = given.get("call")
    find_trees = given.get("find_trees")

    def project_trees(positions, trees):
        if backend().library is None:
            return reference(positions, trees)
        return call(positions, positions.shape[-1], find_trees(trees))

    return project_trees


def project_weave(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def project_weave(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        return call(positions, row_of([*map(find_batches, batches)]), len(batches))

    return project_weave


def push_rows(given):
    reference = given.get("reference")
    call = given.get("call")
    find_rows = given.get("find_rows")

    def push_rows(positions, rows):
        if backend().library is None:
            return reference(positions, rows)
        return call(positions, positions.shape[-1], find_rows(rows))

    return push_rows


def put_on_goals(given):
    reference = given.get("reference")
    call = given.get("call")
    find_held = given.get("find_held")

    def put_on_goals(positions, held, goals):
        if backend().library is None:
            return reference(positions, held, goals)
        return call(positions, positions.shape[-1], find_held(held), goals)

    return put_on_goals


def rebound_plane(given):
    reference = given.get("reference")
    call = given.get("call")
    find_contact = given.get("find_contact")

    def rebound_plane(positions, previous_positions, contact):
        if backend().library is None:
            return reference(positions, previous_positions, contact)
        return call(positions, positions.shape[-1], previous_positions, find_contact(contact))

    return rebound_plane


def rebound_rows(given):
    reference = given.get("reference")
    call = given.get("call")
    find_rows = given.get("find_rows")

    def rebound_rows(previous_positions, positions, rows):
        if backend().library is None:
            return reference(previous_positions, positions, rows)
        return call(previous_positions, positions, positions.shape[-1], find_rows(rows))

    return rebound_rows


def refit_leaves(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_bvh = given.get("find_bvh")

    def refit_leaves(surfaces, bvh, first, last):
        if backend().library is None:
            return reference(surfaces, bvh, first, last)
        return call(find_surfaces(surfaces), find_bvh(bvh), first, last)

    return refit_leaves


def refit_nodes(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_bvh = given.get("find_bvh")

    def refit_nodes(surfaces, bvh):
        if backend().library is None:
            return reference(surfaces, bvh)
        return call(find_surfaces(surfaces), find_bvh(bvh))

    return refit_nodes


def remove_stretching(given):
    reference = given.get("reference")
    call = given.get("call")
    find_trees = given.get("find_trees")

    def remove_stretching(displacements, positions, trees):
        if backend().library is None:
            return reference(displacements, positions, trees)
        return call(displacements, positions, positions.shape[-1], find_trees(trees))

    return remove_stretching


def renew_paths(given):
    reference = given.get("reference")
    call = given.get("call")

    def renew_paths(starts, ends, start, end, tolerances, moved):
        if backend().library is None:
            return reference(starts, ends, start, end, tolerances, moved)
        return call(starts, starts.shape[-1], ends, start, end, tolerances, moved)

    return renew_paths


def row_heights(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def row_heights(positions, particles, weights, normals):
        if backend().library is None:
            return reference(positions, particles, weights, normals)
        result = result_for(positions, particles, weights, normals)
        call(ascontiguousarray(positions), positions.shape[-1], ascontiguousarray(particles), particles.shape[-1], ascontiguousarray(weights), ascontiguousarray(normals), result)
        return result

    return row_heights


def rub_strands(given):
    reference = given.get("reference")
    call = given.get("call")
    find_strands = given.get("find_strands")

    def rub_strands(previous_positions, positions, strands, dt, former_dt):
        if backend().library is None:
            return reference(previous_positions, positions, strands, dt, former_dt)
        return call(previous_positions, previous_positions.shape[-1], positions, find_strands(strands), dt, former_dt)

    return rub_strands


def set_up_rows(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_pairs = given.get("find_pairs")
    find_motion = given.get("find_motion")

    def set_up_rows(particles, weights, normals, gaps, owners, pairs, motion):
        if backend().library is None:
            return reference(particles, weights, normals, gaps, owners, pairs, motion)
        result = result_for(particles, weights, normals, gaps, owners, pairs, motion)
        call(ascontiguousarray(particles), particles.shape[-1], ascontiguousarray(weights), ascontiguousarray(normals), ascontiguousarray(gaps), ascontiguousarray(owners), find_pairs(pairs), find_motion(motion), *result)
        return result

    return set_up_rows


def solve_contacts(given):
    reference = given.get("reference")
    call = given.get("call")
    find_system = given.get("find_system")
    find_tolerance = given.get("find_tolerance")

    def solve_contacts(system, right, moves, tolerance):
        if backend().library is None:
            return reference(system, right, moves, tolerance)
        return call(find_system(system), right, moves, find_tolerance(tolerance))

    return solve_contacts


def solve_impulses(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    work_for = given.get("work_for")
    call = given.get("call")
    find_rows = given.get("find_rows")
    find_ropes = given.get("find_ropes")

    def solve_impulses(positions, rows, ropes, tolerance, violations, bounds, regularization, impulses):
        if not ropes or backend().library is None:
            return reference(positions, rows, ropes, tolerance, violations, bounds, regularization, impulses)
        result = result_for(positions, rows, ropes, tolerance, violations, bounds, regularization, impulses)
        call(ascontiguousarray(positions), positions.shape[-1], find_rows(rows), row_of([*map(find_ropes, ropes)]), len(ropes), tolerance, ascontiguousarray(violations), ascontiguousarray(bounds), ascontiguousarray(regularization), ascontiguousarray(impulses), *result, work_for(positions, rows, ropes, tolerance, violations, bounds, regularization, impulses))
        return result

    return solve_impulses


def solve_solids(given):
    reference = given.get("reference")
    call = given.get("call")
    find_problems = given.get("find_problems")

    def solve_solids(problems):
        if not problems or backend().library is None:
            return reference(problems)
        return call(row_of([*map(find_problems, problems)]), len(problems))

    return solve_solids


def spring_goals(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_held = given.get("find_held")

    def spring_goals(start, held, targets):
        if backend().library is None:
            return reference(start, held, targets)
        result = result_for(start, held, targets)
        call(ascontiguousarray(start), start.shape[-1], find_held(held), ascontiguousarray(targets), result)
        return result

    return spring_goals


def start_multipliers(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def start_multipliers(batches):
        if backend().library is None:
            return reference(batches)
        return call(find_batches(batches))

    return start_multipliers


def start_responses(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")
    find_responses = given.get("find_responses")

    def start_responses(poses, responses, start, first):
        if backend().library is None:
            return reference(poses, responses, start, first)
        return call(find_poses(poses), find_responses(responses), start, first)

    return start_responses


def strain_range(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def strain_range(positions, batches):
        if not batches or backend().library is None:
            return reference(positions, batches)
        result = result_for(positions, batches)
        call(ascontiguousarray(positions), positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches), result)
        return result

    return strain_range


def sum_weighted(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def sum_weighted(positions, particles, weights):
        if backend().library is None:
            return reference(positions, particles, weights)
        result = result_for(positions, particles, weights)
        call(ascontiguousarray(positions), positions.shape[-1], ascontiguousarray(particles), ascontiguousarray(weights), weights.shape[-1], result)
        return result

    return sum_weighted


def total_displacement(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def total_displacement(start, end, members):
        if backend().library is None:
            return reference(start, end, members)
        result = result_for(start, end, members)
        call(ascontiguousarray(start), start.shape[-1], ascontiguousarray(end), ascontiguousarray(members), members.shape[-1], result)
        return result

    return total_displacement


def transfer_contacts(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")

    def transfer_contacts(poses, positions):
        if backend().library is None:
            return reference(poses, positions)
        return bool(call(find_poses(poses), positions, positions.shape[-1]))

    return transfer_contacts


def transfer_momentum(given):
    reference = given.get("reference")
    call = given.get("call")
    find_poses = given.get("find_poses")

    def transfer_momentum(poses, positions, masses, rounds):
        if backend().library is None:
            return reference(poses, positions, masses, rounds)
        return call(find_poses(poses), positions, positions.shape[-1], masses, rounds)

    return transfer_momentum


def turbulence(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")

    def turbulence(points, size, *, _table, _slopes):
        if backend().library is None:
            return reference(points, size, _table=_table, _slopes=_slopes)
        result = result_for(points, size, _table, _slopes)
        call(ascontiguousarray(points), points.shape[-1], size, ascontiguousarray(_table), ascontiguousarray(_slopes), result)
        return result

    return turbulence


def undo_implicit_damping(given):
    reference = given.get("reference")
    call = given.get("call")
    find_batches = given.get("find_batches")

    def undo_implicit_damping(previous_positions, start, positions, batches):
        if not batches or backend().library is None:
            return reference(previous_positions, start, positions, batches)
        return call(previous_positions, start, positions, positions.shape[-1], row_of([*map(find_batches, batches)]), len(batches))

    return undo_implicit_damping


def update_all_paths(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")

    def update_all_paths(surfaces, start, end, skins):
        if backend().library is None:
            return reference(surfaces, start, end, skins)
        return call(find_surfaces(surfaces), start, end, skins)

    return update_all_paths


def update_diagonal_rests(given):
    reference = given.get("reference")
    call = given.get("call")
    find_diagonals = given.get("find_diagonals")

    def update_diagonal_rests(positions, diagonals):
        if backend().library is None:
            return reference(positions, diagonals)
        return call(positions, positions.shape[-1], find_diagonals(diagonals))

    return update_diagonal_rests


def update_paths(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")

    def update_paths(surfaces, owner, start, end, skins):
        if backend().library is None:
            return reference(surfaces, owner, start, end, skins)
        return call(find_surfaces(surfaces), owner, start, end, skins)

    return update_paths


def update_velocities(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_system = given.get("find_system")

    def update_velocities(system, start, moves):
        if backend().library is None:
            return reference(system, start, moves)
        result = result_for(system, start, moves)
        call(find_system(system), ascontiguousarray(start), ascontiguousarray(moves), *result)
        return result

    return update_velocities


def volumes_and_gradients(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_chambers = given.get("find_chambers")

    def volumes_and_gradients(positions, chambers):
        if backend().library is None:
            return reference(positions, chambers)
        result = result_for(positions, chambers)
        call(ascontiguousarray(positions), positions.shape[-1], find_chambers(chambers), *result)
        return result

    return volumes_and_gradients


def warm_start_tension(given):
    reference = given.get("reference")
    call = given.get("call")
    find_strip_system = given.get("find_strip_system")

    def warm_start_tension(positions, strip_system, *, kept_share, min_tautness, rounds):
        if backend().library is None:
            return reference(positions, strip_system, kept_share=kept_share, min_tautness=min_tautness, rounds=rounds)
        return call(positions, find_strip_system(strip_system), kept_share, min_tautness, rounds)

    return warm_start_tension


def wave_laplacian(given):
    reference = given.get("reference")
    result_for = given.get("result_for")
    call = given.get("call")
    find_water = given.get("find_water")

    def wave_laplacian(water, heights):
        if backend().library is None:
            return reference(water, heights)
        result = result_for(water, heights)
        call(find_water(water), ascontiguousarray(heights), heights.shape[-1], result)
        return result

    return wave_laplacian


def widen_leaves(given):
    reference = given.get("reference")
    call = given.get("call")
    find_surfaces = given.get("find_surfaces")
    find_bvh = given.get("find_bvh")

    def widen_leaves(surfaces, bvh, moved):
        if backend().library is None:
            return reference(surfaces, bvh, moved)
        return call(find_surfaces(surfaces), find_bvh(bvh), moved)

    return widen_leaves
