/* Cells of a solid, and their stiffness product; see numpy_kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "simd.h"

/* elements.py */
#define FIRST_LAME (0.45 / (1.45 * (1.0 - 2.0 * 0.45)))

/* Nodes of linear and of quadratic cells; quadratic_elements.py. */
#define LINEAR_NODES 8
#define QUADRATIC_NODES 20
#define MAX_UNKNOWNS (3 * QUADRATIC_NODES)

/* See Cells: h cells of k kinds with w nodes, of which some kinds do not use all. */
typedef struct {
    const integer *nodes;   /* (h, w) */
    const integer *kinds;   /* (h,) */
    const real *gradients;  /* (k, w, 3) */
    const real *volumes;    /* (k,) */
    integer count, others;  /* h, and o cells that are no boxes */
    const integer *numbers; /* (o,) cells that are no boxes */
    integer width;          /* w */
    const integer *slots;   /* (k, w) node numbers of a kind, those in use first */
    const integer *widths;  /* (k,) numbers of nodes in use */
    const integer *starts;  /* (k,) index of the first tile */
    const four *tiles;      /* (t, 4) see `pack_tiles` in compiled_kernels.py */
} solid_cells;

/* Boxes: cells that are symmetric about their mid-planes, in groups of four of one kind; see
   `_find_boxes` in compiled_kernels.py. */
typedef struct {
    integer count;          /* b groups */
    const integer *filled;  /* (b,) number of cells in the group; further places repeat the last */
    const integer *cells;   /* (b, 4) */
    const integer *corners; /* (b, 8, 4) */
    const integer *kinds;   /* (b,) index in modes */
    const real *volumes;    /* (b,) */
    const real *modes;      /* (q, 3, 3, 8) stiffness blocks */
    const real *sizes;      /* (3,) edge lengths of a cell */
} solid_boxes;

/* See Lattice. */
typedef struct {
    integer nodes;    /* m */
    const four *rest; /* (m,) */
    solid_cells linear, quadratic;
    solid_boxes boxes;
} solid_lattice;

/* See Corotation. */
typedef struct {
    real *quaternions; /* (h, 4) */
    real *rotations;   /* (h, 3, 3) */
    real *volume_gradients;      /* (h, w, 3) */
    real *growths;     /* (h,) relative volume changes J - 1; workspace */
} solid_corotation;

/* Corotations of four boxes. Volume gradients of a box consist of three modes, one odd along each axis;
   volume_gradients[axis] is the amplitude of each. */
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

/* Interpolates point i from rows (3, m). */
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

/* Interpolates point i from rows (m,) of four. */
ALWAYS_INLINE four interpolate_four(const solid_embedding *embedding, integer i, const four *rows)
{
    const integer width = embedding->width, *corners = embedding->nodes + width * i;
    const real *weights = embedding->weights + width * i;
    four found = broadcast(0.0);
    for (integer c = 0; c < width; c++)
        found += broadcast(weights[c]) * rows[corners[c]];
    return found;
}

/* found (m,) = tangent stiffness / E times moves (m,). If `rest` positions are given, `moves` are
   positions, and found are negative elastic forces / E. After find_stress, which sets corotations. */
void multiply_stiffness(const solid_lattice *lattice, const solid_corotations *corotations, const four *rest,
                  const four *moves, four *found);

#endif
