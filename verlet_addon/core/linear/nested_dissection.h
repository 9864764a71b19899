/* Systems factorized by nested dissection, and their parts; nested_dissection.c solves them. */
#ifndef VERLET_NESTED_DISSECTION_H
#define VERLET_NESTED_DISSECTION_H

#include "../kernels.h"

/* The parts of one depth; see Depth. What is read in every step lies there in that order. */
typedef struct {
    integer parts, size, reach;     /* p, s and b at most */
    const integer *sizes, *reaches; /* (p,) how many unknowns each has, and has around it */
    const integer *own, *border;    /* (p, s) and (p, b) */
    const real *root;               /* columns of each part's, from the diagonal down */
    const real *coupling;             /* rows of each part's */
    real *answers;                  /* (p, axes, s) to work in */
    real *outside;                  /* (axes, b) */
} depth;

/* See Factors. */
typedef struct {
    integer size; /* n */
    integer axes; /* right sides that are solved at once */
    integer depths;
    const depth *const *depth;
    real *values; /* (axes, n + 1): right sides, and then the solutions; the last is free */
} dissected_system;

/* Solves for the right sides in `values`. */
void solve_dissected_system(const dissected_system *system);

/* sums += factor * row, of n numbers. */
static inline void add_scaled(real *restrict sums, const real *restrict row, integer n, real factor)
{
    WIDE for (integer i = 0; i < n; i++)
        sums[i] += row[i] * factor;
}

#endif
