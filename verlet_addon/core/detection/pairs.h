/* Data of contact detection: pairs of features in motion. */
#ifndef VERLET_PAIRS_H
#define VERLET_PAIRS_H

#include "proximity.h"
#include "surfaces.h"

/* Data of one traversal of two BVHs. */
typedef struct {
    const surfaces *all;
    const search_criteria *criteria;
    const rows *found;
    const bvh *a, *b;
    four far;    /* margin plus rounding error of boxes [m] */
    integer count; /* rows found so far */
    integer tests, most; /* pairs of leaves tested in a part of the traversal, and their limit */
} traversal;

/* A pair of features in motion. */
typedef struct {
    integer kind; /* 0: a vertex and a triangle; 1: two edges */
    integer features[2], particles[4];
    real x[4][3], motion[4][3], gap, time; /* start positions, displacements, gap [m]; 0 … 1 */
    nearest now;                           /* at that time */
} pair;

/* Adds the row of a pair, if it satisfies the criteria (kernels.c). */
void test_pair(traversal *job, pair *p);

/* Filters of pairs by Voronoi regions (voronoi_regions.c). */
int is_behind(const traversal *job, const pair *p);
int is_closest(const traversal *job, pair *p);
int is_redundant(const surfaces *all, edge_path *one, integer edge, edge_path *other,
                 integer other_edge);

#endif
