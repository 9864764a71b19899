/* Factors of pentadiagonal matrices: the function of pentadiagonal.py. */
#include "../kernels.h"

EXPORT void factorize_pentadiagonal(real *rows, integer n)
{
    real *diagonal = rows, *beside = rows + n, *beyond = rows + 2 * n;
    for (integer k = 0; k < n; k++) {
        real pivot = diagonal[k], near = beside[k], far = beyond[k];
        if (k > 1) {
            near -= far * beside[k - 1];
            beyond[k] = far * diagonal[k - 2];
            pivot -= beyond[k] * far;
        }
        if (k) {
            beside[k] = near * diagonal[k - 1];
            pivot -= beside[k] * near;
        }
        diagonal[k] = 1.0 / pivot;
    }
}
