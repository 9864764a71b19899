/* Solution for stress, pins and contacts as one system: the same as active_set_solver.py. */
#include "../linear/conjugate_gradients.h"
#include "../linear/inverses.h"
#include "../team/team.h"
#include "cells.h"

/* A piece: mass, centre of mass, stiffness of its six rigid modes (later inverted), load and motion
   in these modes. */
typedef struct solid_piece {
    real mass, centre[3], stiffness[36];
    four loads[2], motion[2];
} solid_piece;

_Static_assert(sizeof(solid_piece) == PIECE * sizeof(real), "linear_system.py");

/* Displacements by the six rigid modes at an arm from the centre of mass. */
static void six_motions(const real arm[3], real motions[3][6])
{
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 6; k++)
            motions[a][k] = a == k ? 1.0 : 0.0;
    motions[0][4] = arm[2], motions[0][5] = -arm[1];
    motions[1][3] = -arm[2], motions[1][5] = arm[0];
    motions[2][3] = arm[1], motions[2][4] = -arm[0];
}

/* Arm of node i from the centre of mass of its piece, for nodes at places (3, m). */
static void find_arm(const solid_piece *piece, const real *places, integer m, integer i,
                            real arm[3])
{
    for (int a = 0; a < 3; a++)
        arm[a] = places[a * m + i] - piece->centre[a];
}

/* Adds a spring with a stiffness (3, 3) at a place to the stiffness of the modes. */
static void add_stiffness(solid_piece *piece, const real place[3], const real stiffness[9])
{
    real arm[3], motions[3][6];
    find_arm(piece, place, 1, 0, arm);
    six_motions(arm, motions);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 6; k++) {
            real pull = 0.0;
            for (int b = 0; b < 3; b++)
                pull += stiffness[3 * a + b] * motions[b][k];
            for (int l = 0; l < 6; l++)
                piece->stiffness[6 * l + k] += motions[a][l] * pull;
        }
}

/* Masses and centres of mass of pieces, for m nodes at places (3, m). */
SMALL static void find_piece_centres(solid_piece *pieces, integer count, const integer *labels,
                               const real *masses, const real *places, integer m)
{
    for (integer k = 0; k < count; k++) {
        pieces[k].mass = 0.0;
        for (int a = 0; a < 3; a++)
            pieces[k].centre[a] = 0.0;
    }
    for (integer i = 0; i < m; i++)
        if (labels[i] >= 0) {
            pieces[labels[i]].mass += masses[i];
            for (int a = 0; a < 3; a++)
                pieces[labels[i]].centre[a] += masses[i] * places[a * m + i];
        }
    for (integer k = 0; k < count; k++)
        for (int a = 0; a < 3; a++)
            pieces[k].centre[a] /= pieces[k].mass;
}

/* Sets the stiffness of the modes to the masses of nodes. */
static void add_masses(solid_piece *pieces, integer count, const integer *labels,
                                const real *masses, const real *places, integer m)
{
    for (integer k = 0; k < count; k++)
        for (int i = 0; i < 36; i++)
            pieces[k].stiffness[i] = 0.0;
    for (integer i = 0; i < m; i++)
        if (labels[i] >= 0) {
            solid_piece *piece = pieces + labels[i];
            real arm[3], mass = masses[i];
            find_arm(piece, places, m, i, arm);
            real square = dot(arm, arm);
            for (int a = 0; a < 3; a++) {
                piece->stiffness[7 * a] += mass;
                piece->stiffness[7 * (a + 3)] += mass * square;
                for (int b = 0; b < 3; b++)
                    piece->stiffness[6 * (a + 3) + b + 3] -= mass * arm[a] * arm[b];
            }
        }
}

/* motion = inverse stiffness × loads for each piece; returns the sum of motion × loads. */
SMALL static real solve_rigid_modes(solid_piece *pieces, integer count)
{
    real total = 0.0;
    for (integer k = 0; k < count; k++) {
        pieces[k].motion[0] = pieces[k].motion[1] = broadcast(0.0);
        for (int i = 0; i < 6; i++) {
            real found = 0.0;
            for (int j = 0; j < 6; j++)
                found += pieces[k].stiffness[6 * i + j] * pieces[k].loads[j / 3][j % 3];
            pieces[k].motion[i / 3][i % 3] = found;
            total += found * pieces[k].loads[i / 3][i % 3];
        }
    }
    return total;
}

