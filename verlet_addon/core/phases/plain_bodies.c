/* Steps of plain bodies, with lengths, bends, pins, gravity and ground only: the operations of
   step.py in the same order, with the same bits. See plain_bodies.py. */
#include "../stretch/strips.h"

struct clusters;
struct coarse_level;
struct face_diagonals;
struct restarted_multipliers;
struct strip_links;
struct strip_system;
struct tree;

/* Functions of state.c, stretch/, bending/, ropes/, momentum/ and contact/. */
void start_multipliers(const struct restarted_multipliers *all);
void warm_start_tension(real *positions, const struct strip_system *strip_system, real kept, real min_tautness,
                            integer rounds);
void update_diagonal_rests(const real *positions, integer n, const struct face_diagonals *of, real smallest);
real project_strips(real *positions, integer n, const strip_batch *const *batches, integer count);
void project_levels(real *positions, integer n, const struct coarse_level *const *levels,
                    integer count);
void project_tethers(real *positions, integer n, integer t, const integer *particles,
                     const integer *pins, const real *lengths);
void project_clusters(real *positions, integer n, const struct clusters *all);
integer limit_strain(real *positions, const struct strip_links *links, real tolerance, real most,
                      real over_relaxation, integer rounds);
void add_start_spring_forces(real *moved, const real *positions, integer n, const strip_batch *batch);
void project_trees(real *positions, integer n, const struct tree *all);
void strain_range(const real *positions, integer n, const strip_batch *const *batches,
                  integer count, real *range);
void undo_implicit_damping(real *previous, const real *start, const real *positions, integer n,
                           const strip_batch *batch, real resolved_vibration);
void project_plane(real *positions, integer n, const real *inverse_masses, const real *normal,
                   real level, const real *start, const real *floors, real friction, real *normal_corrections,
                   real *friction_corrections);
void rebound_plane(real *positions, real *previous_positions, integer n, const real *normal_corrections,
                   const real *normal, real level, const real *start, const real *floors,
                   real restitution, const real *predicted, const real *accelerations, real dt,
                   real drift, real bend, real climb);

/* Constants of stretch/sweep.py, stretch/numpy_kernels.py, phases/inflation.py and
   ropes/sweep.py. */
typedef struct {
    real surface_warm_start, min_tautness, min_face_scale;
    integer search_directions, max_sweeps, max_stalled_sweeps;
    real min_sweep_progress, max_strain, over_relaxation;
    integer strain_limiting_rounds, max_rope_rounds;
    real rope_strain_tolerance, resolved_vibration;
} limits;

/* Length constraints of a surface. */
typedef struct {
    const struct strip_system *strip_system;
    const struct face_diagonals *diagonals; /* or NULL */
    integer shears;
    const strip_batch *const *shear; /* (shears,) */
    integer levels;
    const struct coarse_level *const *level; /* (levels,) */
    integer tether_count;
    const integer *particles, *pins; /* (tether_count,) of tethers, with lengths below */
    const real *lengths;
    const strip_order *edges;
    const struct clusters *clusters; /* or NULL */
    const struct strip_links *links;
    real tolerance;
} surface;

/* Batches of bend constraints, with the number of each kind. */
typedef struct {
    integer ropes, stiffs, strips, loops, softs;
    const struct stencil_batch *const *rope;
    const struct stiff_bend_batch *const *stiff;
    const struct bend_strip_batch *const *strip;
    const struct face_loop_batch *const *loop;
    const struct stencil_batch *const *soft;
} bends;

/* Length constraints of ropes. */
typedef struct {
    const struct strip_system *strip_system;
    integer search_directions; /* of the tension warm start */
    const struct tree *trees;
    integer generations;
    const strip_batch *const *strips; /* (generations,) of the trees */
} ropes;

/* Constants of a body for steps of one length; see Batches and SoftBodyModel. */
typedef struct {
    integer n, pins;
    const integer *pinned;      /* (pins,) */
    const real *inverse_masses; /* (n,) */
    const limits *limits;
    const struct restarted_multipliers *multipliers;
    const surface *surface; /* or NULL */
    const bends *bends;
    const ropes *ropes; /* or NULL */
    integer free;              /* number of components without pins */
    const integer *components; /* (n,) labels of those components; -1 = pinned */
    const real *floors;        /* (n,) smallest distances from the ground */
    real velocity_gain, h_squared, dt, drift, bend;
    real *start, *predicted, *accelerations, *friction_corrections; /* (3, n) scratch, as below */
    real *normal_corrections, *before, *whole;                  /* (n,), (3, n), (16 free,) */
} plain_model;

