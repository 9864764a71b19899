/* What holds and what stops a solid, and the system that both are part of; see numpy_contact_solver.py. */
#ifndef VERLET_CONTACT_SOLVER_H
#define VERLET_CONTACT_SOLVER_H

#include "rigid_modes.h"

/* See Stops. */
typedef struct {
    integer points; /* p */
    const real *normals;     /* (3, p) */
    const real *levels;      /* (p,) */
    const real *frictions;   /* (p,) */
    const real *stiffnesses; /* (p,) */
    real *start, *anchors;   /* (3, p) */
    real *friction_stiffnesses, *normal_forces;     /* (p,) */
} point_contacts;

/* See Part. */
typedef struct {
    const solid_lattice *lattice;
    const solid_corotations *corotations;
    real stiffness;
} solid_part;

/* See System. */
typedef struct {
    integer nodes, count; /* m, and b */
    const solid_part *parts; /* (b,) */
    const solid_embedding *embedding;
    const real *masses;           /* (m,) */
    const real *diagonal;         /* (m,) */
    real *predicted;                /* (3, p) */
    integer springs;                /* g */
    const integer *sprung_points;          /* (g,) */
    const real *spring_stiffnesses; /* (g,) */
    real *targets;                /* (3, g) */
    const point_contacts *contacts;
    integer pieces;        /* k */
    const integer *labels; /* (m,) */
    real *predicted_nodes;          /* (3, m) */
    solid_piece *rigid_pieces;    /* (k,) to work in, as are (m, 3) and (m,): */
    four *blocks, *moves, *forces, *residual, *ahead, *search, *along, *arms;
    const real *inverse_masses; /* (m,) */
    real *rolling;              /* (k, 50) to work in */
} solid_system;

#endif