/* Displacement of a node at an arm by its piece's motion. */
ALWAYS_INLINE four rigid_motion(const solid_piece *piece, four arm)
{
    return piece->motion[0] + cross_four(piece->motion[1], arm);
}

static real along_normal(const point_contacts *contacts, integer i, const real vector[3])
{
    real normal[3];
    read(contacts->normals, contacts->points, i, normal);
    return dot(normal, vector);
}

/* Writes the tangential offset of a place from the friction anchor of point i; returns its length. */
static real tangential_offset(const point_contacts *contacts, integer i, const real place[3], real slid[3])
{
    real normal[3], anchor[3];
    read(contacts->normals, contacts->points, i, normal);
    read(contacts->anchors, contacts->points, i, anchor);
    subtract(place, anchor, slid);
    remove_along(normal, slid);
    return __builtin_sqrt(dot(slid, slid));
}

static void scatter_to_nodes(const solid_embedding *embedding, integer i, four pull, four *rows)
{
    const integer width = embedding->width, *corners = embedding->nodes + width * i;
    const real *weights = embedding->weights + width * i;
    for (integer c = 0; c < width; c++)
        rows[corners[c]] += broadcast(weights[c]) * pull;
}

/* 1 if the active set after moves has converged; otherwise updates it, and returns 0. normal_forces serve
   as workspace for friction stiffnesses. */
static int update_active_set(const solid_system *all)
{
    const point_contacts *contacts = all->contacts;
    integer p = contacts->points;
    real changes = 0.0, total = 0.0;
    for (integer i = 0; i < p; i++) {
        four moved = interpolate_four(all->embedding, i, all->moves);
        real place[3], slid[3], former = contacts->friction_stiffnesses[i], stiffness = -1.0;
        for (int a = 0; a < 3; a++)
            place[a] = all->predicted[a * p + i] + moved[a];
        real depth = contacts->levels[i] - along_normal(contacts, i, place);
        real push = contacts->stiffnesses[i] * (depth > 0.0 ? depth : -depth), change = 0.0;
        if (depth > 0.0) {
            for (int a = 0; a < 3; a++) {
                real *anchor = contacts->anchors + a * p + i;
                *anchor = *anchor == *anchor ? *anchor : contacts->start[a * p + i];
            }
            real length = tangential_offset(contacts, i, place, slid);
            stiffness = smaller(contacts->stiffnesses[i], contacts->frictions[i] * push / larger(length, NONZERO));
            change = (stiffness > former ? stiffness - former : former - stiffness) * length;
            total += push;
        }
        if ((stiffness >= 0.0) != (former >= 0.0))
            change = push;
        changes += change;
        contacts->normal_forces[i] = stiffness;
    }
    if (changes <= ACTIVE_SET_TOLERANCE * total)
        return 1;
    for (integer i = 0; i < p; i++)
        contacts->friction_stiffnesses[i] = contacts->normal_forces[i];
    return 0;
}

/* Stiffness of the contact spring of point i × moved. */
ALWAYS_INLINE four contact_resistance(const point_contacts *contacts, integer i, four moved)
{
    integer p = contacts->points;
    four normal = {contacts->normals[i], contacts->normals[p + i], contacts->normals[2 * p + i], 0.0};
    real more = (contacts->stiffnesses[i] - contacts->friction_stiffnesses[i]) * sum(normal * moved);
    return broadcast(contacts->friction_stiffnesses[i]) * moved + broadcast(more) * normal;
}

/* Force of the contact spring of point i at its predicted place. */
SMALL static four contact_force(const solid_system *all, integer i)
{
    const point_contacts *contacts = all->contacts;
    four pull = broadcast(0.0);
    real place[3], slid[3];
    for (int a = 0; a < 3; a++)
        place[a] = all->predicted[a * contacts->points + i];
    tangential_offset(contacts, i, place, slid);
    real push = contacts->stiffnesses[i] * (contacts->levels[i] - along_normal(contacts, i, place));
    for (int a = 0; a < 3; a++)
        pull[a] = push * contacts->normals[a * contacts->points + i] - contacts->friction_stiffnesses[i] * slid[a];
    return pull;
}

