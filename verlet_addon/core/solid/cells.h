/* Cells of a solid, and what they oppose moves with; see numpy_kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "simd.h"

/* elements.py */
#define FIRST_LAME (0.45 / (1.45 * (1.0 - 2.0 * 0.45)))

/* Nodes of cells whose edges are straight, and of those whose edges bend; quadratic_elements.py. */
#define LINEAR_NODES 8
#define QUADRATIC_NODES 20
#define MAX_UNKNOWNS (3 * QUADRATIC_NODES)

/* See Cells; w nodes each, of which some kinds do without some. */
typedef struct {
    const integer *nodes;   /* (h, w) */
    const integer *kinds;   /* (h,) */
    const real *gradients;  /* (k, w, 3) */
    const real *volumes;    /* (k,) */
    integer count, others;  /* h, and o */
    const integer *numbers; /* (o,) of cells that are in no box */
    integer width;          /* w */
    const integer *slots;   /* (k, w) where the nodes stand that a kind needs, these first */
    const integer *widths;  /* (k,) how many these are */
    const integer *starts;  /* (k,) of their tiles */
    const four *tiles;      /* (t, 4) see `pack_tiles` in compiled_kernels.py */
} solid_cells;

/* Boxes: cells that are alike on all sides, four of one kind at a time; see compiled_kernels.py. */
typedef struct {
    integer count;          /* b */
    const integer *filled;  /* (b,) how many of the four there are; others repeat the last */
    const integer *cells;   /* (b, 4) */
    const integer *corners; /* (b, 8, 4) */
    const integer *kinds;   /* (b,) numbers of their modes */
    const real *volumes;    /* (b,) */
    const real *modes;      /* (q, 3, 3, 8) */
    const real *sizes;      /* (3,) */
} solid_boxes;

/* See Lattice. */
typedef struct {
    integer nodes;    /* m */
    const four *rest; /* (m,) */
    solid_cells linear, quadratic;
    solid_boxes boxes;
} solid_lattice;

/* See Shape. */
typedef struct {
    real *quaternions; /* (h, 4) */
    real *rotations;   /* (h, 3, 3) */
    real *volume_gradients;      /* (h, w, 3) */
    real *growths;     /* (h,) of volumes, as shares; to work in, as are */
} solid_corotation;

/* Where boxes lie: their rotations, and by axis what slopes have in common at its ends. */
typedef struct {
    four rotations[9], volume_gradients[3][3], growth;
} solid_box_state;

typedef struct {
    solid_corotation linear, quadratic;
    solid_box_state *boxes; /* (b,) */
} solid_corotations;

/* See Embedding. */
typedef struct {
    integer points, width; /* p and w */
    const integer *nodes;  /* (p, w) */
    const real *weights;   /* (p, w) */
} solid_embedding;

/* Where nodes carry a point. */
static inline void interpolate_point(const solid_embedding *embedding, integer i, const real *rows,
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

/* The same of rows of four. */
ALWAYS_INLINE four interpolate_four(const solid_embedding *embedding, integer i, const four *rows)
{
    const integer width = embedding->width, *corners = embedding->nodes + width * i;
    const real *weights = embedding->weights + width * i;
    four found = broadcast(0.0);
    for (integer c = 0; c < width; c++)
        found += broadcast(weights[c]) * rows[corners[c]];
    return found;
}

/* Writes what cells oppose moves (m,) with, times 1 / E, or strain if `rest` is where nodes are at
   rest and `moves` where they are; after find_stress. */
void multiply_stiffness(const solid_lattice *lattice, const solid_corotations *corotations, const four *rest,
                  const four *moves, four *found);

#endif
