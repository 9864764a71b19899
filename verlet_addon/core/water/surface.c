/* The cotangent Laplacian of wave heights: the functions of kernels.py. */
#include "../kernels.h"

EXPORT void wave_laplacian(const water *of, const real *heights, integer n, real *found)
{
    const integer *first = of->pairs, *second = of->pairs + of->pair_count;
    clear(found, n);
    for (integer e = 0; e < of->pair_count; e++) {
        real flow = of->weights[e] * (heights[first[e]] - heights[second[e]]);
        found[first[e]] += flow;
        found[second[e]] -= flow;
    }
}
