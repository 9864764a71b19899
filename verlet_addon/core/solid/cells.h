/* Cells of a solid, and what they oppose moves with; see numpy_kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "../kernels.h"

/* elements.py */
#define FIRST_LAME (0.45 / (1.45 * (1.0 - 2.0 * 0.45)))

/* See Lattice. */
typedef struct {
    integer cells, nodes;      /* h and m */
    const integer *corners;    /* (h, 8) */
    const integer *kinds;      /* (h,) */
    const real *stiffnesses;   /* (k, 24, 24) */
    const real *gradients;     /* (k, 8, 3) */
    const real *volumes;       /* (k,) */
    const real *rest;          /* (3, m) */
} solid_lattice;

/* See Shape. */
typedef struct {
    real *rotations; /* (h, 3, 3) */
    real *slopes;    /* (h, 8, 3) */
} solid_shape;

/* See Embedding. */
typedef struct {
    integer points, width; /* p and w */
    const integer *nodes;  /* (p, w) */
    const real *weights;   /* (p, w) */
} solid_embedding;

static inline void gather(const real *rows, integer n, const integer corners[8], real found[24])
{
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            found[3 * c + a] = rows[a * n + corners[c]];
}

static inline void scatter(real *rows, integer n, const integer corners[8], const real values[24])
{
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            rows[a * n + corners[c]] += values[3 * c + a];
}

/* Turns vectors at the corners by a rotation, or back by its inverse. */
static inline void turn_all(const real r[9], const real from[24], real to[24])
{
    for (int c = 0; c < 24; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[3 * a] * from[c] + r[3 * a + 1] * from[c + 1] + r[3 * a + 2] * from[c + 2];
}

static inline void turn_back_all(const real r[9], const real from[24], real to[24])
{
    for (int c = 0; c < 24; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[a] * from[c] + r[3 + a] * from[c + 1] + r[6 + a] * from[c + 2];
}

/* A symmetric matrix times a vector, row by row as vector instructions like it. */
static inline void multiply(const real matrix[576], const real vector[24], real found[24])
{
    for (int i = 0; i < 24; i++)
        found[i] = 0.0;
    for (int j = 0; j < 24; j++) {
        const real *row = matrix + 24 * j;
        const real value = vector[j];
        for (int i = 0; i < 24; i++)
            found[i] += row[i] * value;
    }
}

/* Where nodes carry a point. */
static inline void carried(const solid_embedding *embedding, integer i, const real *rows,
                           integer m, real found[3])
{
    const integer width = embedding->width, *corners = embedding->nodes + width * i;
    const real *weights = embedding->weights + width * i;
    for (int a = 0; a < 3; a++)
        found[a] = 0.0;
    for (integer c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            found[a] += weights[c] * rows[a * m + corners[c]];
}

/* Adds what a cell opposes moves with. */
static inline void add_cell(const solid_lattice *lattice, const solid_shape *shape, integer e,
                            real modulus, const real *moves, real *found)
{
    const integer *corners = lattice->corners + 8 * e, kind = lattice->kinds[e];
    const real *r = shape->rotations + 9 * e, *slopes = shape->slopes + 24 * e;
    real each[24], local[24], pulls[24], growth = 0.0;
    gather(moves, lattice->nodes, corners, each);
    turn_back_all(r, each, local);
    multiply(lattice->stiffnesses + 576 * kind, local, pulls);
    turn_all(r, pulls, local);
    for (int i = 0; i < 24; i++)
        growth += slopes[i] * each[i];
    real pressure = FIRST_LAME * lattice->volumes[kind] * growth;
    for (int i = 0; i < 24; i++)
        local[i] = modulus * (local[i] + pressure * slopes[i]);
    scatter(found, lattice->nodes, corners, local);
}

#endif
