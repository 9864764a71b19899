/* Cholesky elimination: the function of elimination.py, which has the formulas. */
#include "nested_dissection.h"

/* Eliminates the first s unknowns of a front (m, m); `root` (s, s), at first the unit matrix,
   becomes the inverse of their Cholesky factor. */
EXPORT void eliminate_unknowns(real *front, integer m, real *root, integer s)
{
    for (integer k = 0; k < s; k++) {
        real *row = front + k * m, *own = root + k * s, scale = 1.0 / __builtin_sqrt(row[k]);
        for (integer i = k; i < m; i++)
            row[i] *= scale;
        for (integer i = 0; i <= k; i++)
            own[i] *= scale;
        for (integer j = k + 1; j < m; j++) {
            if (row[j] == 0.0)
                continue;
            add_scaled(front + j * m + k + 1, row + k + 1, m - k - 1, -row[j]);
            if (j < s)
                add_scaled(root + j * s, own, k + 1, -row[j]);
        }
    }
}
