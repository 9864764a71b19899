/* Vectors, matrices and quaternions of two trees at a time, lane by lane: the same bits as one by one. */
#ifndef VERLET_LANES_H
#define VERLET_LANES_H

#include "../kernels.h"

typedef real lane __attribute__((vector_size(16), aligned(8)));
typedef integer lane_mask __attribute__((vector_size(16), aligned(8)));

/* Functions that are too large to stand wherever they are called. */
#define SHARED static __attribute__((noinline, unused))

/* The numbers at two places of an array. */
static inline lane at_both(const real *values, const integer at[2])
{
    return (lane){values[at[0]], values[at[1]]};
}

/* a where a mask is set, else b. */
static inline lane choose(lane_mask mask, lane a, lane b)
{
    return (lane)(((lane_mask)a & mask) | ((lane_mask)b & ~mask));
}

static inline lane square_root(lane a)
{
    return (lane){__builtin_sqrt(a[0]), __builtin_sqrt(a[1])};
}

static inline lane dot_both(const lane a[3], const lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross_both(const lane a[3], const lane b[3], lane found[3])
{
    found[0] = a[1] * b[2] - a[2] * b[1];
    found[1] = a[2] * b[0] - a[0] * b[2];
    found[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void clear_both(lane *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = both(0.0);
}

/* Divides a vector by its length, or by SHORTEST if that is less. */
static inline void unit_both(lane v[3])
{
    lane length = square_root(dot_both(v, v));
    lane share = both(1.0) / choose(length > both(SHORTEST), length, both(SHORTEST));
    for (int i = 0; i < 3; i++)
        v[i] *= share;
}

/* found = first (3, 3) × second (3, 3). */
SHARED void multiply(const lane first[9], const lane second[9], lane found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = first[3 * i] * second[j] + first[3 * i + 1] * second[3 + j]
                               + first[3 * i + 2] * second[6 + j];
}

/* found -= first (3, 3), transposed, × second (3, 3). */
SHARED void subtract_transposed(const lane first[9], const lane second[9], lane found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] -= first[i] * second[j] + first[3 + i] * second[3 + j]
                                + first[6 + i] * second[6 + j];
}

/* found = matrix (3, 3) × vector. */
SHARED void apply_both(const lane matrix[9], const lane vector[3], lane found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] = dot_both(matrix + 3 * i, vector);
}

/* found -= matrix (3, 3) × vector. */
SHARED void subtract_applied(const lane matrix[9], const lane vector[3], lane found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] -= dot_both(matrix + 3 * i, vector);
}

/* found -= matrix (3, 3), transposed, × vector. */
SHARED void subtract_applied_transposed(const lane matrix[9], const lane vector[3], lane found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] -= matrix[i] * vector[0] + matrix[3 + i] * vector[1] + matrix[6 + i] * vector[2];
}

/* Inverts a positive definite matrix (3, 3) in place, by Gauss-Jordan elimination. */
SHARED void invert_both(lane matrix[9])
{
    for (int i = 0; i < 3; i++) {
        lane pivot = both(1.0) / matrix[4 * i];
        matrix[4 * i] = both(1.0);
        for (int k = 0; k < 3; k++)
            matrix[3 * i + k] *= pivot;
        for (int j = 0; j < 3; j++) {
            lane share = matrix[3 * j + i];
            if (j == i)
                continue;
            matrix[3 * j + i] = both(0.0);
            for (int k = 0; k < 3; k++)
                matrix[3 * j + k] -= share * matrix[3 * i + k];
        }
    }
}

/* found = p q of quaternions w, x, y, z. */
SHARED void multiply_both(const lane p[4], const lane q[4], lane found[4])
{
    lane around[3];
    cross_both(p + 1, q + 1, around);
    found[0] = p[0] * q[0] - dot_both(p + 1, q + 1);
    for (int i = 1; i < 4; i++)
        found[i] = p[0] * q[i] + q[0] * p[i] + around[i - 1];
}

/* Writes the rotation matrices of unit quaternions w, x, y, z. */
static inline void matrix_both(const lane q[4], lane r[9])
{
    lane w = q[0], x = q[1], y = q[2], z = q[3], one = both(1.0), two = both(2.0);
    r[0] = one - two * (y * y + z * z), r[1] = two * (x * y - w * z), r[2] = two * (x * z + w * y);
    r[3] = two * (x * y + w * z), r[4] = one - two * (x * x + z * z), r[5] = two * (y * z - w * x);
    r[6] = two * (x * z - w * y), r[7] = two * (y * z + w * x), r[8] = one - two * (x * x + y * y);
}

#endif
