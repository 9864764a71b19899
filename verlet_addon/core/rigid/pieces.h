/* Poses of rigid pieces, and impulses on them. */
#ifndef VERLET_PIECES_H
#define VERLET_PIECES_H

#include "../kernels.h"

/* found = a × b. */
SMALL static void multiply(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* found = a × bᵀ. */
SMALL static void multiply_back(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = dot(a + 3 * i, b + 3 * j);
}

/* Writes the inverse of the inertia tr S − S for the second moments S = Σ m a aᵀ; 0 for a point. */
void invert_inertia(const real second[9], real inverse[9]);

/* Applies force and torque × h² to a piece, with some rounds of Newton's method for its rotation, and
   places its particles. */
void apply_impulse(const piece_poses *all, integer piece, const real force[3], const real torque[3],
          real *positions, integer n, integer rounds);

#endif
