/* Rotations of bodies, from their angular momenta and from quaternions; see kernels.py. */
#ifndef VERLET_ROTATIONS_H
#define VERLET_ROTATIONS_H

#include "../kernels.h"

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

/* Writes the rotation matrix of a unit quaternion w, x, y, z. */
static inline void quaternion_matrix(const real q[4], real r[9])
{
    real w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - w * z), r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y), r[7] = 2 * (y * z + w * x), r[8] = 1 - 2 * (x * x + y * y);
}

#endif
