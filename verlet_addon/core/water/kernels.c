/* The cotangent Laplacian of wave heights: the same as numpy_kernels.py. */
#include "../kernels.h"

/* Pairs of neighbouring vertices; see Water. */
typedef struct {
    integer count;        /* e */
    const integer *pairs; /* (2, e) */
    const real *weights;  /* (e,) */
} wave_pairs;

/* Writes the negative Laplacian of heights (n,), integrated over vertex areas, to `found` (n,). */
EXPORT void wave_laplacian(const wave_pairs *of, const real *heights, integer n, real *found)
{
    const integer *first = of->pairs, *second = of->pairs + of->count;
    for (integer i = 0; i < n; i++)
        found[i] = 0.0;
    for (integer e = 0; e < of->count; e++) {
        real flow = of->weights[e] * (heights[first[e]] - heights[second[e]]);
        found[first[e]] += flow;
        found[second[e]] -= flow;
    }
}
