/* What holds and what stops a solid, and the system that both are part of; see numpy_touching.py. */
#ifndef VERLET_TOUCHING_H
#define VERLET_TOUCHING_H

#include "as_one.h"

/* See Stops. */
typedef struct {
    integer points; /* p */
    const real *normals;     /* (3, p) */
    const real *levels;      /* (p,) */
    const real *frictions;   /* (p,) */
    const real *stiffnesses; /* (p,) */
    real *start, *anchors;   /* (3, p) */
    real *grips, *loads;     /* (p,) */
} solid_stops;

/* See Part. */
typedef struct {
    const solid_lattice *lattice;
    const solid_shapes *shapes;
    real stiffness;
} solid_part;

/* See System. */
typedef struct {
    integer nodes, count; /* m, and b */
    const solid_part *parts; /* (b,) */
    const solid_embedding *embedding;
    const real *masses;           /* (m,) */
    const real *diagonal;         /* (m,) */
    real *arrival;                /* (3, p) */
    integer holds;                /* g */
    const integer *held;          /* (g,) */
    const real *held_stiffnesses; /* (g,) */
    real *targets;                /* (3, g) */
    const solid_stops *stops;
    integer pieces;        /* k */
    const integer *labels; /* (m,) */
    real *places;          /* (3, m) */
    solid_piece *alone;    /* (k,) to work in, as are (m, 3) and (m,): */
    four *blocks, *moves, *pushed, *residual, *ahead, *search, *along, *arms;
    const real *inverse_masses; /* (m,) */
    real *rolling;              /* (k, 50) to work in */
} solid_system;

#endif
