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
    const integer *boxes;    /* (k,) its number among kinds that are alike on all sides, or −1 */
    const real *modes;       /* (b, 3, 3, 8) of these; see compiled_kernels.py */
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

/* Sums and differences of values at the corners along each axis; twice done, 8 times as large. */
EACH void add_and_subtract(real v[8])
{
    real sums[8], more[8];
    for (int i = 0; i < 4; i++) {
        sums[i] = v[i] + v[i + 4];
        sums[i + 4] = v[i] - v[i + 4];
    }
    for (int i = 0; i < 2; i++) {
        more[i] = sums[i] + sums[i + 2];
        more[i + 2] = sums[i] - sums[i + 2];
        more[i + 4] = sums[i + 4] + sums[i + 6];
        more[i + 6] = sums[i + 4] - sums[i + 6];
    }
    for (int i = 0; i < 8; i += 2) {
        v[i] = more[i] + more[i + 1];
        v[i + 1] = more[i] - more[i + 1];
    }
}

/* Puts what is odd along an axis where what is even was, in rows that belong to x, y and z. */
EACH void swap_own(real from[3][8], real to[3][8])
{
    for (int i = 0; i < 8; i++) {
        to[0][i] = from[0][i ^ 4];
        to[1][i] = from[1][i ^ 2];
        to[2][i] = from[2][i ^ 1];
    }
}

/* A cell that is alike on all sides: sums and differences of its corners go together three by
   three, x, y and z with what is odd along the same axes but for their own; all are (3, 8). */
EACH void multiply_box(const real *modes, real moves[3][8], real pulls[3][8])
{
    real sums[3][8], found[3][8];
    for (int a = 0; a < 3; a++)
        add_and_subtract(moves[a]);
    swap_own(moves, sums);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 8; i++)
            found[a][i] = modes[24 * a + i] * sums[0][i] + modes[24 * a + 8 + i] * sums[1][i]
                          + modes[24 * a + 16 + i] * sums[2][i];
    swap_own(found, pulls);
    for (int a = 0; a < 3; a++)
        add_and_subtract(pulls[a]);
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

/* Of a cell that is alike on all sides: R K u of moves (3, 8) less how it is at rest. */
EACH void oppose_box(const real *modes, const real *r, real each[3][8], const real *rest, integer m,
                     const integer *nodes, real pulls[3][8])
{
    real local[3][8], found[3][8];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 8; c++)
            local[a][c] = r[a] * each[0][c] + r[3 + a] * each[1][c] + r[6 + a] * each[2][c];
    if (rest)
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 8; c++)
                local[a][c] -= rest[a * m + nodes[c]] - rest[a * m + nodes[0]];
    multiply_box(modes, local, found);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 8; c++)
            pulls[a][c] = r[3 * a] * found[0][c] + r[3 * a + 1] * found[1][c]
                          + r[3 * a + 2] * found[2][c];
}

/* Adds what all cells oppose moves (3, m) with. */
void add_cells(const solid_lattice *lattice, const solid_shapes *shapes, real modulus,
               const real *moves, real *found);

#endif
