/* A solid that touches nothing but the ground, moved through many steps: what step.py does with it,
   in the same order. See wobbling.py. */
#include "../solid/touching.h"

/* Those of solid/. */
void find_stress(const solid_lattice *lattice, const real *nodes, const solid_shapes *shapes,
                 real modulus, const real *moves, real *forces, real *opposed, four *work);
void interpolate(const solid_embedding *embedding, const real *nodes, integer m, real *found);
void press_solid(const solid_system *all, const real *right, real *moves, real tolerance,
                 real enough, real least, integer fewest);
void land_solid(const solid_system *all, const real *start, real *moves, real *nodes,
                real *previous);
void settle_solid(const solid_system *all, const real *nodes, real *points);

/* The solid, ready for steps of one length; see System, Solid and solid/motion.py. */
typedef struct {
    const solid_system *system;
    real modulus, velocity_gain, h_squared, implicit, passed; /* see step_shares */
    real residual, quick, least, rests, still;
    integer patience, fewest;
    integer pins;          /* the first of those that the system holds */
    const integer *pinned; /* (pins,) */
    real *start, *inertia, *pulls, *forces, *opposed; /* (3, m) to work in */
    four *work;                                       /* (2, m) */
} wobbly;

/* What steps change. */
typedef struct {
    real *nodes, *previous_nodes, *moves; /* (3, m) */
    real *free;                           /* (3, m) as it was in the last step */
    real *points, *previous_points;       /* (3, p) */
    integer *slow, *calm, *lying; /* see SolidState; numbers */
} moving;

/* What acts on it from one frame to the next. */
typedef struct {
    integer steps;
    const real *gravity;
    const real *targets_start, *targets_end; /* (3, g) of what is held */
    integer at_rest;                         /* whether these are the same */
} surroundings;

/* Σ m (a − b)² of nodes, b left out where it is NULL. */
SMALL static real moved_by(const solid_system *all, const real *a, const real *b)
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

/* Σ m (a − ā)² of nodes, ā being their mean. */
SMALL static real moved_within(const solid_system *all, const real *a)
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

/* How far apart the largest and the smallest along an axis are, at most. */
SMALL static real spread(const real *moves, integer m)
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

/* Moves nodes by inertia and gravity, and tells of each target where it is at step `number`. */
static void set_out(const wobbly *body, moving *state, const surroundings *given, integer number)
{
    const solid_system *all = body->system;
    integer m = all->nodes, g = all->holds;
    copy(body->start, state->nodes, 3 * m);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = axis * m; i < (axis + 1) * m; i++) {
            body->inertia[i] = (state->nodes[i] - state->previous_nodes[i]) * body->velocity_gain;
            state->free[i] = body->inertia[i] + given->gravity[axis] * body->h_squared;
            all->places[i] = state->nodes[i] + state->free[i];
        }
    interpolate(all->embedding, all->places, m, all->arrival);
    copy(state->previous_points, state->points, 3 * all->stops->points);
    copy(all->stops->start, state->points, 3 * all->stops->points);
    for (integer i = 0; i < 3 * g; i++)
        all->targets[i] = on_the_way(given->targets_start[i], given->targets_end[i], number,
                                     given->steps);
}

/* Whether a solid that nothing strains goes on without turning, and touches nothing there. */
SMALL static int falls_freely(const wobbly *body, const moving *state)
{
    const solid_system *all = body->system;
    const solid_stops *stops = all->stops;
    integer m = all->nodes, p = stops->points;
    real largest = 0.0;
    if (!*state->calm || all->holds)
        return 0;
    for (integer i = 0; i < 3 * m; i++)
        largest = larger(largest, state->free[i] < 0.0 ? -state->free[i] : state->free[i]);
    if (spread(state->free, m) > body->least * largest
        || spread(body->inertia, m) > body->least * largest)
        return 0;
    for (integer i = 0; i < p; i++) {
        real height = 0.0;
        for (int axis = 0; axis < 3; axis++)
            height += stops->normals[axis * p + i] * all->arrival[axis * p + i];
        if (height < stops->levels[i])
            return 0;
    }
    return 1;
}

