/* Fused steps of a solid without contacts except the ground: the operations of step.py in the same
   order. See fused_solid_step.py. */
#include "../solid/contact_solver.h"

/* Σ m (a − b)² over nodes; b is 0 if NULL. */
SMALL static real motion_square(const solid_system *all, const real *a, const real *b)
{
    integer m = all->nodes;
    real total = 0.0;
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < m; i++) {
            real way = a[axis * m + i] - (b ? b[axis * m + i] : 0.0);
            total += all->masses[i] * way * way;
        }
    return total;
}

/* Σ m (a − ā)² over nodes, with the mean ā weighted by mass. */
SMALL static real relative_motion_square(const solid_system *all, const real *a)
{
    integer m = all->nodes;
    real total = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        real mass = 0.0, sum = 0.0;
        for (integer i = 0; i < m; i++) {
            mass += all->masses[i];
            sum += all->masses[i] * a[axis * m + i];
        }
        for (integer i = 0; i < m; i++) {
            real way = a[axis * m + i] - sum / mass;
            total += all->masses[i] * way * way;
        }
    }
    return total;
}

/* Largest extent of vectors (3, m) along any axis. */
SMALL static real extent(const real *moves, integer m)
{
    real widest = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        real low = moves[axis * m], high = low;
        for (integer i = 0; i < m; i++) {
            low = smaller(low, moves[axis * m + i]);
            high = larger(high, moves[axis * m + i]);
        }
        widest = larger(widest, high - low);
    }
    return widest;
}

/* Predictor: moves nodes by inertia and gravity, and interpolates targets at step `number`. */
static void predict(const solid_model *body, const solid_frame *state, integer number)
{
    const solid_system *all = body->system;
    integer m = all->nodes, g = all->pin_springs->count;
    copy(body->start, state->nodes, 3 * m);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = axis * m; i < (axis + 1) * m; i++) {
            body->inertia[i] = (state->nodes[i] - state->previous_nodes[i]) * body->velocity_gain;
            state->free[i] = body->inertia[i] + state->gravity[axis] * body->h_squared;
            all->predicted_nodes[i] = state->nodes[i] + state->free[i];
        }
    interpolate(all->embedding, all->predicted_nodes, m, all->predicted);
    copy(state->previous_points, state->points, 3 * all->contacts->points);
    copy(all->contacts->start, state->points, 3 * all->contacts->points);
    for (integer i = 0; i < 3 * g; i++)
        all->pin_springs->targets[i] = at_step(state->targets_start[i], state->targets_end[i], number,
                                     state->steps);
}

/* Whether an unstressed solid without springs translates freely, and does not reach the ground. */
SMALL static int falls_freely(const solid_model *body, const solid_frame *state)
{
    const solid_system *all = body->system;
    const point_contacts *contacts = all->contacts;
    integer m = all->nodes, p = contacts->points;
    real largest = 0.0;
    if (!*state->unstressed || all->pin_springs->count)
        return 0;
    for (integer i = 0; i < 3 * m; i++)
        largest = larger(largest, state->free[i] < 0.0 ? -state->free[i] : state->free[i]);
    if (extent(state->free, m) > NEGLIGIBLE_MOVE * largest
        || extent(body->inertia, m) > NEGLIGIBLE_MOVE * largest)
        return 0;
    for (integer i = 0; i < p; i++) {
        real height = 0.0;
        for (int axis = 0; axis < 3; axis++)
            height += contacts->normals[axis * p + i] * all->predicted[axis * p + i];
        if (height < contacts->levels[i])
            return 0;
    }
    return 1;
}

/* Takes the predicted positions of nodes and points as the result of the step. */
SMALL static void fall(const solid_model *body, const solid_frame *state)
{
    const solid_system *all = body->system;
    const point_contacts *contacts = all->contacts;
    integer m = all->nodes;
    copy(state->nodes, all->predicted_nodes, 3 * m);
    copy(state->previous_nodes, body->start, 3 * m);
    copy(state->points, all->predicted, 3 * contacts->points);
    for (integer i = 0; i < 3 * m; i++)
        state->moves[i] = 0.0;
    for (integer i = 0; i < 3 * contacts->points; i++)
        contacts->anchors[i] = __builtin_nan("");
}

