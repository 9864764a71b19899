/* Boxes and edges of surfaces and their BVHs. */
#ifndef VERLET_SURFACES_H
#define VERLET_SURFACES_H

#include "../kernels.h"

/* A box in single precision. The largest coordinates are negated, so that an overlap test of two
   boxes is two vector sums. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct box {
    float low[4], minus_high[4]; /* the fourth are 0, or nan for positions that are not finite */
} box;

/* States of the cached part of an edge_path. */
#define UNREAD 0
#define CLAIMED 1 /* One thread is about to write it. */
#define READ 2

/* Swept box of an edge, and cached vectors of the edge and its triangles at the start of the step. */
typedef struct edge_path {
    box swept_box;
    integer known; /* state of the members below; see read_edge */
    integer ridge; /* whether its triangles make an angle, or it is a border */
    integer steady; /* whether the vectors hardly rotate during the step */
    real along[3], wings[2][3], squares[2]; /* edge, to third corners, and squared lengths of those */
} edge_path;

#endif
