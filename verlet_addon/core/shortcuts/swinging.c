/* A rope that touches nothing but the ground, moved through many steps: what step.py does with it,
   in the same order, so that not a bit differs. See swinging.py. */
#include "../stretch/strips.h"

struct tree;
struct fresh_multipliers;
struct strip_net;
struct stencil_batch;
struct stiff_batch;

/* Those of state.c, ropes/, stretch/, bending/, momentum/ and contact/. */
void start_multipliers(const struct fresh_multipliers *all);
void add_pulls_from_start(real *moved, const real *positions, integer n, const strip_batch *batch);
void project_former_tension(real *positions, const struct strip_net *net, real kept, real taut,
                            integer rounds);
void project_rope_bends(real *positions, integer n, const struct stencil_batch *const *batches,
                        integer count);
void project_stiff_bends(real *positions, integer n, const struct stiff_batch *batch);
void project_trees(real *positions, integer n, const struct tree *all);
void strain_range(const real *positions, integer n, const strip_batch *const *batches,
                  integer count, real *range);
void undo_implicit_damping(real *previous, const real *start, const real *positions, integer n,
                           const strip_batch *batch, real resolved);
void conserve_momentum(integer n, const integer *labels, const real *inverse_masses,
                       const real *before, const real *about, real *kept, integer count,
                       real *work);
void project_plane(real *positions, integer n, const real *inverse_masses, const real *normal,
                   real level, const real *start, const real *floors, real friction, real *pushed,
                   real *rubbed);
void rebound_plane(real *positions, real *previous_positions, integer n, const real *pushed,
                   const real *normal, real level, const real *start, const real *floors,
                   real restitution, const real *arrival, const real *accelerations, real dt,
                   real drift, real bend, real climb);

/* The rope, ready for steps of one length; see Batches and SoftBodyModel. */
typedef struct {
    integer n, pins;
    const integer *pinned;      /* (pins,) */
    const real *inverse_masses; /* (n,) */
    const struct tree *trees;
    integer generations;
    const strip_batch *const *strips; /* (generations,) of the trees */
    const struct strip_net *net;
    integer corners, stiffs;
    const struct stencil_batch *const *bends; /* (corners,) */
    const struct stiff_batch *const *stiff;   /* (stiffs,) */
    const struct fresh_multipliers *multipliers;
    integer free;                    /* bodies that nothing holds */
    const integer *components;       /* (n,) */
    const real *floors;              /* (n,) distance from the ground */
    integer directions, most_rounds; /* of former tension; of lengths */
    real strain_left, resolved, velocity_gain, h_squared, dt, drift, bend;
    real *start, *arrival, *before, *accelerations, *rubbed; /* (3, n) to work in, as what follows */
    real *pushed, *whole;                                    /* (n,), (16 free,) */
} hanging;

/* What acts on it from one frame to the next; the ground's normal is NULL where there is none. */
typedef struct {
    integer steps, taken; /* how many to take, how many were taken before */
    const real *gravity;
    const real *pins_start, *pins_end; /* (3, pins) */
    const real *normal;
    real level, friction, restitution;
} surroundings;

/* Moves particles by inertia, gravity and springs, and pins to where they are at step `number`. */
static void set_out(real *x, real *previous, const hanging *rope, const surroundings *given,
                    integer number)
{
    integer n = rope->n;
    real *moved = rope->arrival;
    for (integer i = 0; i < 3 * n; i++)
        moved[i] = (x[i] - previous[i]) * rope->velocity_gain
                   + rope->accelerations[i] * rope->h_squared + x[i];
    for (integer i = 0; i < rope->generations; i++)
        add_pulls_from_start(moved, x, n, rope->strips[i]);
    copy(previous, x, 3 * n);
    copy(rope->start, x, 3 * n);
    copy(x, moved, 3 * n);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0, at = axis * rope->pins; i < rope->pins; i++, at++)
            x[axis * n + rope->pinned[i]] =
                on_the_way(given->pins_start[at], given->pins_end[at], number, given->steps);
    copy(rope->arrival, x, 3 * n);
}

/* Gives what nothing holds the momentum that it had before. */
static void keep_momentum(real *after, const hanging *rope, const real *about)
{
    if (rope->free)
        conserve_momentum(rope->n, rope->components, rope->inverse_masses, rope->before, about,
                          after, rope->free, rope->whole);
}

/* Solves bends, and lengths to the last digit. */
static void relax(real *x, const hanging *rope, int backwards)
{
    integer n = rope->n;
    start_multipliers(rope->multipliers);
    copy(rope->before, x, 3 * n);
    project_former_tension(x, rope->net, 1.0, 0.0, rope->directions);
    for (integer i = 0; i < rope->corners; i++)
        project_rope_bends(x, n, rope->bends + (backwards ? rope->corners - 1 - i : i), 1);
    for (integer i = 0; i < rope->stiffs; i++)
        project_stiff_bends(x, n, rope->stiff[i]);
    for (integer round = 0; round < rope->most_rounds; round++) {
        real range[2] = {0.0, 0.0};
        project_trees(x, n, rope->trees);
        strain_range(x, n, rope->strips, rope->generations, range);
        if (larger(-range[0], range[1]) < rope->strain_left)
            break;
    }
    keep_momentum(x, rope, rope->start);
}

/* Gives back the speed that solving took, which leaves the momentum as it was. */
static void regain_speed(const real *x, real *previous, const hanging *rope)
{
    copy(rope->before, previous, 3 * rope->n);
    for (integer i = 0; i < rope->generations; i++)
        undo_implicit_damping(previous, rope->start, x, rope->n, rope->strips[i], rope->resolved);
    keep_momentum(previous, rope, x);
}

/* Widens a box, the least of each axis and then the most, to hold particles. */
static void widen(real *box, const real *positions, integer n)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++) {
            real at = positions[axis * n + i];
            box[axis] = at < box[axis] ? at : box[axis];
            box[3 + axis] = at > box[3 + axis] ? at : box[3 + axis];
        }
}

/* Moves a rope on by some steps: positions and those a step before, (3, n); the box holds where it
   has been at their ends. */
EXPORT void swing(real *positions, real *previous, const hanging *rope, const surroundings *given,
                  real *box)
{
    integer n = rope->n;
    for (int axis = 0; axis < 3; axis++)
        box[axis] = box[3 + axis] = positions[axis * n];
    widen(box, positions, n);
    for (integer i = 0; i < 3 * n; i++)
        rope->accelerations[i] = given->gravity[i / n];
    for (integer number = 1; number <= given->steps; number++) {
        set_out(positions, previous, rope, given, number);
        for (integer i = 0; i < n; i++)
            rope->pushed[i] = rope->rubbed[i] = rope->rubbed[n + i] = rope->rubbed[2 * n + i] = 0.0;
        relax(positions, rope, (given->taken + number - 1) % 2);
        if (given->normal)
            project_plane(positions, n, rope->inverse_masses, given->normal, given->level,
                          rope->start, rope->floors, given->friction, rope->pushed, rope->rubbed);
        regain_speed(positions, previous, rope);
        if (given->normal)
            rebound_plane(positions, previous, n, rope->pushed, given->normal, given->level,
                          rope->start, rope->floors, given->restitution, rope->arrival,
                          rope->accelerations, rope->dt, rope->drift, rope->bend, 0.0);
        widen(box, positions, n);
    }
}
