/* Trees of paths. */
#ifndef VERLET_TREES_H
#define VERLET_TREES_H

#include "../stretch/strips.h"

/* The paths of one generation; see Generation. */
typedef struct {
    const strip_batch *batch;
    const integer *supports;  /* (paths,) junction that each path hangs on, or -1 */
    const integer *junctions; /* (c,) junction at each of the `junction_entries`, -1 elsewhere */
    real *along;              /* (c, 3) link directions; workspace, like all that follow */
    real *steps;              /* (c,) -(change of multipliers) with the supports fixed */
    real *response;           /* (c,) the same per unit elongation of a path's first link */
} generation;

/* All generations, from the root out; see TreeBatches. */
typedef struct tree {
    integer generations, junctions;
    const generation *const *generation;
    const real *inverse_masses; /* (j,) */
    real *stiffness, *mobility; /* (j, 3, 3) workspace, like all that follow */
    real *force, *displacement; /* (j, 3) */
} tree;

/* Removes from displacements (3, n) the part that stretches links at these positions. */
EXPORT void remove_stretching(real *displacements, real *positions, integer n, const tree *all);

#endif
