/* Solids: the same as numpy_kernels.py, where formulas and sources stand. */
#include "../momentum/turns.h"
#include "cells.h"

#define ROTATION_ROUNDS 10
#define FITTED 1e-9
#define LARGEST 8.0

/* F = Σ x ∇N, and the same held to LARGEST. */
EACH void deform(const real *places, const real *gradients, int width, real f[9], real held[9])
{
    real square = 0.0;
    for (int k = 0; k < 9; k++)
        f[k] = 0.0;
    for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                f[3 * a + k] += places[c + a] * gradients[c + k];
    for (int k = 0; k < 9; k++)
        square += f[k] * f[k];
    real share = smaller(1.0, __builtin_sqrt(LARGEST / larger(square, NONZERO)));
    for (int k = 0; k < 9; k++)
        held[k] = f[k] * share;
}

static void matrix_of(const real q[4], real r[9])
{
    real w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - w * z), r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y), r[7] = 2 * (y * z + w * x), r[8] = 1 - 2 * (x * x + y * y);
}

/* The turn that brings a rotation towards a deformation, by Newton's method if that leads there. */
static void find_step(const real f[9], const real r[9], real turn[3])
{
    real m[9];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            m[3 * a + b] = dot(f + 3 * a, r + 3 * b);
    const real second[6] = {m[0], m[4], m[8], 0.5 * (m[5] + m[7]), 0.5 * (m[2] + m[6]),
                            0.5 * (m[1] + m[3])};
    const real spin[3] = {m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    real trace = m[0] + m[4] + m[8], along = (trace < 0.0 ? -trace : trace) + 1e-9;
    find_turn(second, spin, turn);
    if (dot(turn, spin) > 0.0)
        return;
    for (int a = 0; a < 3; a++)
        turn[a] = spin[a] / along;
}

/* Turns a rotation towards a deformation until it fits, and writes its matrix. */
static void fit(real q[4], const real f[9], real r[9])
{
    matrix_of(q, r);
    for (int number = 0; number < ROTATION_ROUNDS; number++) {
        real half[3], v[3], around[3], turn[3];
        find_step(f, r, turn);
        if (dot(turn, turn) <= FITTED * FITTED)
            return;
        for (int a = 0; a < 3; a++) {
            half[a] = 0.5 * turn[a];
            v[a] = q[1 + a];
        }
        cross(half, v, around);
        real w = q[0], next[4] = {w - dot(half, v)};
        for (int a = 0; a < 3; a++)
            next[1 + a] = v[a] + w * half[a] + around[a];
        real length = __builtin_sqrt(next[0] * next[0] + dot(next + 1, next + 1));
        for (int k = 0; k < 4; k++)
            q[k] = next[k] / length;
        matrix_of(q, r);
    }
}

/* How a cell at these places is turned and strained; the growth of its volume, as a share. */
EACH real find_shape(const real *places, const real *gradients, int width, real quaternion[4],
                     real rotation[9], real *slopes)
{
    real f[9], held[9], cofactors[9];
    deform(places, gradients, width, f, held);
    fit(quaternion, f, rotation);
    for (int a = 0; a < 3; a++)
        cross(held + 3 * ((a + 1) % 3), held + 3 * ((a + 2) % 3), cofactors + 3 * a);
    WIDE for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            slopes[c + a] = dot(cofactors + 3 * a, gradients + c);
    return dot(held, cofactors) - 1.0;
}

/* Finds the shape of a cell of nodes at places (m,). */
static void shape_cell(const solid_cells *cells, const solid_shape *shape, integer e,
                       const four *nodes)
{
    const int width = (int)cells->width;
    const integer *own = cells->nodes + width * e, kind = cells->kinds[e];
    real places[MOST];
    for (int c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            places[3 * c + a] = nodes[own[c]][a] - nodes[own[0]][a];
    shape->growths[e] =
        find_shape(places, cells->gradients + 3 * width * kind, width, shape->quaternions + 4 * e,
                   shape->rotations + 9 * e, shape->slopes + 3 * width * e);
}

/* Puts the shapes of boxes side by side. */
SMALL static void line_up(const solid_boxes *boxes, const solid_shapes *shapes)
{
    const solid_shape *shape = &shapes->straight;
    for (integer i = 0; i < 4 * boxes->count; i++) {
        integer e = boxes->cells[i], lane = i % 4, own = lane < boxes->filled[i / 4];
        solid_place *place = shapes->places + i / 4;
        const real *slopes = shape->slopes + 3 * STRAIGHT * e;
        place->growth[lane] = shape->growths[e];
        for (int k = 0; k < 9; k++)
            place->turns[k][lane] = own ? shape->rotations[9 * e + k] : 0.0;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++)
                place->slopes[k][a][lane] = own ? 0.5 * (slopes[a] - slopes[3 * (4 >> k) + a]) : 0.0;
    }
}

/* Writes forces (3, m), what opposes moves (3, m), and the shapes; `work` is (2, m, 4). */
EXPORT void find_stress(const solid_lattice *lattice, const real *nodes, const solid_shapes *shapes,
                        real modulus, const real *moves, real *forces, real *opposed, four *work)
{
    const solid_cells *straight = &lattice->straight, *curved = &lattice->curved;
    integer m = lattice->nodes;
    four *places = work, *found = work + m;
    take(nodes, m, places);
    for (integer e = 0; e < straight->count; e++)
        shape_cell(straight, &shapes->straight, e, places);
    for (integer e = 0; e < curved->count; e++)
        shape_cell(curved, &shapes->curved, e, places);
    line_up(&lattice->boxes, shapes);
    oppose_moves(lattice, shapes, lattice->rest, places, found);
    for (integer i = 0; i < m; i++)
        found[i] *= alike(-modulus);
    give(found, m, forces);
    take(moves, m, places);
    oppose_moves(lattice, shapes, NULL, places, found);
    for (integer i = 0; i < m; i++)
        found[i] *= alike(modulus);
    give(found, m, opposed);
}

EXPORT void interpolate(const solid_embedding *embedding, const real *nodes, integer m, real *found)
{
    integer p = embedding->points;
    for (integer i = 0; i < p; i++) {
        real place[3];
        carried(embedding, i, nodes, m, place);
        for (int a = 0; a < 3; a++)
            found[a * p + i] = place[a];
    }
}
