/* The world that contacts are looked for in, and the boxes round it. */
#ifndef VERLET_SURFACES_H
#define VERLET_SURFACES_H

#include "../kernels.h"

#define LEAF_SIZE 2

/* A box, in single precision and its far side with the other sign: two are told apart at once. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct box {
    float low[4], minus_high[4]; /* the last are 0, or no number where something is nowhere */
} box;

/* See Surfaces. */
typedef struct {
    integer particles, owners; /* N and o */
    const integer *owner;      /* (N,) */
    const real *rest;          /* (N, 3) [m] */
    const real *paths;          /* (N, 2, 3) where each begins and ends its way [m] */
    const struct box *swept_boxes;   /* (N,) round these ways */
    integer triangles, edges;  /* t and e */
    const integer *corners;    /* (3, t) */
    const integer *ends;       /* (2, e) */
    const integer *sides, *wings;      /* (2, e) */
    const integer *opposite_edges;     /* (3, t) */
    const integer *fans, *fan_starts;  /* (N + 1,) */
    const integer *near_starts, *near; /* (N + 1,) */
    const real *gaps;                  /* (o, o) [m] */
    const uint8_t *single_sided;       /* (o,) */
    const uint8_t *colliders;          /* (o,) */
    real *edge_turns, *corner_turns;   /* (e, 2), (N, 2) [rad], [rad/m] */
} surfaces;

/* Whether an edge_way is known. */
#define UNREAD 0
#define CLAIMED 1 /* One thread is about to write it, for all. */
#define READ 2

/* A box round the way of an edge, and what lies beside it, as the step starts. */
typedef struct edge_path {
    box swept_box;
    integer known; /* what follows is: see read_edge */
    integer ridge; /* whether its triangles make an angle, or there are not two */
    integer steady; /* whether these keep their directions */
    real along[3], wings[2][3], squares[2];
} edge_path;

/* See Tree. */
typedef struct {
    integer height;
    const integer *corners, *triangles;        /* (leaves, LEAF, 3), (leaves, LEAF) */
    const integer *vertices, *vertex_starts;   /* (leaves + 1,) */
    const integer *edges, *edge_starts;        /* (leaves + 1,) */
    uint8_t *active; /* (2 leaves,) */
    const integer *connected, *connected_starts;     /* (2 leaves + 1,) */
    real *cones;                               /* (2 leaves, 2, 3) */
    box *boxes;                                /* (2 leaves,) */
    edge_path *edge_paths;                            /* one for each of its edges */
    box *swept_boxes;                                /* (leaves, LEAF) */
    real *turns;                               /* (leaves, 2) [rad], [rad/m] */
} bvh;

#endif