/* State of a body between two frames. */
typedef struct {
    const plain_model *body;
    real *x, *previous;                /* (3, n) */
    const real *pins_start, *pins_end; /* (3, pins) */
    real heaviness;             /* factor on gravity */
    real friction, restitution; /* on the ground */
    integer taken;              /* number of steps before this frame */
} plain_state;

/* Inputs of a frame: number of steps, gravity, and the ground; its normal is NULL without one. */
typedef struct {
    integer steps;
    const real *gravity;
    const real *normal;
    real level;
} frame_inputs;

/* Predictor: moves particles by inertia, gravity and rope springs, and pins to their targets. */
static void predict(const plain_state *state, const frame_inputs *inputs, integer number)
{
    const plain_model *body = state->body;
    integer n = body->n;
    real *x = state->x, *moved = body->predicted;
    for (integer i = 0; i < 3 * n; i++) {
        body->accelerations[i] = inputs->gravity[i / n] * state->heaviness;
        moved[i] = (x[i] - state->previous[i]) * body->velocity_gain
                   + body->accelerations[i] * body->h_squared + x[i];
    }
    for (integer i = 0; body->ropes && i < body->ropes->generations; i++)
        add_start_spring_forces(moved, x, n, body->ropes->strips[i]);
    copy(state->previous, x, 3 * n);
    copy(body->start, x, 3 * n);
    copy(x, moved, 3 * n);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0, at = axis * body->pins; i < body->pins; i++, at++)
            x[axis * n + body->pinned[i]] =
                at_step(state->pins_start[at], state->pins_end[at], number, inputs->steps);
    copy(body->predicted, x, 3 * n);
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
    for (integer i = 0; i < of->ropes; i++)
        project_rope_bends(x, n, of->rope + (backwards ? of->ropes - 1 - i : i), 1);
    project_stiff_bends(x, n, of->stiff, of->stiffs);
    project_bend_strips(x, n, of->strip, of->strips);
    project_face_loops(x, n, of->loop, of->loops);
    project_surface_bends(x, n, of->soft, of->softs);
}

/* Projects shear once, then the coarse levels. */
static void project_shear(real *x, integer n, const surface *of, const limits *limits,
                          int backwards)
{
    if (of->diagonals)
        update_diagonal_rests(x, n, of->diagonals, limits->min_face_scale);
    for (integer i = 0; i < of->shears; i++)
        project_strips(x, n, of->shear + (backwards ? of->shears - 1 - i : i), 1);
    project_levels(x, n, of->level, of->levels);
}

/* Sweeps over edges and tethers until no strain exceeds the tolerance, or sweeps stall. */
static void project_stretch(real *x, integer n, const surface *of, const limits *limits,
                            int backwards)
{
    real least = __builtin_inf();
    sort_by_tension(of->edges);
    if (backwards)
        reverse_order(of->edges);
    for (integer sweep = 0, stalled = 0; sweep < limits->max_sweeps; sweep++) {
        if (sweep)
            project_levels(x, n, of->level, of->levels);
        if (sweep == 1 && backwards)
            reverse_order(of->edges);
        project_tethers(x, n, of->tether_count, of->particles, of->pins, of->lengths);
        real largest = project_strips(x, n, of->edges->order, of->edges->count);
        if (of->clusters)
            project_clusters(x, n, of->clusters);
        if (largest < of->tolerance)
            return;
        stalled = largest < limits->min_sweep_progress * least ? 0 : stalled + 1;
        least = stalled ? least : largest;
        if (sweep
            && (!limit_strain(x, of->links, of->tolerance, limits->max_strain,
                               limits->over_relaxation, limits->strain_limiting_rounds)
                || (stalled >= limits->max_stalled_sweeps && !of->levels)))
            return;
    }
}

