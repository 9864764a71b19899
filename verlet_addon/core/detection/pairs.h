/* Pairs of features on their way towards each other, and the rows that they become. */
#ifndef VERLET_PAIRS_H
#define VERLET_PAIRS_H

#include "proximity.h"
#include "surfaces.h"

/* How near pairs have to come: see Reach. */
typedef struct {
    real skin, gap_share, start_share;
    real limits[2]; /* turns of colliders up to these are flush */
    integer all_touching;
} search_criteria;

/* Rows as they are found; those beyond the capacity are only counted. */
typedef struct {
    integer capacity;
    integer *features; /* (3, capacity) */
    real *weights;     /* (4, capacity) */
    real *normals;     /* (3, capacity) */
    real *gaps;        /* (capacity,) [m] */
} rows;

/* What a walk needs everywhere. */
typedef struct {
    const surfaces *all;
    const search_criteria *criteria;
    rows *found;
    const bvh *a, *b;
    real margin;
    four far; /* the margin, and what boxes are off by */
    integer count;
} traversal;

/* A pair on its way. */
typedef struct {
    integer kind; /* 0: a vertex and a triangle; 1: two edges */
    integer features[2], particles[4];
    real x[4][3], motion[4][3], gap, time;
    nearest now;
} pair;

/* Adds the row of a pair, if it comes within reach (kernels.c). */
void test_pair(traversal *job, pair *p);

/* Which pairs belong to the side, the edge or the corner that they touch (voronoi_regions.c). */
int is_behind(const traversal *job, const pair *p);
int is_closest(const traversal *job, pair *p);
int is_redundant(const surfaces *all, edge_path *one, integer edge, edge_path *other,
                 integer other_edge);

#endif