/* Force of pin k at the predicted place of its point. */
SMALL static four pin_force(const solid_system *all, integer k)
{
    integer i = all->pin_springs->points[k], p = all->embedding->points;
    four pull = broadcast(0.0);
    for (int a = 0; a < 3; a++)
        pull[a] = all->pin_springs->stiffnesses[k] * (all->pin_springs->targets[a * all->pin_springs->count + k] - all->predicted[a * p + i]);
    return pull;
}

/* Adds the forces of pins and active contacts at predicted points to the rows (m,) of nodes. */
SMALL static void add_forces(const solid_system *all, four *rows)
{
    for (integer k = 0; k < all->pin_springs->count; k++)
        scatter_to_nodes(all->embedding, all->pin_springs->points[k], pin_force(all, k), rows);
    for (integer i = 0; i < all->contacts->points; i++)
        if (all->contacts->friction_stiffnesses[i] >= 0.0)
            scatter_to_nodes(all->embedding, i, contact_force(all, i), rows);
}

/* Writes normal forces after the moves. */
SMALL static void store_normal_forces(const solid_system *all)
{
    const point_contacts *contacts = all->contacts;
    for (integer i = 0; i < contacts->points; i++) {
        contacts->normal_forces[i] = 0.0;
        if (contacts->friction_stiffnesses[i] < 0.0)
            continue;
        four pull = contact_force(all, i) - contact_resistance(contacts, i, interpolate_four(all->embedding, i, all->moves));
        const real pulls[3] = {pull[0], pull[1], pull[2]};
        contacts->normal_forces[i] = along_normal(contacts, i, pulls);
    }
}

typedef struct {
    const solid_system *all;
    const four *moves;
    four *found;
} product_loop;

/* Multiplies masses and stiffness of one solid of the system. */
static void multiply_part(const void *loop, integer number, real *scratch)
{
    const product_loop *of = loop;
    const solid_part *part = of->all->parts[number];
    integer first = 0, count = part->lattice->nodes;
    for (integer before = 0; before < number; before++)
        first += of->all->parts[before]->lattice->nodes;
    const four *moves = of->moves + first;
    four *found = of->found + first;
    (void)scratch;
    multiply_stiffness(part->lattice, part->corotations, NULL, NULL, moves, found);
    for (integer i = 0; i < count; i++)
        found[i] = broadcast(of->all->masses[first + i]) * moves[i] + broadcast(part->stiffness) * found[i];
}

/* product = system × vector. */
static real multiply_system(const void *of, const real *vector, real *product)
{
    const solid_system *all = of;
    const four *moves = (const four *)vector;
    four *found = (four *)product, total = broadcast(0.0);
    product_loop loop = {all, moves, found};
    share(all->parts_count, multiply_part, &loop, 0, NULL);
    for (integer k = 0; k < all->pin_springs->count; k++) {
        four moved = interpolate_four(all->embedding, all->pin_springs->points[k], moves);
        scatter_to_nodes(all->embedding, all->pin_springs->points[k], broadcast(all->pin_springs->stiffnesses[k]) * moved, found);
    }
    for (integer i = 0; i < all->contacts->points; i++)
        if (all->contacts->friction_stiffnesses[i] >= 0.0) {
            four moved = interpolate_four(all->embedding, i, moves);
            scatter_to_nodes(all->embedding, i, contact_resistance(all->contacts, i, moved), found);
        }
    for (integer i = 0; i < all->nodes; i++)
        total += moves[i] * found[i];
    return sum(total);
}

/* Adds a spring at a point to the diagonal blocks of its nodes. */
static void add_block(const solid_system *all, integer point, const real stiffness[9])
{
    const integer width = all->embedding->width;
    for (integer c = width * point; c < width * (point + 1); c++) {
        real weight = all->embedding->weights[c];
        four *block = all->blocks + 3 * all->embedding->nodes[c];
        for (int i = 0; i < 3; i++)
            block[i] += broadcast(weight * weight) * load_three(stiffness + 3 * i);
    }
}

