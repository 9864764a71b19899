/* Cells of a solid, and their stiffness product; see kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "simd.h"

/* Nodes of linear cells. */
#define LINEAR_NODES 8
#define MAX_UNKNOWNS (3 * QUADRATIC_NODES)

/* Corotations of four boxes. Volume gradients of a box consist of three modes, one odd along each axis;
   volume_gradients[axis] is the amplitude of each. */
typedef struct solid_box_state {
    four rotations[9], volume_gradients[3][3], growth;
} solid_box_state;

_Static_assert(sizeof(solid_box_state) == BOX_NUMBERS * sizeof(four), "kernels.py");

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
