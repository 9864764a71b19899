/* Cells of a solid, and what they oppose moves with; see numpy_kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "../kernels.h"

/* elements.py */
#define FIRST_LAME (0.45 / (1.45 * (1.0 - 2.0 * 0.45)))

/* Nodes of cells whose edges are straight, and of those whose edges bend; curved.py. */
#define STRAIGHT 8
#define CURVED 20
#define MOST (3 * CURVED)

/* See Cells; w nodes each. */
typedef struct {
    integer count;           /* h */
    const integer *nodes;    /* (h, w) */
    const integer *kinds;    /* (h,) */
    const real *stiffnesses; /* (k, 3 w, 3 w) */
    const real *gradients;   /* (k, w, 3) */
    const real *volumes;     /* (k,) */
} solid_cells;

/* See Lattice. */
typedef struct {
    integer nodes;    /* m */
    const real *rest; /* (3, m) */
    solid_cells straight, curved;
} solid_lattice;

/* See Shape. */
typedef struct {
    real *quaternions; /* (h, 4) */
    real *rotations;   /* (h, 3, 3) */
    real *slopes;      /* (h, w, 3) */
} solid_shape;

typedef struct {
    solid_shape straight, curved;
} solid_shapes;

/* See Embedding. */
typedef struct {
    integer points, width; /* p and w */
    const integer *nodes;  /* (p, w) */
    const real *weights;   /* (p, w) */
} solid_embedding;

/* What follows is made for 8 and for 20 nodes, each of which the compiler unrolls. */
#define EACH static inline __attribute__((always_inline))

EACH void gather(const real *rows, integer n, const integer *nodes, int width, real *found)
{
    for (int c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            found[3 * c + a] = rows[a * n + nodes[c]];
}

EACH void scatter(real *rows, integer n, const integer *nodes, int width, const real *values)
{
    for (int c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            rows[a * n + nodes[c]] += values[3 * c + a];
}

/* Turns vectors at the nodes by a rotation, or back by its inverse. */
EACH void turn_all(const real r[9], const real *from, int width, real *to)
{
    for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[3 * a] * from[c] + r[3 * a + 1] * from[c + 1] + r[3 * a + 2] * from[c + 2];
}

EACH void turn_back_all(const real r[9], const real *from, int width, real *to)
{
    for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[a] * from[c] + r[3 + a] * from[c + 1] + r[6 + a] * from[c + 2];
}

/* A symmetric matrix times a vector, row by row as vector instructions like it. */
EACH void multiply(const real *matrix, const real *vector, int count, real *found)
{
    for (int i = 0; i < count; i++)
        found[i] = 0.0;
    for (int j = 0; j < count; j++) {
        const real *row = matrix + count * j;
        const real value = vector[j];
        for (int i = 0; i < count; i++)
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

/* Adds what a cell opposes moves (3, m) with. */
EACH void add_cell(const solid_cells *cells, const solid_shape *shape, integer e, int width,
                   real modulus, const real *moves, integer m, real *found)
{
    const int count = 3 * width;
    const integer *nodes = cells->nodes + width * e, kind = cells->kinds[e];
    const real *r = shape->rotations + 9 * e, *slopes = shape->slopes + count * e;
    real each[MOST], local[MOST], pulls[MOST], growth = 0.0;
    gather(moves, m, nodes, width, each);
    turn_back_all(r, each, width, local);
    multiply(cells->stiffnesses + count * count * kind, local, count, pulls);
    turn_all(r, pulls, width, local);
    for (int i = 0; i < count; i++)
        growth += slopes[i] * each[i];
    real pressure = FIRST_LAME * cells->volumes[kind] * growth;
    for (int i = 0; i < count; i++)
        local[i] = modulus * (local[i] + pressure * slopes[i]);
    scatter(found, m, nodes, width, local);
}

#endif
