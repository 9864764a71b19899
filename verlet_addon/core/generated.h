/* Written by kernels/header.py: the structs of Python's objects, the prototypes of kernels, and the
   constants that C shares with Python. */
#ifndef VERLET_GENERATED_H
#define VERLET_GENERATED_H


typedef struct water {
    const integer *pairs;
    const real *weights;
    integer pair_count;
} water;

EXPORT void wave_laplacian(const water *, const real *, integer, real *);
#endif