/* Inverts a symmetric block. */
static void invert(four block[3])
{
    four cofactors[3];
    for (int a = 0; a < 3; a++)
        cofactors[a] = cross_four(block[(a + 1) % 3], block[(a + 2) % 3]);
    four size = broadcast(sum(block[0] * cofactors[0]));
    for (int a = 0; a < 3; a++)
        block[a] = cofactors[a] / size;
}

/* Adds a spring at a point to the rigid modes of its piece, or of both pieces that it connects. */
SMALL static void add_to_rigid_modes(const solid_system *all, integer point, const real stiffness[9])
{
    const integer end = all->embedding->width * (point + 1);
    for (integer c = all->embedding->width * point; c < end;) {
        integer label = all->components[all->embedding->nodes[c]];
        real share = 0.0, place[3] = {0.0, 0.0, 0.0};
        for (; c < end && all->components[all->embedding->nodes[c]] == label; c++) {
            share += all->embedding->weights[c];
            for (int a = 0; a < 3; a++)
                place[a] += all->embedding->weights[c]
                            * all->predicted_nodes[a * all->nodes + all->embedding->nodes[c]];
        }
        for (int a = 0; a < 3; a++)
            place[a] = share < 0.0 ? -place[a] : place[a];
        if (label >= 0 && (share > 0.5 || share < -0.5))
            add_stiffness(all->rigid_pieces + label, place, stiffness);
    }
}

/* Writes the inverses of diagonal blocks, and those of the rigid modes' stiffness. */
static void assemble_preconditioner(const solid_system *all)
{
    const point_contacts *contacts = all->contacts;
    real stiffness[9];
    add_masses(all->rigid_pieces, all->pieces, all->components, all->masses, all->predicted_nodes,
                 all->nodes);
    for (integer i = 0; i < all->nodes; i++)
        for (int a = 0; a < 3; a++) {
            all->blocks[3 * i + a] = broadcast(0.0);
            all->blocks[3 * i + a][a] = all->diagonal[i];
        }
    for (integer k = 0; k < all->pin_springs->count; k++) {
        for (int i = 0; i < 9; i++)
            stiffness[i] = i % 4 ? 0.0 : all->pin_springs->stiffnesses[k];
        add_block(all, all->pin_springs->points[k], stiffness);
    }
    for (integer point = 0; point < contacts->points; point++)
        if (contacts->friction_stiffnesses[point] >= 0.0) {
            real more = contacts->stiffnesses[point] - contacts->friction_stiffnesses[point];
            for (int i = 0; i < 9; i++)
                stiffness[i] = (i % 4 ? 0.0 : contacts->friction_stiffnesses[point])
                               + more * contacts->normals[i / 3 * contacts->points + point]
                                     * contacts->normals[i % 3 * contacts->points + point];
            add_block(all, point, stiffness);
            add_to_rigid_modes(all, point, stiffness);
        }
    for (integer i = 0; i < all->nodes; i++)
        invert(all->blocks + 3 * i);
    for (integer k = 0; k < all->pieces; k++)
        invert_positive(all->rigid_pieces[k].stiffness, 6);
}

/* Displacement of node i by the last coarse correction. */
ALWAYS_INLINE four rigid_correction(const solid_system *all, integer i)
{
    integer label = all->components[i];
    return label >= 0 ? rigid_motion(all->rigid_pieces + label, all->arms[i]) : broadcast(0.0);
}