/* Projects lengths of ropes until they converge. */
static void project_ropes(real *x, integer n, const ropes *of, const limits *limits)
{
    for (integer round = 0; round < limits->max_rope_rounds; round++) {
        real range[2] = {0.0, 0.0};
        project_trees(x, n, of->trees);
        strain_range(x, n, of->strips, of->generations, range);
        if (larger(-range[0], range[1]) < limits->rope_strain_tolerance)
            return;
    }
}

/* Projects all internal constraints. */
static void project_constraints(real *x, const plain_model *body, int backwards)
{
    integer n = body->n;
    const limits *limits = body->limits;
    start_multipliers(body->multipliers);
    copy(body->before, x, 3 * n);
    if (body->surface)
        warm_start_tension(x, body->surface->strip_system, limits->surface_warm_start, limits->min_tautness,
                               limits->search_directions);
    if (body->ropes)
        warm_start_tension(x, body->ropes->strip_system, 1.0, 0.0, body->ropes->search_directions);
    project_bends(x, n, body->bends, backwards);
    if (body->surface) {
        project_shear(x, n, body->surface, limits, backwards);
        project_stretch(x, n, body->surface, limits, backwards);
    }
    if (body->ropes)
        project_ropes(x, n, body->ropes, limits);
    keep_momentum(x, body, body->start);
}

/* Projects the contact with the ground. */
static void push_off_ground(const plain_state *state, const frame_inputs *inputs)
{
    const plain_model *body = state->body;
    integer n = body->n;
    for (integer i = 0; i < n; i++)
        body->normal_corrections[i] = body->friction_corrections[i] = body->friction_corrections[n + i] = body->friction_corrections[2 * n + i] = 0.0;
    if (inputs->normal)
        project_plane(state->x, n, body->inverse_masses, inputs->normal, inputs->level, body->start,
                      body->floors, state->friction, body->normal_corrections, body->friction_corrections);
}

/* Velocity update: undoes the numerical damping of ropes, conserving momentum, and bounces ground
   contacts. */
static void finish(const plain_state *state, const frame_inputs *inputs)
{
    const plain_model *body = state->body;
    integer n = body->n;
    if (body->ropes) {
        copy(body->before, state->previous, 3 * n);
        for (integer i = 0; i < body->ropes->generations; i++)
            undo_implicit_damping(state->previous, body->start, state->x, n, body->ropes->strips[i],
                                  body->limits->resolved_vibration);
        keep_momentum(state->previous, body, state->x);
    }
    if (inputs->normal)
        rebound_plane(state->x, state->previous, n, body->normal_corrections, inputs->normal, inputs->level,
                      body->start, body->floors, state->restitution, body->predicted,
                      body->accelerations, body->dt, body->drift, body->bend, 0.0);
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
        box[axis] = box[3 + axis] = state->x[axis * n];
    widen(box, state->x, n);
    for (integer number = 1; number <= inputs->steps; number++) {
        predict(state, inputs, number);
        project_constraints(state->x, body, (state->taken + number - 1) % 2);
        push_off_ground(state, inputs);
        finish(state, inputs);
        widen(box, state->x, n);
    }
}

/* Takes all steps of each body, and writes their boxes (count, 2, 3). */
EXPORT void move_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                       real *boxes)
{
    for (integer i = 0; i < count; i++)
        take_steps(all[i], inputs, boxes + 6 * i);
}

/* Runs the predictor of all bodies for step `number`. */
EXPORT void predict_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                          integer number)
{
    for (integer i = 0; i < count; i++)
        predict(all[i], inputs, number);
}

/* Projects internal constraints and ground contacts of all bodies in step `number`; resting bodies
   (count,) sweep forwards in every step. */
EXPORT void project_plain(const plain_state *const *all, integer count, const frame_inputs *inputs,
                        integer number, const uint8_t *resting)
{
    for (integer i = 0; i < count; i++) {
        project_constraints(all[i]->x, all[i]->body, (all[i]->taken + number - 1) % 2 && !resting[i]);
        push_off_ground(all[i], inputs);
    }
}

/* Runs the velocity update of all bodies. */
EXPORT void finish_plain(const plain_state *const *all, integer count, const frame_inputs *inputs)
{
    for (integer i = 0; i < count; i++)
        finish(all[i], inputs);
}
