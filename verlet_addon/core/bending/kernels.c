/* Bends: the functions of kernels.py, which has formulas and sources. */
#include "../linear/nested_dissection.h"
#include "../linear/pentadiagonal.h"
#include "../team/team.h"
#include "hinges.h"

/* Particles of a line. */
#define LINE_PARTICLES 3

/* Solves all bends of one path, of so many members each, as one system. */
static inline void project_path(real *positions, integer n, const bend_path_batch *batch, integer begin,
                                integer end, int members, int width, real *points)
{
    integer count = end - begin + 1 - members / width;
    const integer *rungs = batch->rungs + width * begin;
    real *steps = points + 3 * width * (end - begin);
    for (integer k = 0; k < width * (end - begin); k++)
        for (int axis = 0; axis < 3; axis++)
            points[3 * k + axis] = positions[axis * n + rungs[k]];
    for (integer k = 0; k < count; k++) {
        const real *coefficients = batch->coefficients + members * (begin + k);
        const real *multipliers = batch->multipliers + batch->slots[begin + k];
        for (int axis = 0; axis < 3; axis++) {
            const real *point = points + 3 * width * k + axis;
            real violation = batch->scaled_compliances[begin + k] * multipliers[axis * batch->multiplier_count];
            for (int i = 0; i < members; i++)
                violation += coefficients[i] * point[3 * i];
            steps[3 * k + axis] = violation;
        }
    }
    solve_pentadiagonal(batch->factors + begin, batch->count, count, steps, 3, 1);
    for (integer k = 0; k < count; k++) {
        const real *responses = batch->responses + members * (begin + k);
        real *multipliers = batch->multipliers + batch->slots[begin + k];
        for (int axis = 0; axis < 3; axis++) {
            multipliers[axis * batch->multiplier_count] -= steps[3 * k + axis];
            for (int i = 0; i < members; i++)
                points[3 * (width * k + i) + axis] -= responses[i] * steps[3 * k + axis];
        }
    }
    for (integer k = 0; k < width * (end - begin); k++)
        put(positions, n, rungs[k], points[3 * k], points[3 * k + 1], points[3 * k + 2]);
}

typedef struct {
    real *positions;
    integer n;
    const bend_path_batch *batch;
} bend_paths;

static void project_some_paths(const void *loop, integer part, real *scratch)
{
    const bend_paths *of = loop;
    const bend_path_batch *batch = of->batch;
    path_range own = paths_in(batch->ends, batch->paths, part, PATH_PART);
    for (integer p = own.first; p < own.last; p++) {
        integer begin = p ? batch->ends[p - 1] : 0, end = batch->ends[p];
        if (batch->members == LINE_PARTICLES)
            project_path(of->positions, of->n, batch, begin, end, LINE_PARTICLES, 1, scratch);
        else
            project_path(of->positions, of->n, batch, begin, end, HINGE_PARTICLES, 2, scratch);
    }
}

/* Projects the bends of all batches, path by path: lines along strips, and twists along face loops. */
EXPORT void project_bend_paths(real *positions, integer n, const bend_path_batch *const *batches,
                               integer count)
{
    for (integer i = 0; i < count; i++) {
        bend_paths loop = {positions, n, batches[i]};
        share(parts_of(batches[i]->count, PATH_PART), project_some_paths, &loop, batches[i]->reals,
              batches[i]->work);
    }
}

/* Sets the positions (size, 3) of the members of bend i of a batch, and the bend g = sum of coefficient * x. */
static inline void gather(const real *positions, integer n, const integer *particles, const real *coefficients,
                          integer count, int size, integer i, real members[4][3], real bend[3])
{
    clear(bend, 3);
    for (int k = 0; k < size; k++) {
        read(positions, n, particles[k * count + i], members[k]);
        for (int axis = 0; axis < 3; axis++)
            bend[axis] += members[k][axis] * coefficients[k * count + i];
    }
}

/* Writes the new positions of a bend's members. */
static inline void put_members(real *positions, integer n, const stencil_batch *batch, int size,
                               integer i, real members[4][3])
{
    for (int k = 0; k < size; k++) {
        integer entry = k * batch->count + i;
        put(positions, n, batch->particles[entry], members[k][0], members[k][1], members[k][2]);
    }
}

/* Projects a bend, given its violation: changes its multiplier and moves its members. */
static inline void scatter(real *positions, integer n, const stencil_batch *batch, int size,
                           integer i, real members[4][3], const real violation[3])
{
    for (int axis = 0; axis < 3; axis++) {
        real *multiplier = batch->multipliers + axis * batch->count + i;
        real step = (violation[axis] + batch->scaled_compliances[i] * *multiplier)
                    * batch->gains[i];
        *multiplier -= step;
        for (int k = 0; k < size; k++)
            members[k][axis] -= batch->responses[k * batch->count + i] * step;
    }
    put_members(positions, n, batch, size, i, members);
}

/* Projects lines or hinges from `first` to `last`, one after the other. */
static inline void project_stencils(real *positions, integer n, const stencil_batch *batch, int size,
                                    integer first, integer last)
{
    real members[4][3], bend[3];
    for (integer i = first; i < last; i++) {
        gather(positions, n, batch->particles, batch->coefficients, batch->count, size, i, members, bend);
        subtract_rest(members, batch->rests[i], bend);
        scatter(positions, n, batch, size, i, members, bend);
    }
}

