/* Solids: the same as kernels.py, which has the formulas and sources. */
#include "../momentum/rotations.h"
#include "../team/team.h"
#include "cells.h"

/* Deformation gradient F = Σ x ∇N, and F scaled to |F|² ≤ MAX_SQUARED_STRETCH. */
ALWAYS_INLINE void deformation_gradient(const real *places, const real *gradients, int width, real f[9], real clamped[9])
{
    real square = 0.0;
    clear(f, 9);
    for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                f[3 * a + k] += places[c + a] * gradients[c + k];
    for (int k = 0; k < 9; k++)
        square += f[k] * f[k];
    real share = smaller(1.0, __builtin_sqrt(MAX_SQUARED_STRETCH / larger(square, NONZERO)));
    for (int k = 0; k < 9; k++)
        clamped[k] = f[k] * share;
}

/* Rotation vector of one round of the fit: Newton's step, or Müller's where that would descend. */
static void rotation_step(const real f[9], const real r[9], real turn[3])
{
    real m[9];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            m[3 * a + b] = dot(f + 3 * a, r + 3 * b);
    const real second[6] = {m[0], m[4], m[8], 0.5 * (m[5] + m[7]), 0.5 * (m[2] + m[6]),
                            0.5 * (m[1] + m[3])};
    const real spin[3] = {m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    real trace = m[0] + m[4] + m[8], along = (trace < 0.0 ? -trace : trace) + 1e-9;
    find_rotation_vector(second, spin, turn);
    if (dot(turn, spin) > 0.0)
        return;
    for (int a = 0; a < 3; a++)
        turn[a] = spin[a] / along;
}

void fit_rotation(real q[4], const real f[9], real r[9])
{
    quaternion_matrix(q, r);
    for (int number = 0; number < ROTATION_ROUNDS; number++) {
        real half[3], v[3], around[3], turn[3];
        rotation_step(f, r, turn);
        if (dot(turn, turn) <= ROTATION_TOLERANCE * ROTATION_TOLERANCE)
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
        quaternion_matrix(q, r);
    }
}

/* Writes rotation and volume gradients of a cell with nodes at places (w, 3); returns J - 1. */
ALWAYS_INLINE real update_corotation(const real *places, const real *gradients, int width, real quaternion[4],
                     real rotation[9], real *volume_gradients)
{
    real f[9], clamped[9], cofactors[9];
    deformation_gradient(places, gradients, width, f, clamped);
    fit_rotation(quaternion, f, rotation);
    for (int a = 0; a < 3; a++)
        cross(clamped + 3 * ((a + 1) % 3), clamped + 3 * ((a + 2) % 3), cofactors + 3 * a);
    WIDE for (int c = 0; c < 3 * width; c += 3)
        for (int a = 0; a < 3; a++)
            volume_gradients[c + a] = dot(cofactors + 3 * a, gradients + c);
    return dot(clamped, cofactors) - 1.0;
}

/* Starts the rotation of cell e from that of its pose if it is more than 90° from there. */
static void return_to_pose(const solid_corotation *corotation, const cell_pose *pose, integer e)
{
    const real *posed = pose->quaternions + 4 * e;
    real *own = corotation->quaternions + 4 * e, agreement = dot(own, posed) + own[3] * posed[3];
    if (agreement * agreement < 0.5)
        copy(own, posed, 4);
}

/* Makes the volume of cell e relative to that at rest: growth and gradients are scaled so that their
   product is the pressure on its nodes, and that of the gradients its change. */
static void relate_volume(const solid_cells *cells, const solid_corotation *corotation, real ratio, integer e)
{
    real scale = 1.0 / __builtin_sqrt(ratio), *growth = corotation->growths + e;
    real *gradients = corotation->volume_gradients + 3 * cells->width * e;
    *growth = ((*growth + 1.0) / ratio - 1.0) / scale;
    for (integer k = 0; k < 3 * cells->width; k++)
        gradients[k] *= scale;
}

/* Updates the corotation of cell e, for nodes (m,). */
static void update_cell(const solid_cells *cells, const solid_corotation *corotation, integer e,
                       const four *nodes)
{
    const int width = (int)cells->width;
    const integer *own = cells->nodes + width * e, kind = cells->kinds[e];
    real places[MAX_UNKNOWNS];
    for (int c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            places[3 * c + a] = nodes[own[c]][a] - nodes[own[0]][a];
    corotation->growths[e] =
        update_corotation(places, cells->gradients + 3 * width * kind, width, corotation->quaternions + 4 * e,
                   corotation->rotations + 9 * e, corotation->volume_gradients + 3 * width * e);
}

typedef struct {
    const solid_cells *cells;
    const solid_corotation *corotation;
    const cell_pose *pose;
    const four *nodes;
} corotation_loop;

static void update_cells(const void *loop, integer part, real *scratch)
{
    const corotation_loop *of = loop;
    integer end = end_of(part, CELL_PART, of->cells->count);
    (void)scratch;
    for (integer e = part * CELL_PART; e < end; e++) {
        if (of->pose)
            return_to_pose(of->corotation, of->pose, e);
        update_cell(of->cells, of->corotation, e, of->nodes);
        if (of->pose)
            relate_volume(of->cells, of->corotation, of->pose->ratios[e], e);
    }
}

/* Packs the corotations of boxes for SIMD. */
SMALL static void pack_boxes(const solid_boxes *boxes, const solid_corotation *corotation)
{
    for (integer i = 0; i < 4 * boxes->count; i++) {
        integer e = boxes->cells[i], lane = i % 4, own = lane < boxes->filled[i / 4];
        solid_box_state *box = corotation->boxes + i / 4;
        const real *volume_gradients = corotation->volume_gradients + 3 * LINEAR_NODES * e;
        box->growth[lane] = corotation->growths[e];
        for (int k = 0; k < 9; k++)
            box->rotations[k][lane] = own ? corotation->rotations[9 * e + k] : 0.0;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++)
                box->volume_gradients[k][a][lane] = own ? 0.5 * (volume_gradients[a] - volume_gradients[3 * (4 >> k) + a]) : 0.0;
    }
}

void stress_of(const solid_lattice *lattice, const real *nodes, const solid_corotation *const *corotations,
               const cell_pose *const *poses, real modulus, const real *moves, real *forces, real *opposed,
               four *places, four *found)
{
    integer m = lattice->nodes;
    load_rows(nodes, m, places);
    for (integer i = 0; i < lattice->groups_count; i++) {
        corotation_loop loop = {lattice->groups[i], corotations[i], poses ? poses[i] : NULL, places};
        share(parts_of(loop.cells->count, CELL_PART), update_cells, &loop, 0, NULL);
    }
    pack_boxes(lattice->boxes, corotations[0]);
    multiply_stiffness(lattice, corotations, poses, lattice->rest, places, found);
    for (integer i = 0; i < m; i++)
        found[i] *= broadcast(-modulus);
    store_rows(found, m, forces);
    load_rows(moves, m, places);
    multiply_stiffness(lattice, corotations, NULL, NULL, places, found);
    for (integer i = 0; i < m; i++)
        found[i] *= broadcast(modulus);
    store_rows(found, m, opposed);
}

/* The same; `work` is (2, m, 4). */
EXPORT void find_stress(const solid_lattice *lattice, const real *nodes, const solid_corotation *const *corotations,
                        integer count, real modulus, const real *moves, real *forces, real *opposed, real *work)
{
    four *places = (four *)work;
    (void)count;
    stress_of(lattice, nodes, corotations, NULL, modulus, moves, forces, opposed, places, places + lattice->nodes);
}

EXPORT void find_posed_stress(const solid_lattice *lattice, const real *nodes,
                              const solid_corotation *const *corotations, integer count,
                              const cell_pose *const *poses, integer poses_count, real modulus, const real *moves,
                              real *forces, real *opposed, real *work)
{
    four *places = (four *)work;
    (void)count;
    (void)poses_count;
    stress_of(lattice, nodes, corotations, poses, modulus, moves, forces, opposed, places, places + lattice->nodes);
}

/* Writes points (3, p), interpolated from nodes (3, m), to `found`. */
EXPORT void interpolate(const solid_embedding *embedding, const real *nodes, integer m, real *found)
{
    integer p = embedding->points;
    for (integer i = 0; i < p; i++) {
        real place[3];
        interpolate_point(embedding, i, nodes, m, place);
        for (int a = 0; a < 3; a++)
            found[a * p + i] = place[a];
    }
}
