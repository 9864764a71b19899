/* Unit quaternions w, x, y, z; see quaternions.py. */
#ifndef VERLET_QUATERNIONS_H
#define VERLET_QUATERNIONS_H

#include "../kernels.h"

/* found = p q of quaternions w, x, y, z. */
static inline void multiply_quaternions(const real p[4], const real q[4], real found[4])
{
    real around[3];
    cross(p + 1, q + 1, around);
    found[0] = p[0] * q[0] - dot(p + 1, q + 1);
    for (int i = 1; i < 4; i++)
        found[i] = p[0] * q[i] + q[0] * p[i] + around[i - 1];
}

/* Rotates a vector by a unit quaternion. */
static inline void rotate(const real q[4], const real v[3], real found[3])
{
    real twice[3], last[3];
    cross(q + 1, v, twice);
    for (int i = 0; i < 3; i++)
        twice[i] *= 2.0;
    cross(q + 1, twice, last);
    for (int i = 0; i < 3; i++)
        found[i] = v[i] + q[0] * twice[i] + last[i];
}

/* Follows a rotation with the least one from one unit vector to another; none if they are opposite. */
static SMALL void swing(const real before[3], const real now[3], real rotation[4])
{
    real q[4] = {1.0 + dot(before, now)}, found[4];
    cross(before, now, q + 1);
    real size = __builtin_sqrt(q[0] * q[0] + dot(q + 1, q + 1));
    if (size <= LEAST_SWING)
        return;
    for (int i = 0; i < 4; i++)
        q[i] /= size;
    multiply_quaternions(q, rotation, found);
    copy(rotation, found, 4);
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
