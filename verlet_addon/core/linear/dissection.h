/* Systems factorized by nested dissection, and their parts; dissection.c solves them. */
#ifndef VERLET_DISSECTION_H
#define VERLET_DISSECTION_H

#include "../kernels.h"

/* The parts of one depth; see Depth. Those with fewer unknowns are filled up with the last number. */
typedef struct {
    integer parts, size, reach;
    const integer *own, *border; /* (p, s) and (p, b) */
    const real *root_turned;     /* (p, s, s), transposed */
    const real *passed;          /* (p, s, b) */
    real *answers;               /* (p, axes, s) to work in */
    real *outside;               /* (b,) */
} depth;

/* See Factors. */
typedef struct {
    integer size; /* n */
    integer axes; /* right sides that are solved at once */
    integer depths;
    const depth *const *depth;
    real *values; /* (axes, n + 1): right sides, and then the solutions */
} dissected;

/* Solves for the right sides in `values`. */
void solve_dissected(const dissected *system);

#endif
