/* The system of trees of rods, solved from the tips to the root and back. */
#ifndef VERLET_ELIMINATION_H
#define VERLET_ELIMINATION_H

#include "rods.h"

static inline void copy_both(lane *to, const lane *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

/* Inverts a positive definite matrix (3, 3) of which the upper half counts.

   Rounding would make halves differ, and the difference grow by a half from node to node: a rope of
   160 points was thrown away. */
static void invert_symmetric(lane matrix[9])
{
    for (int inverted = 0; inverted < 2; inverted++) {
        matrix[3] = matrix[1], matrix[6] = matrix[2], matrix[7] = matrix[5];
        if (!inverted)
            invert_both(matrix);
    }
}

/* Eliminates a node's unknowns, and passes what they resist to its parent. */
static inline void eliminate(segment *own, segment *above)
{
    lane kept[9], beside[9], xX[9], tX[9], tT[9];
    invert_symmetric(own->xx);
    multiply(own->tx, own->xx, kept);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            own->xt[3 * i + j] = kept[3 * j + i];
            own->tt[3 * i + j] -= dot_both(kept + 3 * i, own->tx + 3 * j);
        }
    invert_symmetric(own->tt);
    subtract_applied(kept, own->force, own->moment);
    apply_both(own->xx, own->force, own->move);
    apply_both(own->tt, own->moment, own->turn);
    if (!above)
        return;
    copy_both(xX, own->xX, 9);
    copy_both(tT, own->tT, 9);
    multiply(kept, xX, beside);
    for (int i = 0; i < 9; i++)
        tX[i] = own->tX[i] - beside[i];
    multiply(own->xx, xX, own->xX);
    multiply(own->tt, tX, own->tX);
    multiply(own->tt, tT, own->tT);
    subtract_transposed(xX, own->xX, above->xx);
    subtract_transposed(tX, own->tX, above->xx);
    subtract_transposed(tT, own->tX, above->tx);
    subtract_transposed(tT, own->tT, above->tt);
    subtract_applied_transposed(own->xX, own->force, above->force);
    subtract_applied_transposed(own->tX, own->moment, above->force);
    subtract_applied_transposed(own->tT, own->moment, above->moment);
}

/* Finds the displacements from the root to the tips. */
static void substitute_trees(const rod_trees *of)
{
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        if (!moves(of, node) && !turns(of, node)) {
            clear_both(own->move, 3);
            clear_both(own->turn, 3);
            continue;
        }
        if (!is_root(of, node)) {
            const segment *above = parent_of(of, node);
            subtract_applied(own->tX, above->move, own->turn);
            subtract_applied(own->tT, above->turn, own->turn);
            subtract_applied(own->xX, above->move, own->move);
        }
        subtract_applied(own->xt, own->turn, own->move);
    }
}

#endif
