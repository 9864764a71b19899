/* Stiff bends, solved as one system: project_stiff_bends of kernels.py. */
#include "../linear/nested_dissection.h"
#include "hinges.h"

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
static void project_batch(real *positions, integer n, const stiff_bend_batch *batch)
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
        project_batch(positions, n, batches[i]);
}