/* product = inverse blocks × vector, and the coarse correction. */
static real precondition(const void *of, const real *vector, real *product)
{
    const solid_system *all = of;
    const four *pulls = (const four *)vector;
    four *found = (four *)product, total = broadcast(0.0);
    for (integer k = 0; k < all->pieces; k++)
        all->rigid_pieces[k].loads[0] = all->rigid_pieces[k].loads[1] = broadcast(0.0);
    for (integer i = 0; i < all->nodes;) {
        integer label = all->components[i];
        four pull = broadcast(0.0), spin = broadcast(0.0);
        for (; i < all->nodes && all->components[i] == label; i++) {
            const four *block = all->blocks + 3 * i, rest = pulls[i];
            found[i] = block[0] * broadcast(rest[0]) + block[1] * broadcast(rest[1])
                       + block[2] * broadcast(rest[2]);
            total += rest * found[i];
            pull += rest;
            spin += cross_four(all->arms[i], rest);
        }
        if (label >= 0) {
            all->rigid_pieces[label].loads[0] += pull;
            all->rigid_pieces[label].loads[1] += spin;
        }
    }
    real coarse = solve_rigid_modes(all->rigid_pieces, all->pieces);
    for (integer i = 0; i < all->nodes; i++)
        found[i] += rigid_correction(all, i);
    return sum(total) + coarse;
}

/* Preconditioned conjugate gradients for the moves, from their present values. */
static void solve_moves(const solid_system *all, const solver_tolerance *tolerance)
{
    integer m = all->nodes;
    real *moves = (real *)all->moves, *residual = (real *)all->residual, *image = (real *)all->along;
    conjugate_gradients state = {all, multiply_system, precondition, 4 * m, moves, residual,
                                 (real *)all->search, image, (real *)all->ahead, 0.0};
    assemble_preconditioner(all);
    copy(residual, (const real *)all->forces, 4 * m);
    real given = begin_conjugate_gradients(&state), relative = tolerance->relative;
    multiply_system(all, moves, image);
    add_scaled(residual, image, 4 * m, -1.0);
    begin_conjugate_gradients(&state);
    real small = larger(relative * relative * given, larger(tolerance->absolute, tolerance->negligible));
    iterate_conjugate_gradients(&state, tolerance->min_rounds, tolerance->negligible);
    iterate_conjugate_gradients(&state, MAX_SOLID_CG_ROUNDS - tolerance->min_rounds, small);
    for (integer i = 0; i < m; i++)
        all->moves[i] += rigid_correction(all, i);
}

/* Writes moves (3, m), anchors, friction stiffnesses and normal forces; after find_stress. */
EXPORT void solve_contacts(const solid_system *all, real *right, real *moves,
                           const solver_tolerance *tolerance)
{
    integer m = all->nodes;
    find_piece_centres(all->rigid_pieces, all->pieces, all->components, all->masses, all->predicted_nodes, m);
    for (integer i = 0; i < m; i++) {
        const real *centre = all->components[i] < 0 ? NULL : all->rigid_pieces[all->components[i]].centre;
        for (int a = 0; a < 3; a++)
            all->arms[i][a] = centre ? all->predicted_nodes[a * m + i] - centre[a] : 0.0;
        all->arms[i][3] = 0.0;
    }
    load_rows(moves, m, all->moves);
    for (int number = 0; number < MAX_ACTIVE_SET_CHANGES; number++) {
        int steady = update_active_set(all);
        if (number && steady)
            break;
        load_rows(right, m, all->forces);
        add_forces(all, all->forces);
        solve_moves(all, tolerance);
    }
    store_normal_forces(all);
    store_rows(all->moves, m, moves);
}

/* Writes points (3, p), projected out of contact planes, and updates friction anchors. */
EXPORT void clamp_points(const solid_system *all, const real *moves, real *points)
{
    const point_contacts *contacts = all->contacts;
    integer p = contacts->points;
    const real none = __builtin_nan("");
    for (integer i = 0; i < p; i++) {
        real place[3], slid[3];
        interpolate_point(all->embedding, i, moves, all->nodes, place);
        for (int a = 0; a < 3; a++)
            place[a] += all->predicted[a * p + i];
        real depth = contacts->levels[i] - along_normal(contacts, i, place);
        real length = larger(tangential_offset(contacts, i, place, slid), NONZERO);
        real released = larger(0.0, 1.0 - contacts->frictions[i] * depth / length);
        for (int a = 0; a < 3; a++) {
            real *anchor = contacts->anchors + a * p + i;
            *anchor = depth > 0.0 ? *anchor + slid[a] * released : none;
            points[a * p + i] = place[a];
            if (depth > 0.0)
                points[a * p + i] += contacts->normals[a * p + i] * depth;
        }
    }
}