typedef struct {
    real *positions;
    integer n;
    const stencil_batch *batch;
} stencils;

static void project_some_stencils(const void *loop, integer part, real *scratch)
{
    const stencils *of = loop;
    integer first = part * HINGE_PART, last = end_of(part, HINGE_PART, of->batch->count);
    (void)scratch;
    if (of->batch->members == HINGE_PARTICLES)
        project_stencils(of->positions, of->n, of->batch, HINGE_PARTICLES, first, last);
    else
        project_stencils(of->positions, of->n, of->batch, LINE_PARTICLES, first, last);
}

EXPORT void project_surface_bends(real *positions, integer n, const stencil_batch *const *batches,
                                  integer count)
{
    for (integer i = 0; i < count; i++) {
        stencils loop = {positions, n, batches[i]};
        share(parts_of(batches[i]->count, HINGE_PART), project_some_stencils, &loop, 0, NULL);
    }
}

/* Projects the angle between the directions from a rope's particle to both neighbours. */
static void project_rope_stencils(const void *loop, integer part, real *scratch)
{
    const stencils *of = loop;
    const stencil_batch *batch = of->batch;
    real *positions = of->positions;
    integer n = of->n;
    (void)scratch;
    real points[4][3], arms[2][3], slopes[3][3], bend[3];
    integer count = batch->count, last = end_of(part, HINGE_PART, count);
    for (integer i = part * HINGE_PART; i < last; i++) {
        real lengths[2], resistance = batch->scaled_compliances[i];
        gather(positions, n, batch->particles, batch->coefficients, count, LINE_PARTICLES, i, points, bend);
        for (int arm = 0; arm < 2; arm++) {
            subtract(points[2 * arm], points[1], arms[arm]);
            lengths[arm] = distance(arms[arm][0], arms[arm][1], arms[arm][2]);
            for (int axis = 0; axis < 3; axis++)
                arms[arm][axis] /= lengths[arm];
        }
        for (int axis = 0; axis < 3; axis++)
            bend[axis] = arms[0][axis] + arms[1][axis];
        real size = distance(bend[0], bend[1], bend[2]);
        for (int axis = 0; axis < 3; axis++)
            bend[axis] /= size;
        real along[2] = {dot(arms[0], bend), dot(arms[1], bend)};
        for (int axis = 0; axis < 3; axis++) {
            slopes[0][axis] = (bend[axis] - arms[0][axis] * along[0]) / lengths[0];
            slopes[2][axis] = (bend[axis] - arms[1][axis] * along[1]) / lengths[1];
            slopes[1][axis] = -(slopes[0][axis] + slopes[2][axis]);
            for (int k = 0; k < 3; k++)
                resistance += batch->inverse_masses[k * count + i] * slopes[k][axis]
                              * slopes[k][axis];
        }
        real step = 0.0;
        if (resistance > 0.0)
            step = (size - batch->rests[i]
                    + batch->scaled_compliances[i] * batch->multipliers[i]) / resistance;
        batch->multipliers[i] -= step;
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                points[k][axis] -= batch->inverse_masses[k * count + i] * slopes[k][axis] * step;
        put_members(positions, n, batch, LINE_PARTICLES, i, points);
    }
}

EXPORT void project_rope_bends(real *positions, integer n, const stencil_batch *const *batches,
                               integer count)
{
    for (integer i = 0; i < count; i++) {
        stencils loop = {positions, n, batches[i]};
        share(parts_of(batches[i]->count, HINGE_PART), project_rope_stencils, &loop, 0, NULL);
    }
}

/* values = -(gradient of the energy of bends, times h^2) - multipliers. */
static void gather_forces(const real *positions, integer n, const stiff_bend_batch *batch)
{
    integer c = batch->count, f = batch->free_count, stride = f + 1;
    real *forces = batch->system->values;
    for (integer axis = 0; axis < 3; axis++) {
        for (integer i = 0; i < f; i++)
            forces[axis * stride + i] = -batch->multipliers[axis * f + i];
        forces[axis * stride + f] = 0.0; /* pinned particles */
    }
    for (integer i = 0; i < c; i++) {
        real members[4][3], bend[3];
        gather(positions, n, batch->particles, batch->coefficients, c, HINGE_PARTICLES, i, members, bend);
        subtract_rest(members, batch->rests[i], bend);
        for (integer k = 0; k < 4; k++)
            for (integer axis = 0; axis < 3; axis++)
                forces[axis * stride + batch->number[batch->particles[k * c + i]]] -=
                    batch->coefficients[k * c + i] * (bend[axis] * batch->stiffnesses[i]);
    }
}

/* Solves all bends as one system, and moves the free particles. */
static void project_system(real *positions, integer n, const stiff_bend_batch *batch)
{
    integer f = batch->free_count, stride = f + 1;
    gather_forces(positions, n, batch);
    solve_dissected_system(batch->system);
    for (integer axis = 0; axis < 3; axis++)
        for (integer i = 0; i < f; i++) {
            real moved = batch->system->values[axis * stride + i];
            batch->multipliers[axis * f + i] += batch->masses[i] * moved;
            positions[axis * n + batch->free[i]] += moved;
        }
}

EXPORT void project_stiff_bends(real *positions, integer n, const stiff_bend_batch *const *batches,
                                integer count)
{
    for (integer i = 0; i < count; i++)
        project_system(positions, n, batches[i]);
}
