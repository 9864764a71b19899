/* Surfaces for contact detection, and their BVHs. */
#ifndef VERLET_SURFACES_H
#define VERLET_SURFACES_H

#include "../kernels.h"

/* A box in single precision. The largest coordinates are negated, so that an overlap test of two
   boxes is two vector sums. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct box {
    float low[4], minus_high[4]; /* the fourth are 0, or nan for positions that are not finite */
} box;

/* See Surfaces. */
typedef struct {
    integer particles, owners; /* N and o */
    const integer *owner;      /* (N,) */
    const real *rest;          /* (N, 3) [m] */
    const real *paths;          /* (N, 2, 3) positions at start and end [m] */
    const struct box *swept_boxes;   /* (N,) boxes of those motions */
    integer triangles, edges;  /* t and e */
    const integer *corners;    /* (3, t) */
    const integer *ends;       /* (2, e) */
    const integer *sides, *wings;      /* (2, e) */
    const integer *opposite_edges;     /* (3, t) */
    const integer *fans, *fan_starts;  /* starts: (N + 1,) */
    const integer *near_starts, *near; /* starts: (N + 1,) */
    const real *gaps;                  /* (o, o) [m] */
    const uint8_t *single_sided;       /* (o,) */
    const uint8_t *colliders;          /* (o,) */
    const uint8_t *active;             /* (N,) */
    real *edge_turns, *corner_turns;   /* (e, 2), (N, 2) [rad], [rad/m] */
    real *clearances;                  /* (N,) [m] */
} surfaces;

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

/* See BVH. */
typedef struct {
    integer height;
    const integer *corners, *triangles;        /* (leaves, LEAF, 3), (leaves, LEAF) */
    const integer *vertices, *vertex_starts;   /* starts: (leaves + 1,) */
    const integer *edges, *edge_starts;        /* starts: (leaves + 1,) */
    uint8_t *active; /* (2 leaves,) */
    const integer *connected, *connected_starts;     /* starts: (2 leaves + 1,) */
    real *cones;                               /* (2 leaves, 2, 3) */
    box *boxes;                                /* (2 leaves,) */
    edge_path *edge_paths;                            /* one per edge */
    box *swept_boxes;                                /* (leaves, LEAF) */
    real *turns;                               /* (leaves, 2) [rad], [rad/m] */
} bvh;

#endif
