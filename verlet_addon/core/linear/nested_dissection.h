/* Systems factorized by nested dissection, and their solution in nested_dissection.c. */
#ifndef VERLET_NESTED_DISSECTION_H
#define VERLET_NESTED_DISSECTION_H

#include "../kernels.h"

/* The parts of one depth; see Depth. Matrices are stored in the order in which they are read. */
typedef struct {
    integer parts, size, reach;     /* p, and the largest s and b of a part */
    const integer *sizes, *reaches; /* (p,) numbers of unknowns, own ones and those of the border */
    const integer *own, *border;    /* (p, s) and (p, b) */
    const real *root;               /* part by part: columns, from the diagonal down */
    const real *coupling;             /* part by part: rows */
    real *answers;                  /* (p, axes, s) workspace */
    real *outside;                  /* (axes, b) workspace */
} depth;

/* See Factors. */
typedef struct {
    integer size; /* n */
    integer axes; /* number of right-hand sides */
    integer depths;
    const depth *const *depth;
    real *values; /* (axes, n + 1) right-hand sides, then solutions; the last column is not used */
} dissected_system;

/* Solves for the right-hand sides in `values`, in place. */
void solve_dissected_system(const dissected_system *system);

/* sums += factor * row, of n elements. */
static inline void add_scaled(real *restrict sums, const real *restrict row, integer n, real factor)
{
    WIDE for (integer i = 0; i < n; i++)
        sums[i] += row[i] * factor;
}

#endif
