/* Steps of plain bodies: the operations of step.py in the same order, with the same bits. See
   plain_bodies.py. */
#include "../forces/forces.h"
#include "../stretch/strips.h"
#include "../team/team.h"
#include "lengths.h"

typedef struct {
    const plain_state *state;
    const frame_inputs *inputs;
    integer number;
} free_motion;

/* Adds the effect of a field at the start of a step of all steps. */
static void add_moving_field(const field_path *of, const plain_state *state, integer done,
                             integer steps)
{
    real origin[3], axis[3];
    const plain_model *body = state->body;
    field now;
    find_field(of, done, steps, origin, axis, &now);
    add_effect(&now, of->share, state->positions, body->n, body->velocities, body->blown);
}

/* Finds the accelerations by gravity and by fields. */
static void feel_fields(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    integer n = body->n;
    real gravity[3], *effect = body->blown;
    for (int axis = 0; axis < 3; axis++)
        gravity[axis] = inputs->gravity[axis] * state->heaviness;
    for (integer at = 0; at < 3 * n; at++)
        body->velocities[at] = (state->positions[at] - state->previous_positions[at]) / body->dt;
    clear(effect, 8 * n);
    for (integer i = 0; i < state->fields_count; i++)
        add_moving_field(state->fields[i], state, number - 1, inputs->steps);
    limit_slip(effect, n);
    accelerate(body->exposed_surface, body->own_inverse_masses, state->positions, n, body->velocities,
               gravity, body->dt, effect, effect + 8 * n, body->accelerations);
}

/* Moves particles by inertia, and by gravity and the pull of poses, or as fields do. */
static void move_freely(const void *loop, integer part, real *scratch)
{
    const free_motion *of = loop;
    const plain_state *state = of->state;
    const plain_model *body = state->body;
    integer n = body->n, first = part * PARTICLE_PART, last = end_of(part, PARTICLE_PART, n);
    real *x = state->positions, *moved = body->predicted;
    (void)scratch;
    const target_curve *pull = state->pull;
    for (int axis = 0; axis < 3; axis++)
        for (integer i = axis * n + first; i < axis * n + last; i++) {
            integer at = 3 * (i - axis * n) + axis;
            if (!state->in_field && !state->fields_count)
                body->accelerations[i] = of->inputs->gravity[axis] * state->heaviness;
            if (!state->in_field && pull)
                body->accelerations[i]
                    += at_step(pull->start[at], pull->end[at], of->number, of->inputs->steps);
            moved[i] = (x[i] - state->previous_positions[i]) * body->velocity_gain
                       + body->accelerations[i] * body->h_squared + x[i];
            state->previous_positions[i] = body->start[i] = x[i];
        }
}

/* Moves particles by what inertia leaves out of the motion of their reference frame in a step. */
static void move_with_reference(const reference_motion *motion, real *x, integer n, integer number)
{
    if (motion)
        moved_rigidly(x, n, motion->steps + 15 * motion->parts * (number - 1),
                      motion->labels, x);
}

/* Draws vertices to the goals of springs at a step of all steps. */
static void draw_to_goals(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const held_vertices *held = state->held;
    integer n = state->body->n;
    if (!held)
        return;
    for (integer at = 0; at < 3 * held->count; at++) {
        real here = state->spring_ends[at], there = state->spring_ends[3 * held->count + at];
        state->spring_goals[at] = here + (there - here) * ((real)number / (real)inputs->steps);
    }
    spring_goals(state->body->start, n, held, state->spring_goals, state->spring_goals);
    draw_held_vertices(state->body->predicted, n, held, state->spring_goals);
}

/* Puts vertices of infinite stiffness where springs draw them. */
static void put_on_targets(const plain_state *state)
{
    if (state->held)
        put_on_goals(state->positions, state->body->n, state->held, state->spring_goals);
}

/* Writes the targets of all vertices at a step of all steps: `TargetCurve.at`. */
static void find_targets(const target_curve *curve, integer n, integer step, integer steps, real *found)
{
    real share = (real)step / (real)steps, left = 1.0 - share;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer at = 3 * i + axis;
            real line = at_step(curve->start[at], curve->end[at], step, steps);
            real bend = left * curve->first[at] - share * curve->last[at];
            found[axis * n + i] = step == steps ? line : line + share * left * bend;
        }
}

