/* Solids: the same as numpy_kernels.py, where formulas and sources stand. */
#include "../momentum/turns.h"
#include "cells.h"

#define TURNS 10
#define FITTED 1e-9
#define NEAR 1e-5
#define FAR 10.0
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

/* The turn that brings a rotation towards a deformation, by Newton's method; whether it led there. */
static int find_step(const real f[9], const real r[9], real turn[3])
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
    if (dot(turn, spin) > 0.0 && dot(turn, turn) * along * along <= FAR * FAR * dot(spin, spin))
        return 1;
    for (int a = 0; a < 3; a++)
        turn[a] = spin[a] / along;
    return 0;
}

/* Turns a rotation towards a deformation until it fits, and writes its matrix. */
static void fit(real q[4], const real f[9], real r[9])
{
    matrix_of(q, r);
    for (int number = 0; number < TURNS; number++) {
        real half[3], v[3], around[3], turn[3];
        int leads = find_step(f, r, turn);
        real size = dot(turn, turn);
        if (size <= FITTED * FITTED)
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
        if (leads && size <= NEAR * NEAR)
            return;
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
    for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            slopes[c + a] = dot(cofactors + 3 * a, gradients + c);
    return dot(held, cofactors) - 1.0;
}

/* Adds what a cell opposes moves (3, m) with. */
EACH void add_moved(const solid_cells *cells, const solid_shape *shape, integer e, int width,
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

/* Apart from each other, for a compiler has too few registers for all three at once. */
#define APART static __attribute__((noinline))

APART void add_box(const solid_cells *cells, const solid_shape *shape, integer e, real modulus,
                   const real *moves, integer m, real *found)
{
    const integer *nodes = cells->nodes + STRAIGHT * e, kind = cells->kinds[e];
    const real *slopes = shape->slopes + 3 * STRAIGHT * e;
    real each[3][8], pulls[3][8], growth = 0.0;
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 8; c++)
            each[a][c] = moves[a * m + nodes[c]];
    oppose_box(cells->modes + 72 * cells->boxes[kind], shape->rotations + 9 * e, each, NULL, m,
               nodes, pulls);
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            growth += slopes[3 * c + a] * each[a][c];
    real pressure = FIRST_LAME * cells->volumes[kind] * growth;
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 8; c++)
            found[a * m + nodes[c]] += modulus * (pulls[a][c] + pressure * slopes[3 * c + a]);
}

APART void add_straight(const solid_cells *cells, const solid_shape *shape, integer e, real modulus,
                        const real *moves, integer m, real *found)
{
    add_moved(cells, shape, e, STRAIGHT, modulus, moves, m, found);
}

APART void add_curved(const solid_cells *cells, const solid_shape *shape, integer e, real modulus,
                      const real *moves, integer m, real *found)
{
    add_moved(cells, shape, e, CURVED, modulus, moves, m, found);
}

void add_cells(const solid_lattice *lattice, const solid_shapes *shapes, real modulus,
               const real *moves, real *found)
{
    const solid_cells *straight = &lattice->straight, *curved = &lattice->curved;
    for (integer e = 0; e < straight->count; e++)
        if (straight->boxes[straight->kinds[e]] >= 0)
            add_box(straight, &shapes->straight, e, modulus, moves, lattice->nodes, found);
        else
            add_straight(straight, &shapes->straight, e, modulus, moves, lattice->nodes, found);
    for (integer e = 0; e < curved->count; e++)
        add_curved(curved, &shapes->curved, e, modulus, moves, lattice->nodes, found);
}

/* Adds forces (3, m) of a cell, and finds its shape. */
EACH void add_stress(const solid_lattice *lattice, const solid_cells *cells,
                     const solid_shape *shape, integer e, int width, int boxed, const real *nodes,
                     real modulus, real *forces)
{
    const int count = 3 * width;
    const integer *own = cells->nodes + width * e, kind = cells->kinds[e];
    real *r = shape->rotations + 9 * e, *slopes = shape->slopes + count * e;
    real places[MOST], rest[MOST], local[MOST];
    gather(nodes, lattice->nodes, own, width, places);
    for (int i = count - 1; i >= 0; i--)
        places[i] -= places[i % 3];
    real growth = find_shape(places, cells->gradients + count * kind, width,
                             shape->quaternions + 4 * e, r, slopes);
    real pressure = FIRST_LAME * cells->volumes[kind] * growth;
    if (boxed) {
        real each[3][8], pulls[3][8];
        for (int i = 0; i < 24; i++)
            each[i % 3][i / 3] = places[i];
        oppose_box(cells->modes + 72 * cells->boxes[kind], r, each, lattice->rest, lattice->nodes,
                   own, pulls);
        for (int i = 0; i < 24; i++)
            local[i] = pulls[i % 3][i / 3];
    } else {
        gather(lattice->rest, lattice->nodes, own, width, rest);
        turn_back_all(r, places, width, local);
        for (int i = 0; i < count; i++)
            local[i] -= rest[i] - rest[i % 3];
        multiply(cells->stiffnesses + count * count * kind, local, count, places);
        turn_all(r, places, width, local);
    }
    for (int i = 0; i < count; i++)
        local[i] = -modulus * (local[i] + pressure * slopes[i]);
    scatter(forces, lattice->nodes, own, width, local);
}

APART void add_box_stress(const solid_lattice *lattice, const solid_shape *shape, integer e,
                          const real *nodes, real modulus, real *forces)
{
    add_stress(lattice, &lattice->straight, shape, e, STRAIGHT, 1, nodes, modulus, forces);
}

APART void add_straight_stress(const solid_lattice *lattice, const solid_shape *shape, integer e,
                               const real *nodes, real modulus, real *forces)
{
    add_stress(lattice, &lattice->straight, shape, e, STRAIGHT, 0, nodes, modulus, forces);
}

APART void add_curved_stress(const solid_lattice *lattice, const solid_shape *shape, integer e,
                             const real *nodes, real modulus, real *forces)
{
    add_stress(lattice, &lattice->curved, shape, e, CURVED, 0, nodes, modulus, forces);
}

/* Writes forces (3, m), what opposes moves (3, m), and the shapes. */
EXPORT void find_stress(const solid_lattice *lattice, const real *nodes, const solid_shapes *shapes,
                        real modulus, const real *moves, real *forces, real *opposed)
{
    const solid_cells *straight = &lattice->straight;
    for (integer i = 0; i < 3 * lattice->nodes; i++)
        forces[i] = opposed[i] = 0.0;
    for (integer e = 0; e < straight->count; e++)
        if (straight->boxes[straight->kinds[e]] >= 0)
            add_box_stress(lattice, &shapes->straight, e, nodes, modulus, forces);
        else
            add_straight_stress(lattice, &shapes->straight, e, nodes, modulus, forces);
    for (integer e = 0; e < lattice->curved.count; e++)
        add_curved_stress(lattice, &shapes->curved, e, nodes, modulus, forces);
    add_cells(lattice, shapes, modulus, moves, opposed);
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
