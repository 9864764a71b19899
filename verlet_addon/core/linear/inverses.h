/* Inverses of small matrices. */
#ifndef VERLET_INVERSES_H
#define VERLET_INVERSES_H

#include "../kernels.h"

/* Inverts a positive definite matrix (n, n) in place, by Gauss-Jordan elimination. */
static inline void invert_positive(real *matrix, int n)
{
    for (int i = 0; i < n; i++) {
        real *row = matrix + n * i, pivot = 1.0 / row[i];
        row[i] = 1.0;
        for (int k = 0; k < n; k++)
            row[k] *= pivot;
        for (int j = 0; j < n; j++) {
            real *other = matrix + n * j, share = other[i];
            if (j == i)
                continue;
            other[i] = 0.0;
            for (int k = 0; k < n; k++)
                other[k] -= share * row[k];
        }
    }
}

#endif
