/* Stiff bends, solved as one system: project_stiff_bends of numpy_kernels.py. */
#include "../linear/nested_dissection.h"
#include "hinges.h"

/* See StiffBendBatch. */
typedef struct stiff_bend_batch {
    integer count; /* c */
    const integer *particles;
    const real *coefficients, *stiffnesses, *rests; /* (4, c) and (c,) */
    integer free_count;                     /* f */
    const integer *free;
    const integer *number; /* (n,) number of each particle among the free ones, or f */
    const real *masses;    /* (f,) */
    const dissected_system *system;
    real *values;      /* (3, f + 1) right-hand sides, then displacements */
    real *multipliers; /* (3, f) */
} stiff_bend_batch;

/* values = -(gradient of the energy of bends, times h^2) - multipliers. */
static void gather_forces(const real *positions, integer n, const stiff_bend_batch *batch)
{
    integer c = batch->count, f = batch->free_count, stride = f + 1;
    real *forces = batch->values;
    for (integer axis = 0; axis < 3; axis++) {
        for (integer i = 0; i < f; i++)
            forces[axis * stride + i] = -batch->multipliers[axis * f + i];
        forces[axis * stride + f] = 0.0; /* pinned particles */
    }
    for (integer i = 0; i < c; i++) {
        real members[4][3], bend[3] = {0.0, 0.0, 0.0};
        for (integer k = 0; k < 4; k++)
            for (integer axis = 0; axis < 3; axis++) {
                members[k][axis] = positions[axis * n + batch->particles[k * c + i]];
                bend[axis] += members[k][axis] * batch->coefficients[k * c + i];
            }
        subtract_rest(members, batch->rests[i], bend);
        for (integer k = 0; k < 4; k++)
            for (integer axis = 0; axis < 3; axis++)
                forces[axis * stride + batch->number[batch->particles[k * c + i]]] -=
                    batch->coefficients[k * c + i] * (bend[axis] * batch->stiffnesses[i]);
    }
}

/* Solves all bends as one system, and moves the free particles. */
EXPORT void project_stiff_bends(real *positions, integer n, const stiff_bend_batch *batch)
{
    integer f = batch->free_count, stride = f + 1;
    gather_forces(positions, n, batch);
    solve_dissected_system(batch->system);
    for (integer axis = 0; axis < 3; axis++)
        for (integer i = 0; i < f; i++) {
            real moved = batch->values[axis * stride + i];
            batch->multipliers[axis * f + i] += batch->masses[i] * moved;
            positions[axis * n + batch->free[i]] += moved;
        }
}
