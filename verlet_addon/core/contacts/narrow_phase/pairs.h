/* Data of contact detection: boxes and edges of surfaces, and pairs of features in motion. */
#ifndef VERLET_PAIRS_H
#define VERLET_PAIRS_H

#include "proximity.h"

/* A box in single precision. The largest coordinates are negated, so that an overlap test of two
   boxes is two vector sums. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct box {
    float low[4], minus_high[4]; /* the fourth are 0, or nan for positions that are not finite */
} box;

/* Swept box of an edge, and cached vectors of the edge and its triangles at the start of the step. */
typedef struct edge_path {
    box swept_box;
    integer known; /* motion for which the members below are cached; see read_edge */
    integer ridge; /* whether its triangles make an angle, or it is a border */
    integer steady; /* whether the vectors hardly rotate during the step */
    real along[3], wings[2][3], squares[2]; /* edge, to third corners, and squared lengths of those */
} edge_path;

/* Criteria of a search for pairs of two owners, as PairCriteria in searches.py. */
typedef struct {
    real gap, gap_share, start_share, margin, near_margin;
    real flush_angle, flush_curvature;
    integer all_touching;
} pair_criteria;

/* Data of one search, or of one traversal of two BVHs. */
typedef struct {
    const surfaces *all;
    const pair_criteria *criteria;
    const rows *found;
    const near_pairs *near;
    const bvh *a, *b;
    four far, near_far; /* margins of rows and of near pairs, plus rounding error of boxes [m] */
    real slack; /* largest deviation of particles from the motion that BVHs were fitted to [m] */
    real skin_share; /* 1 if particles have skins, else 0 */
    integer count, near_count; /* rows and near pairs found so far */
    integer tests, most; /* pairs of leaves tested in a part of the traversal, and their limit */
    integer pair_tests;  /* pairs of features tested */
} traversal;

/* A pair of features in motion. */
typedef struct {
    integer kind; /* 0: a vertex and a triangle; 1: two edges */
    integer features[2], particles[4];
    int is_near, is_flush; /* whether boxes are within the margin of near pairs; whether no row */
    edge_path *ways[2];    /* of edges */
    real x[4][3], motion[4][3], gap, time; /* start positions, displacements, gap [m]; 0 … 1 */
    real skin; /* sum of the skins of both features, 0 in searches without them [m] */
    nearest now;                           /* at that time */
} pair;

/* The criteria of a search for pairs of two owners (kernels.c). */
pair_criteria criteria_for(const surfaces *all, const search_criteria *of, integer first,
                           integer second);

/* Adds the row of a pair, if it satisfies the criteria, and the pair to the near ones (kernels.c). */
void test_pair(traversal *job, pair *p);

/* Filters of pairs by Voronoi regions (voronoi_regions.c). */
int is_behind(const traversal *job, const pair *p);
int is_closest(const traversal *job, pair *p);
int is_redundant(const surfaces *all, edge_path *one, integer edge, edge_path *other,
                 integer other_edge);

#endif
