/* Paths of particles, as in paths.py. */
#include "../../kernels.h"

/* Square of the distance between two points in columns `at` of rows (3, n). */
static real square_between(const real *a, const real *b, integer n, integer at)
{
    real one[3], other[3];
    read(a, n, at, one);
    read(b, n, at, other);
    subtract(one, other, one);
    return dot(one, one);
}

EXPORT void find_deviations(const real *starts, integer n, const real *ends, const real *start,
                            const real *end, real *found)
{
    for (integer i = 0; i < n; i++) {
        real one = __builtin_sqrt(square_between(start, starts, n, i));
        real other = __builtin_sqrt(square_between(end, ends, n, i));
        found[i] = one - one + (other - other) == 0.0 ? larger(one, other) : 0.0;
    }
}

EXPORT integer renew_paths(real *starts, integer n, real *ends, real *start, real *end,
                           real *tolerances, uint8_t *moved)
{
    integer count = 0;
    for (integer i = 0; i < n; i++) {
        int kept = 1;
        for (int axis = 0; axis < 3; axis++) {
            integer at = axis * n + i;
            kept &= __builtin_fabs(start[at] - starts[at]) <= tolerances[i]
                    && __builtin_fabs(end[at] - ends[at]) <= tolerances[i];
        }
        moved[i] = !kept;
        count += !kept;
        for (int axis = 0; axis < 3 && !kept; axis++) {
            starts[axis * n + i] = start[axis * n + i];
            ends[axis * n + i] = end[axis * n + i];
        }
    }
    return count;
}

SMALL EXPORT void total_displacement(const real *start, integer n, const real *end,
                                     const integer *members, integer count, real *total)
{
    for (int axis = 0; axis < 3; axis++) {
        const real *from = start + axis * n, *to = end + axis * n;
        real sum = 0.0;
        for (integer k = 0; k < count; k++) {
            real way = to[members[k]] - from[members[k]];
            sum = k ? sum + way : way;
        }
        total[axis] = sum;
    }
}