/* Predictor: moves particles by inertia, gravity and rope springs, and pins to their targets. */
static void predict(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    integer n = body->n;
    real *x = state->positions, *moved = body->predicted;
    free_motion loop = {state, inputs, number};
    if (body->strands)
        rub_strands(state->previous_positions, n, x, body->strands, body->dt, body->former_dt);
    if (state->fields_count)
        feel_fields(state, inputs, number);
    share(parts_of(n, PARTICLE_PART), move_freely, &loop, 0, NULL);
    for (integer i = 0; inputs->shift && i < 3 * n; i++)
        body->grounded[i] = body->start[i] + inputs->shift[i / n];
    move_with_reference(state->motion, moved, n, number);
    draw_to_goals(state, inputs, number);
    const ropes *ropes = body->lengths->ropes;
    if (ropes->strips_count)
        add_start_spring_forces(moved, body->start, n, ropes->strips, ropes->strips_count);
    copy(x, moved, 3 * n);
    const goal_radii *limits = state->limits;
    for (integer i = 0; limits && i < 3 * limits->count; i++) {
        const real *centre = state->limit_ends + i;
        limits->goals[i] = at_step(centre[0], centre[3 * limits->count], number, inputs->steps);
    }
    if (state->curve)
        find_targets(state->curve, n, number, inputs->steps, body->targets);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0, at = axis * body->pins; i < body->pins; i++, at++) {
            integer pin = axis * n + body->pinned[i];
            moved[pin] = x[pin] = state->curve ? body->targets[pin]
                : at_step(state->pin_ends[at], state->pin_ends[3 * body->pins + at], number, inputs->steps);
        }
    if (state->rigid) {
        predict_poses(state->rigid, body->start, n, x, NEWTON_ROUNDS);
        copy(moved, x, 3 * n);
    }
}

/* Puts particles on rigid pieces, which get the momentum of their displacements. */
static void put_on_pieces(const plain_state *state)
{
    const piece_poses *rigid = state->rigid;
    if (rigid)
        transfer_momentum(rigid, state->positions, state->body->n, (real *)rigid->pieces->masses,
                          NEWTON_ROUNDS);
}

/* Restores the momentum of components without pins to that of `before`. */
static void keep_momentum(real *after, const plain_model *body, const real *about)
{
    if (body->free)
        conserve_momentum(body->components, body->n, body->inverse_masses, body->before, after, about,
                          after, body->whole);
}

/* Projects all bends once; those of ropes in reverse order if `backwards`. */
static void project_bends(real *x, integer n, const bends *of, int backwards)
{
    for (integer i = 0; i < of->ropes_count; i++)
        project_rope_bends(x, n, of->ropes + (backwards ? of->ropes_count - 1 - i : i), 1);
    project_stiff_bends(x, n, of->stiff, of->stiff_count);
    project_bend_paths(x, n, of->paths, of->paths_count);
    project_surface_bends(x, n, of->soft, of->soft_count);
}

/* Projects shear once, then the coarse levels. */
static void project_shear(real *x, integer n, const surface *of,
                          int backwards)
{
    update_diagonal_rests(x, n, of->diagonals);
    for (integer i = 0; i < of->shear_count; i++)
        project_strips(x, n, of->shear + (backwards ? of->shear_count - 1 - i : i), 1);
    project_levels(x, n, of->levels, of->levels_count);
}

/* Draws soft pins towards their goals at a step of all steps. */
static void project_soft_pins(const plain_state *state, const frame_inputs *inputs, integer number)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0, at = axis * state->goals; i < state->goals; i++, at++) {
            real *x = state->positions + axis * state->body->n + state->soft[i];
            real goal = at_step(state->goal_ends[at], state->goal_ends[3 * state->goals + at], number,
                                inputs->steps);
            *x += (goal - *x) * state->goal_shares[i];
        }
}

/* Sets the forces of the gas on its walls in a step of all steps. */
static void inflate(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    const real *ends = state->pressures;
    real pressure = ends[0] + (ends[1] - ends[0]) * ((real)number / (real)inputs->steps);
    if (state->gas)
        gas_pressure_forces(state->positions, body->n, state->gas, body->inverse_masses, body->start,
                            pressure, body->h_squared, body->lengths->surface->strip_system->gas_forces);
}

/* Weave balances the gas, and has a warm start of its own. */
static void warm_start_weave(const strip_system *edges, real *x, integer n)
{
    clear(edges->multipliers, edges->entries - 1);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++) {
            x[axis * n + i] += edges->gas_forces[axis * n + i] / edges->masses[i];
            edges->gas_forces[axis * n + i] = 0.0;
        }
}

