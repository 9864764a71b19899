/* Types and small functions for all kernels.

   Positions are component rows (3, n) [m]: x, then y, then z of every particle. Structs mirror the
   batches of the Python module beside them; their members have 8 bytes each, in the order of the
   arguments of `pack` (compiled.py). Arrays are contiguous and owned by the caller, including
   scratch memory (`work`). Kernels allocate nothing and have no state between calls. */
#ifndef VERLET_KERNELS_H
#define VERLET_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef double real;
typedef int64_t integer;

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Four numbers at a time: solid/cells.h. */
typedef real four_reals __attribute__((vector_size(32), aligned(8)));

#include "generated.h"

/* Functions that take little time are optimized for size (SMALL), and only loops marked WIDE are
   vectorized, because the zip holds six libraries. */
#if defined(__clang__)
#define SMALL __attribute__((minsize, noinline, unused))
#define WIDE _Pragma("clang loop vectorize(enable)")
#else
#define WIDE
#define SMALL __attribute__((unused))
#endif

/* Two numbers at a time, which every processor supports: the same bits as one by one. */
typedef real two_reals __attribute__((vector_size(16)));
typedef integer two_integers __attribute__((vector_size(16)));

static inline two_reals both(real value) { return (two_reals){value, value}; }
static inline two_reals two_at(const real *from) { return (two_reals){from[0], from[1]}; }

static inline real larger(real a, real b) { return a > b ? a : b; }
static inline real smaller(real a, real b) { return a < b ? a : b; }
static inline real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const real a[3], const real b[3], real found[3])
{
    found[0] = a[1] * b[2] - a[2] * b[1];
    found[1] = a[2] * b[0] - a[0] * b[2];
    found[2] = a[0] * b[1] - a[1] * b[0];
}

/* found = matrix (3, 3) × vector. */
static inline void apply(const real *matrix, const real *vector, real *found)
{
    for (int x = 0; x < 3; x++)
        found[x] = dot(matrix + 3 * x, vector);
}

/* Reads the vector in column `at` of rows (3, n). */
static inline void read(const real *rows, integer n, integer at, real found[3])
{
    for (int x = 0; x < 3; x++)
        found[x] = rows[x * n + at];
}

/* Removes from a vector its component along a unit normal, and returns that. */
static inline real remove_along(const real normal[3], real vector[3])
{
    real along = dot(normal, vector);
    for (int axis = 0; axis < 3; axis++)
        vector[axis] -= normal[axis] * along;
    return along;
}

/* found = a - b. */
static inline void subtract(const real *a, const real *b, real *found)
{
    for (int axis = 0; axis < 3; axis++)
        found[axis] = a[axis] - b[axis];
}

static inline real distance(real x, real y, real z)
{
    return larger(__builtin_sqrt(x * x + y * y + z * z), SHORTEST);
}

/* Linear interpolation from `here` to `there` at a step of all steps. */
static inline real at_step(real here, real there, integer step, integer steps)
{
    return step == steps ? there : here + (there - here) * ((real)step / (real)steps);
}

static inline void copy(real *to, const real *from, integer count)
{
    for (integer i = 0; i < count; i++)
        to[i] = from[i];
}

static inline void clear(real *values, integer count)
{
    for (integer i = 0; i < count; i++)
        values[i] = 0.0;
}

/* Transposes rows (3, n) to points (n, 3), so that a particle's coordinates are contiguous. */
static inline void interleave(const real *rows, integer n, real *points)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++)
            points[3 * i + axis] = rows[axis * n + i];
}

/* Transposes points (n, 3) to rows (3, n). */
static inline void deinterleave(const real *points, integer n, real *rows)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++)
            rows[axis * n + i] = points[3 * i + axis];
}

/* sums += factor * row, of n elements. */
static inline void add_scaled(real *restrict sums, const real *restrict row, integer n, real factor)
{
    WIDE for (integer i = 0; i < n; i++)
        sums[i] += row[i] * factor;
}

/* Sets the position of a particle to (x, y, z). */
static inline void put(real *positions, integer n, integer particle, real x, real y, real z)
{
    positions[particle] = x;
    positions[n + particle] = y;
    positions[2 * n + particle] = z;
}

#endif
