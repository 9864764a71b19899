/* Contacts and pins of a solid, and its system of equations; see numpy_contact_solver.py. */
#ifndef VERLET_CONTACT_SOLVER_H
#define VERLET_CONTACT_SOLVER_H

#include "rigid_modes.h"

/* See PointContacts. */
typedef struct {
    integer points; /* p */
    const real *normals;     /* (3, p) */
    const real *levels;      /* (p,) */
    const real *frictions;   /* (p,) */
    const real *stiffnesses; /* (p,) */
    real *start, *anchors;   /* (3, p) */
    real *friction_stiffnesses, *normal_forces;     /* (p,) */
} point_contacts;

/* See SolidPart. */
typedef struct {
    const solid_lattice *lattice;
    const solid_corotations *corotations;
    real stiffness;
} solid_part;

/* See SolidSystem. */
typedef struct {
    integer nodes, count; /* m nodes, b parts */
    const solid_part *parts; /* (b,) */
    const solid_embedding *embedding;
    const real *masses;           /* (m,) */
    const real *diagonal;         /* (m,) */
    real *predicted;                /* (3, p) */
    integer springs;                /* g pins and soft pins */
    const integer *sprung_points;          /* (g,) */
    const real *spring_stiffnesses; /* (g,) */
    real *targets;                /* (3, g) */
    const point_contacts *contacts;
    integer pieces;        /* k free components */
    const integer *labels; /* (m,) */
    real *predicted_nodes;          /* (3, m) */
    solid_piece *rigid_pieces;    /* (k,) workspace, like (m, 3) blocks and (m,): */
    four *blocks, *moves, *forces, *residual, *ahead, *search, *along, *arms;
    const real *inverse_masses; /* (m,) */
    real *rolling;              /* (k, 50) workspace */
} solid_system;

#endif