/* Starts lengths from what held them in the step before. */
static void warm_start(const plain_state *state)
{
    const body_lengths *lengths = state->body->lengths;
    const strip_system *edges = lengths->surface->strip_system;
    const ropes *ropes = lengths->ropes;
    const gas *gas = state->gas;
    real *x = state->positions;
    if (gas && !lengths->weave_count)
        drop_tension_jumps(edges->multipliers, edges->entries - 1, state->former_tension);
    if (lengths->weave_count)
        warm_start_weave(edges, x, state->body->n);
    else if (edges->entries)
        warm_start_tension(x, edges, gas ? 1.0 : SURFACE_WARM_START, MIN_TAUTNESS,
                           gas ? GAS_SEARCH_DIRECTIONS : SEARCH_DIRECTIONS);
    if (ropes->strips_count)
        warm_start_tension(x, ropes->strip_system, 1.0, 0.0, ropes->search_directions);
}

/* Lengthens ropes whose pins are too far apart: lengthen_spans of rope_lengthening.py, without
   junctions between pins. */
static void lengthen_ropes(const real *x, integer n, const ropes *of)
{
    const pin_spans *spans = of->spans;
    copy(of->lengthened, of->rests, of->links);
    for (integer i = 0; i < spans->count; i++) {
        real one[3], other[3], across[3];
        read(x, n, spans->nodes[spans->ends[i]], one);
        read(x, n, spans->nodes[spans->ends[spans->count + i]], other);
        subtract(other, one, across);
        real apart = __builtin_sqrt(dot(across, across)) * (1.0 + ROPE_PIN_SLACK);
        real share = larger(apart / of->span_lengths[i], 1.0);
        for (integer k = spans->starts[i]; k < spans->starts[i] + spans->counts[i]; k++)
            of->lengthened[spans->links[k]] *= share;
    }
}

/* Projects all internal constraints in step `number`. */
static void project_constraints(const plain_state *state, const frame_inputs *inputs, integer number,
                                int backwards)
{
    const plain_model *body = state->body;
    real *x = state->positions;
    integer n = body->n;
    start_multipliers(body->multipliers);
    copy(body->before, x, 3 * n);
    lengthen_ropes(x, n, body->lengths->ropes);
    inflate(state, inputs, number);
    warm_start(state);
    project_soft_pins(state, inputs, number);
    project_bends(x, n, body->bends, backwards);
    if (body->rods)
        project_rods(x, n, state->curve ? body->targets : (real *)body->rest, body->rods);
    project_shear(x, n, body->lengths->surface, backwards);
    state->sweeps[0] += project_lengths(x, n, body->lengths, state->rigid, state->limits, backwards, 0);
    keep_momentum(x, body, body->start);
    put_on_targets(state);
    put_on_pieces(state);
}

/* The contact with the ground in step `number`. */
static plane_contact ground_contact(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    real *normal = inputs->normals + 3 * (number - 1);
    return (plane_contact){
        .normal = normal,
        .level = inputs->levels[number - 1],
        .climb = inputs->shift ? dot(normal, inputs->shift) : 0.0,
        .start = inputs->shift ? body->grounded : body->start,
        .floors = body->floors,
        .former_floors = body->floors,
        .friction = state->friction,
        .restitution = state->restitution,
        .normal_corrections = body->normal_corrections,
        .friction_corrections = body->friction_corrections,
        .predicted = body->predicted,
        .accelerations = body->accelerations,
        .dt = body->dt,
        .drift = body->drift,
        .bend = body->bend,
    };
}

/* Projects the contact with the ground, in turn with rigid pieces. */
static void push_off_ground(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    integer n = body->n;
    clear(body->normal_corrections, n);
    clear(body->friction_corrections, 3 * n);
    for (integer round = 0; round < (state->rigid ? CONTACT_ROUNDS : 1); round++) {
        project_goal_radii(state->positions, n, state->limits);
        if (inputs->grounds) {
            plane_contact contact = ground_contact(state, inputs, number);
            project_plane(state->positions, n, &contact, (real *)body->inverse_masses);
        }
        if (!state->rigid || !transfer_contacts(state->rigid, state->positions, n))
            return;
        project_edges_of_pieces(state->rigid, state->positions, n);
    }
}

/* Velocity update: undoes the numerical damping of ropes, conserving momentum, and bounces ground
   contacts. */
static void finish(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    integer n = body->n;
    const tree *trees = body->lengths->ropes->trees;
    put_on_targets(state);
    if (trees->generations_count) {
        copy(body->before, state->previous_positions, 3 * n);
        for (integer i = 0; i < trees->generations_count; i++)
            undo_implicit_damping(state->previous_positions, body->start, state->positions, n,
                                  &trees->generations[i]->batch, 1);
        keep_momentum(state->previous_positions, body, state->positions);
    }
    if (inputs->grounds) {
        plane_contact contact = ground_contact(state, inputs, number);
        rebound_plane(state->positions, n, state->previous_positions, &contact);
    }
}

