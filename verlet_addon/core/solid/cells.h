/* Cells of a solid, and their stiffness product; see kernels.py. */
#ifndef VERLET_CELLS_H
#define VERLET_CELLS_H

#include "../kernels.h"

/* Four numbers at a time: x, y and z of a node and 0, or the same of four cells side by side. */
typedef four_reals four;

/* Functions that must be inlined, so that vectors stay in registers. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE four broadcast(real value) { return (four){value, value, value, value}; }

/* The first three values, and 0. */
ALWAYS_INLINE four load_three(const real *values) { return (four){values[0], values[1], values[2], 0.0}; }

/* Sum of all four. */
ALWAYS_INLINE real sum(four a) { return (a[0] + a[1]) + (a[2] + a[3]); }

/* Cross product of two vectors, and 0. */
ALWAYS_INLINE four cross_four(four a, four b)
{
    return __builtin_shufflevector(a, a, 1, 2, 0, 3) * __builtin_shufflevector(b, b, 2, 0, 1, 3)
           - __builtin_shufflevector(a, a, 2, 0, 1, 3) * __builtin_shufflevector(b, b, 1, 2, 0, 3);
}

/* Transposes a 4 × 4 matrix. */
ALWAYS_INLINE void transpose(const four rows[4], four columns[4])
{
    four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
    four b = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
    four c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
    four d = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
    columns[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    columns[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    columns[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    columns[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* Converts rows (3, m) to m fours, and back. */
ALWAYS_INLINE void load_rows(const real *rows, integer m, four *found)
{
    for (integer i = 0; i < m; i++)
        found[i] = (four){rows[i], rows[m + i], rows[2 * m + i], 0.0};
}

ALWAYS_INLINE void store_rows(const four *from, integer m, real *rows)
{
    WIDE for (integer i = 0; i < m; i++)
        for (int a = 0; a < 3; a++)
            rows[a * m + i] = from[i][a];
}

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
   positions, and found are negative elastic forces / E; rest positions of `poses`, those of each cell,
   come before these. After find_stress, which sets corotations. */
void multiply_stiffness(const solid_lattice *lattice, const solid_corotation *const *corotations,
                  const cell_pose *const *poses, const four *rest, const four *moves, four *found);

/* Fits quaternion q to the deformation gradient f, and writes its matrix r. */
void fit_rotation(real q[4], const real f[9], real r[9]);

/* Writes elastic forces (3, m), `opposed` = stiffness × moves (3, m), and corotations, for nodes (3, m);
   `poses` may be NULL; `places` and `found` (m,) are workspace. */
void stress_of(const solid_lattice *lattice, const real *nodes, const solid_corotation *const *corotations,
               const cell_pose *const *poses, real modulus, const real *moves, real *forces, real *opposed,
               four *places, four *found);

#endif
