/* Rotations of bodies, from their angular momenta and from quaternions; see kernels.py. */
#ifndef VERLET_ROTATIONS_H
#define VERLET_ROTATIONS_H

#include "../linear/quaternions.h"

/* Sets the rotation vector with angular momentum `spin`, given Σ m a aᵀ (xx yy zz yz zx xy), by
   Cramer's rule; 0 for a single point. */
static inline void find_rotation_vector(const real second[6], const real spin[3], real turn[3])
{
    real trace = second[0] + second[1] + second[2], more = NEGLIGIBLE_INERTIA * 2.0 * trace;
    real a = trace - second[0] + more, b = trace - second[1] + more, c = trace - second[2] + more;
    real d = -second[3], e = -second[4], f = -second[5];
    real minors[6] = {b * c - d * d, c * a - e * e, a * b - f * f,
                      e * f - a * d, f * d - b * e, d * e - c * f};
    real size = a * minors[0] + f * minors[5] + e * minors[4];
    real share = size > 0.0 ? 1.0 / size : 0.0;
    turn[0] = (minors[0] * spin[0] + minors[5] * spin[1] + minors[4] * spin[2]) * share;
    turn[1] = (minors[5] * spin[0] + minors[1] * spin[1] + minors[3] * spin[2]) * share;
    turn[2] = (minors[4] * spin[0] + minors[3] * spin[1] + minors[2] * spin[2]) * share;
}

#endif