/* Makes positions symmetric to the mirrors where they are after `number` of all steps. */
static void keep_mirrored(const plain_state *state, const frame_inputs *inputs, integer number, real *x)
{
    integer count = 6 * state->mirror_count;
    for (integer i = 0; i < count; i++) {
        real here = state->mirrors[i], there = state->mirrors[count + i];
        state->planes[i] = here + (there - here) * ((real)number / (real)inputs->steps);
    }
    keep_symmetric(x, state->body->n, state->reflections, state->reflections_count, state->planes);
}

/* Puts particles where they must be, whatever acted last, and shifts velocities. */
static void end(const plain_state *state, const frame_inputs *inputs, integer number)
{
    integer n = state->body->n;
    put_on_pieces(state);
    if (state->flow)
        apply_plastic_flow(state->positions, n, state->flow);
    project_goal_radii(state->positions, n, state->limits);
    move_with_reference(state->motion, state->previous_positions, n, number);
    if (state->reflections_count) {
        keep_mirrored(state, inputs, number - 1, state->previous_positions);
        keep_mirrored(state, inputs, number, state->positions);
    }
}

/* Extends a box, lowest then highest corner, to contain particles. */
static void widen(real *box, const real *positions, integer n)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++) {
            real at = positions[axis * n + i];
            box[axis] = smaller(at, box[axis]);
            box[3 + axis] = larger(at, box[3 + axis]);
        }
}

/* Takes all steps of a body; the box (2, 3) bounds its positions at their ends. */
static void take_steps(const plain_state *state, const frame_inputs *inputs, real *box)
{
    const plain_model *body = state->body;
    integer n = body->n;
    for (int axis = 0; axis < 3; axis++)
        box[axis] = box[3 + axis] = state->positions[axis * n];
    widen(box, state->positions, n);
    for (integer number = 1; number <= inputs->steps; number++) {
        predict(state, inputs, number);
        project_constraints(state, inputs, number, (state->taken + number - 1) % 2);
        push_off_ground(state, inputs, number);
        finish(state, inputs, number);
        end(state, inputs, number);
        widen(box, state->positions, n);
    }
}

typedef struct {
    const plain_state *const *all;
    const frame_inputs *inputs;
    integer number;
    const uint8_t *resting;
    real *boxes;
} plain_bodies;

static void move_one(const void *loop, integer i, real *scratch)
{
    const plain_bodies *of = loop;
    (void)scratch;
    take_steps(of->all[i], of->inputs, of->boxes + 6 * i);
}

static void predict_one(const void *loop, integer i, real *scratch)
{
    const plain_bodies *of = loop;
    (void)scratch;
    predict(of->all[i], of->inputs, of->number);
}

static void project_one(const void *loop, integer i, real *scratch)
{
    const plain_bodies *of = loop;
    const plain_state *state = of->all[i];
    (void)scratch;
    int backwards = (state->taken + of->number - 1) % 2 && !of->resting[i];
    project_constraints(state, of->inputs, of->number, backwards);
    push_off_ground(state, of->inputs, of->number);
}

static void finish_one(const void *loop, integer i, real *scratch)
{
    const plain_bodies *of = loop;
    (void)scratch;
    finish(of->all[i], of->inputs, of->number);
}

static void end_one(const void *loop, integer i, real *scratch)
{
    const plain_bodies *of = loop;
    (void)scratch;
    end(of->all[i], of->inputs, of->number);
}

/* Takes all steps of each body, and writes their boxes (count, 2, 3). */
EXPORT void move_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                       real *boxes)
{
    share_elements(count, move_one, &(plain_bodies){all, inputs, 0, NULL, boxes});
}

/* Runs the predictor of all bodies for step `number`. */
EXPORT void predict_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                          integer number)
{
    share_elements(count, predict_one, &(plain_bodies){all, inputs, number, NULL, NULL});
}

/* Projects internal constraints and ground contacts of all bodies in step `number`; resting bodies
   (count,) sweep forwards in every step. */
EXPORT void project_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                        integer number, uint8_t *resting)
{
    share_elements(count, project_one, &(plain_bodies){all, inputs, number, resting, NULL});
}

/* Runs the velocity update of all bodies. */
EXPORT void finish_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                         integer number)
{
    share_elements(count, finish_one, &(plain_bodies){all, inputs, number, NULL, NULL});
}

/* Ends step `number` of all bodies. */
EXPORT void end_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                      integer number)
{
    share_elements(count, end_one, &(plain_bodies){all, inputs, number, NULL, NULL});
}
