/* Symmetric pentadiagonal systems; see Bands. */
#ifndef VERLET_PENTADIAGONAL_H
#define VERLET_PENTADIAGONAL_H

#include "../kernels.h"

/* Solves in place for three right-hand sides of n unknowns, stored `step` elements apart from
   unknown to unknown and `across` from axis to axis. Factors are rows (3, size) as those of
   `Bands`, of which the first n are used. */
static inline void solve_pentadiagonal(const real *factors, integer size, integer n, real *values,
                                       integer step, integer across)
{
    const real *pivots = factors, *beside = factors + size, *beyond = factors + 2 * size;
    real last[3] = {0.0, 0.0, 0.0}, last_but_one[3] = {0.0, 0.0, 0.0};
    for (integer k = 0; k < n; k++)
        for (int axis = 0; axis < 3; axis++) {
            real *value = values + k * step + axis * across;
            *value -= (k ? beside[k] : 0.0) * last[axis];
            *value -= (k > 1 ? beyond[k] : 0.0) * last_but_one[axis];
            last_but_one[axis] = last[axis];
            last[axis] = *value;
        }
    for (integer k = n - 1; k >= 0; k--)
        for (int axis = 0; axis < 3; axis++) {
            real *value = values + k * step + axis * across, found = *value * pivots[k];
            found -= (k + 1 < n ? beside[k + 1] : 0.0) * last[axis];
            found -= (k + 2 < n ? beyond[k + 2] : 0.0) * last_but_one[axis];
            last_but_one[axis] = last[axis];
            *value = last[axis] = found;
        }
}

#endif