/* Computes forces of stress on nodes in free motion, times h². */
static void find_stress_forces(const solid_model *body, const solid_frame *state, real free_motion)
{
    const solid_system *all = body->system;
    integer m = all->nodes;
    real total = 0.0, h_squared = body->h_squared;
    for (integer i = 0; i < 3 * m; i++)
        body->stress_forces[i] = body->implicit * state->free[i] + body->passed * body->inertia[i];
    find_stress(all->parts[0]->lattice, body->start, all->parts[0]->corotations, body->modulus, body->stress_forces, body->forces,
                body->opposed, body->work);
    for (int axis = 0; axis < 3; axis++)
        for (integer n = 0, i = axis * m; n < m; n++, i++) {
            body->stress_forces[i] = h_squared * body->forces[i] - body->opposed[i];
            total += body->stress_forces[i] * body->stress_forces[i] * all->inverse_masses[n];
        }
    *state->unstressed = total <= NEGLIGIBLE_MOVE * NEGLIGIBLE_MOVE * free_motion;
}

/* Solves elasticity, springs and contacts, and updates velocities. */
SMALL static void solve(const solid_model *body, const solid_frame *state, real free_motion)
{
    const solid_system *all = body->system;
    for (integer i = 0; i < all->contacts->points; i++)
        all->contacts->friction_stiffnesses[i] = -1.0;
    find_stress_forces(body, state, free_motion);
    real relative = relative_motion_square(all, body->inertia);
    const solver_tolerance tolerance = {
        .relative = body->residual,
        .absolute = body->relative_change * body->relative_change * relative,
        .negligible = NEGLIGIBLE_MOVE * NEGLIGIBLE_MOVE * free_motion,
        .min_rounds = *state->slow_steps >= SLOW_STEPS ? 0 : MIN_CG_ROUNDS,
    };
    solve_contacts(all, body->stress_forces, state->moves, &tolerance);
    update_velocities(all, body->start, state->moves, state->nodes, state->previous_nodes);
    for (integer i = 0; i < 3 * all->nodes; i++)
        state->moves[i] = state->nodes[i] - all->predicted_nodes[i];
    clamp_points(all, state->nodes, state->points);
}

/* Resets nodes to the start of the step, without velocity. */
SMALL static void keep_at_rest(const solid_model *body, const solid_frame *state)
{
    integer count = 3 * body->system->nodes;
    copy(state->nodes, body->start, count);
    copy(state->previous_nodes, body->start, count);
    for (integer i = 0; i < count; i++)
        state->moves[i] = -state->free[i];
}

/* Whether motion in the step, and velocity before and after, are negligible, and the step before
   was slow, which excludes turning points of a vibration. */
SMALL static int is_at_rest(const solid_model *body, const solid_frame *state, real free_motion)
{
    const solid_system *all = body->system;
    real most = REST_SHARE * REST_SHARE * free_motion;
    return *state->slow_steps && motion_square(all, body->inertia, NULL) <= most
           && motion_square(all, state->nodes, body->start) <= most
           && motion_square(all, state->nodes, state->previous_nodes) <= most;
}

SMALL static void take_step(const solid_model *body, const solid_frame *state, integer number)
{
    const solid_system *all = body->system;
    integer m = all->nodes;
    predict(body, state, number);
    real free_motion = motion_square(all, state->free, NULL);
    int slow = motion_square(all, body->inertia, NULL) < SLOW_SHARE * SLOW_SHARE * free_motion;
    *state->slow_steps = slow ? *state->slow_steps + 1 : 0;
    *state->is_at_rest = 0;
    if (*state->slow_steps >= SLOW_STEPS)
        for (integer i = 0; i < 3 * m; i++)
            state->moves[i] = -state->free[i];
    if (falls_freely(body, state)) {
        fall(body, state);
        return;
    }
    solve(body, state, free_motion);
    *state->is_at_rest = is_at_rest(body, state, free_motion);
    if (*state->is_at_rest)
        keep_at_rest(body, state);
}

/* Takes all steps of a frame. A solid at rest without velocity at the start and at the end of a step
   stays so with constant inputs: further steps are skipped. */
EXPORT SMALL void step_solid(const solid_model *body, const solid_frame *state)
{
    const solid_system *all = body->system;
    integer p = all->contacts->points, was_at_rest = 0;
    for (integer number = 1; number <= state->steps; number++) {
        if (was_at_rest && *state->is_at_rest && state->targets_at_rest) {
            copy(state->previous_points, state->points, 3 * p);
            return;
        }
        was_at_rest = *state->is_at_rest && motion_square(all, state->nodes, state->previous_nodes) == 0.0;
        take_step(body, state, number);
        for (int axis = 0; axis < 3; axis++)
            for (integer i = 0; i < body->pins; i++)
                state->points[axis * p + body->pinned[i]] = all->pin_springs->targets[axis * all->pin_springs->count + i];
    }
}
