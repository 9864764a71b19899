/* Nodes of two trees of rods in one step; see kernels.c. */
#ifndef VERLET_RODS_H
#define VERLET_RODS_H

#include "../linear/quaternions.h"
#include "lanes.h"

/* A node of each tree and the segment that ends there, in one step: NODE_REALS numbers.

   Its part of the system has unknowns x, the displacement of its particle, and t, the turn of its
   segment. Blocks of the diagonal are named by rows and columns, and those beside the parent's
   unknowns X, T likewise; x does not depend on T. Once eliminated, t = turn - tT T - tX X and
   x = move - xX X - xt t. */
typedef struct {
    lane at_rest[3], predicted[3], start_angles[3]; /* direction; position; bends and twist σ₀ */
    lane rotation[9];
    lane xx[9], tx[9], tt[9], xX[9], tX[9], tT[9], xt[9];
    lane force[3], moment[3], move[3], turn[3];
    real is_limited, pressure; /* whether an angle limit acts; its moment */
} segment;

typedef char node_reals_is_size[sizeof(segment) == NODE_REALS * sizeof(real) ? 1 : -1];

/* Two trees of rods of the same shape and without angle limits, or one of any kind in both lanes:
   their first nodes, the number of these, and the segments. What depends on the shape is read from
   the first lane. */
typedef struct {
    const real *rest;
    real *positions;
    integer n, first[2], count, lanes;
    const rod_batch *rods;
    segment *segments;
} rod_trees;

/* The parent of a node in its tree; negative for a root. */
static inline integer parent_in(const rod_trees *of, integer node)
{
    return of->rods->parents[of->first[0] + node] - of->first[0];
}

static inline segment *parent_of(const rod_trees *of, integer node)
{
    return of->segments + parent_in(of, node);
}

static inline int is_root(const rod_trees *of, integer node)
{
    return of->rods->parents[of->first[0] + node] < 0;
}

/* Numbers of a node of each lane. */
static inline void find_nodes(const rod_trees *of, integer node, integer found[2])
{
    found[0] = of->first[0] + node;
    found[1] = of->first[1] + node;
}

/* The rotation of a segment of one lane. */
static inline real *rotation_of(const rod_trees *of, integer node, integer lane_number)
{
    return of->rods->rotations + 4 * (of->first[lane_number] + node);
}

static inline void read_rotations(const rod_trees *of, integer node, lane found[4])
{
    const real *a = rotation_of(of, node, 0), *b = rotation_of(of, node, 1);
    for (int i = 0; i < 4; i++)
        found[i] = (lane){a[i], b[i]};
}

/* Positions (3,) of a node's particles in rows (3, n). */
static inline void read_places(const real *rows, const rod_trees *of, integer node, lane found[3])
{
    const integer *particles = of->rods->particles + node;
    integer a = particles[of->first[0]], b = particles[of->first[1]];
    for (int i = 0; i < 3; i++)
        found[i] = (lane){rows[i * of->n + a], rows[i * of->n + b]};
}

/* found = the vectors from a node's parent to it in rows (3, n). */
static inline void find_segments(const real *rows, const rod_trees *of, integer node, lane found[3])
{
    lane start[3];
    read_places(rows, of, parent_in(of, node), start);
    read_places(rows, of, node, found);
    for (int i = 0; i < 3; i++)
        found[i] -= start[i];
}

/* found = the vector from one particle to another. */
static inline void between(const real *rows, integer n, integer from, integer to, real found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] = rows[i * n + to] - rows[i * n + from];
}

static inline void unit(real v[3])
{
    real share = 1.0 / distance(v[0], v[1], v[2]);
    for (int i = 0; i < 3; i++)
        v[i] *= share;
}

/* Whether a node's particle can move, and whether its segment can turn. */
static inline int moves(const rod_trees *of, integer node)
{
    return of->rods->inverse_masses[of->first[0] + node] > 0.0;
}

static inline int turns(const rod_trees *of, integer node)
{
    return !is_root(of, node) && !of->rods->clamped[of->first[0] + node];
}

/* Segments' rotations after the displacements that were solved for. */
static inline void turned_rotations(const rod_trees *of, integer node, lane found[4])
{
    const lane *turn = of->segments[node].turn;
    lane before[4], half[3] = {0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]};
    lane share = both(1.0) / square_root(both(1.0) + dot_both(half, half));
    lane q[4] = {share, half[0] * share, half[1] * share, half[2] * share};
    read_rotations(of, node, before);
    multiply_both(q, before, found);
}

#endif
