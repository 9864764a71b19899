/* Seams: the function of seams.py, which has the formulas. */
#include "../kernels.h"

/* Projects one seam, and marks it as closed or torn by the gap that is left. */
static void project_seam(real *positions, integer n, const seam_batch *batch, integer k)
{
    integer c = batch->count, a = batch->first[k], b = batch->second[k];
    real *multipliers = batch->multipliers + k, offset[3], multiplier[3];
    real to = batch->inverse_masses[k], fro = batch->inverse_masses[c + k];
    for (int axis = 0; axis < 3; axis++) {
        offset[axis] = positions[axis * n + b] - positions[axis * n + a];
        multiplier[axis] = multipliers[axis * c] + batch->gains[k] * offset[axis];
    }
    real size = distance(multiplier[0], multiplier[1], multiplier[2]);
    real share = (batch->closed[k] ? CLOSED_SEAM_FACTOR * batch->max_multipliers[k]
                                       : batch->max_multipliers[k])
                 / size;
    share = batch->torn[k] ? 0.0 : smaller(share, 1.0);
    for (int axis = 0; axis < 3; axis++) {
        real drawn = multiplier[axis] * share, change = drawn - multipliers[axis * c];
        multipliers[axis * c] = drawn;
        positions[axis * n + a] += to * change;
        positions[axis * n + b] -= fro * change;
        offset[axis] -= (to + fro) * change;
    }
    real gap = distance(offset[0], offset[1], offset[2]);
    batch->closed[k] |= gap < batch->closed_gaps[k];
    batch->torn[k] |= gap > batch->torn_gaps[k];
}

/* Projects the seams of all batches, one after the other. */
EXPORT void project_seams(real *positions, integer n, const seam_batch *const *batches,
                          integer count)
{
    for (integer i = 0; i < count; i++)
        for (integer k = 0; k < batches[i]->count; k++)
            project_seam(positions, n, batches[i], k);
}
