/* Nodes of rods in one step; see kernels.c. */
#ifndef VERLET_RODS_H
#define VERLET_RODS_H

#include "../linear/inverses.h"
#include "../linear/quaternions.h"

/* A node of a rod and the segment that ends there, in one step: NODE_REALS numbers.

   Its part of the system has unknowns x, the displacement of its particle, and t, the turn of its
   segment. Blocks of the diagonal are named by rows and columns, and those beside the parent's
   unknowns X, T likewise; x does not depend on T. Once eliminated, t = turn - tX X - tT T and
   x = move - xX X - xt t. */
typedef struct {
    real at_rest[3], predicted[3], start_angles[3]; /* direction; position; bends and twist σ₀ */
    real rotation[9];
    real xx[9], tx[9], tt[9], xX[9], tX[9], tT[9], xt[9];
    real force[3], moment[3], move[3], turn[3];
    real is_limited, pressure; /* whether an angle limit acts; its moment */
} segment;

typedef char node_reals_is_size[sizeof(segment) == NODE_REALS * sizeof(real) ? 1 : -1];

/* One tree of rods: its first node, their number, and the segments of these. */
typedef struct {
    const real *rest;
    real *positions;
    integer n, first, count;
    const rod_batch *rods;
    segment *segments;
} rod_tree;

static inline segment *parent_of(const rod_tree *of, integer node)
{
    return of->segments + of->rods->parents[of->first + node] - of->first;
}

static inline real *rotation_of(const rod_tree *of, integer node)
{
    return of->rods->rotations + 4 * (of->first + node);
}

static inline void unit(real v[3])
{
    real share = 1.0 / distance(v[0], v[1], v[2]);
    for (int i = 0; i < 3; i++)
        v[i] *= share;
}

/* found = the vector from one particle to another. */
static inline void between(const real *rows, integer n, integer from, integer to, real found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] = rows[i * n + to] - rows[i * n + from];
}

/* Whether neither the particle of a node nor its segment moves. */
static inline int is_fixed(const rod_batch *rods, integer at)
{
    return !(rods->inverse_masses[at] > 0.0) && (rods->parents[at] < 0 || rods->clamped[at]);
}

/* A segment's rotation after the displacements that were solved for. */
static inline void turned_rotation(const rod_tree *of, integer node, real found[4])
{
    const real *turn = of->segments[node].turn;
    real half[3] = {0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]};
    real share = 1.0 / __builtin_sqrt(1.0 + dot(half, half));
    real q[4] = {share, half[0] * share, half[1] * share, half[2] * share};
    multiply_quaternions(q, rotation_of(of, node), found);
}

#endif