/* Leads nodes where inertia and gravity do. */
SMALL static void fall(const wobbly *body, moving *state)
{
    const solid_system *all = body->system;
    const solid_stops *stops = all->stops;
    integer m = all->nodes;
    copy(state->nodes, all->places, 3 * m);
    copy(state->previous_nodes, body->start, 3 * m);
    copy(state->points, all->arrival, 3 * stops->points);
    for (integer i = 0; i < 3 * m; i++)
        state->moves[i] = 0.0;
    for (integer i = 0; i < 3 * stops->points; i++)
        stops->anchors[i] = __builtin_nan("");
}

/* Finds what stress pulls nodes with on their free way, times h². */
static void find_pulls(const wobbly *body, moving *state, real far)
{
    const solid_system *all = body->system;
    integer m = all->nodes;
    real total = 0.0, h_squared = body->h_squared;
    for (integer i = 0; i < 3 * m; i++)
        body->pulls[i] = body->implicit * state->free[i] + body->passed * body->inertia[i];
    find_stress(all->parts->lattice, body->start, all->parts->shapes, body->modulus, body->pulls, body->forces,
                body->opposed, body->work);
    for (int axis = 0; axis < 3; axis++)
        for (integer n = 0, i = axis * m; n < m; n++, i++) {
            body->pulls[i] = h_squared * body->forces[i] - body->opposed[i];
            total += body->pulls[i] * body->pulls[i] * all->inverse_masses[n];
        }
    *state->calm = total <= body->least * body->least * far;
}

/* Solves for stress and contact. */
SMALL static void solve(const wobbly *body, moving *state, real far)
{
    const solid_system *all = body->system;
    for (integer i = 0; i < all->stops->points; i++)
        all->stops->grips[i] = -1.0;
    find_pulls(body, state, far);
    press_solid(all, body->pulls, state->moves, body->residual,
                body->quick * body->quick * moved_within(all, body->inertia),
                body->least * body->least * far,
                *state->slow >= body->patience ? 0 : body->fewest);
    land_solid(all, body->start, state->moves, state->nodes, state->previous_nodes);
    settle_solid(all, state->nodes, state->points);
}

/* Leaves nodes where they are, without speed. */
SMALL static void stay(const wobbly *body, moving *state)
{
    integer count = 3 * body->system->nodes;
    copy(state->nodes, body->start, count);
    copy(state->previous_nodes, body->start, count);
    for (integer i = 0; i < count; i++)
        state->moves[i] = -state->free[i];
}

/* Whether a step moved nothing to speak of; what only turns back has been quicker before. */
SMALL static int rests(const wobbly *body, const moving *state, real far)
{
    const solid_system *all = body->system;
    real most = body->rests * body->rests * far;
    return *state->slow && moved_by(all, body->inertia, NULL) <= most
           && moved_by(all, state->nodes, body->start) <= most
           && moved_by(all, state->nodes, state->previous_nodes) <= most;
}

SMALL static void take_step(const wobbly *body, moving *state, const surroundings *given, integer number)
{
    const solid_system *all = body->system;
    integer m = all->nodes;
    set_out(body, state, given, number);
    real far = moved_by(all, state->free, NULL);
    int slow = moved_by(all, body->inertia, NULL) < body->still * body->still * far;
    *state->slow = slow ? *state->slow + 1 : 0;
    *state->lying = 0;
    if (*state->slow >= body->patience)
        for (integer i = 0; i < 3 * m; i++)
            state->moves[i] = -state->free[i];
    if (falls_freely(body, state)) {
        fall(body, state);
        return;
    }
    solve(body, state, far);
    *state->lying = rests(body, state, far);
    if (*state->lying)
        stay(body, state);
}

/* Moves a solid on by some steps; one that lay without speed when a step began, and does when it
   ends, would not move in those to come. */
EXPORT SMALL void wobble(const wobbly *body, moving *state, const surroundings *given)
{
    const solid_system *all = body->system;
    integer p = all->stops->points, lay = 0;
    for (integer number = 1; number <= given->steps; number++) {
        if (lay && *state->lying && given->at_rest) {
            copy(state->previous_points, state->points, 3 * p);
            return;
        }
        lay = *state->lying && moved_by(all, state->nodes, state->previous_nodes) == 0.0;
        take_step(body, state, given, number);
        for (int axis = 0; axis < 3; axis++)
            for (integer i = 0; i < body->pins; i++)
                state->points[axis * p + body->pinned[i]] = all->targets[axis * all->holds + i];
    }
}
