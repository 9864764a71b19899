/* The system of a tree of rods, solved from the tips to the root and back. */
#ifndef VERLET_ELIMINATION_H
#define VERLET_ELIMINATION_H

#include "rods.h"

/* found = first (3, 3) × second (3, 3). */
static inline void multiply(const real first[9], const real second[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = first[3 * i] * second[j] + first[3 * i + 1] * second[3 + j]
                               + first[3 * i + 2] * second[6 + j];
}

/* found -= first (3, 3), transposed, × second (3, 3). */
static inline void subtract_transposed(const real first[9], const real second[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] -= first[i] * second[j] + first[3 + i] * second[3 + j]
                                + first[6 + i] * second[6 + j];
}

/* found -= matrix (3, 3) × vector. */
static inline void subtract_applied(const real matrix[9], const real vector[3], real found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] -= dot(matrix + 3 * i, vector);
}

/* found -= matrix (3, 3), transposed, × vector. */
static inline void subtract_applied_transposed(const real matrix[9], const real vector[3], real found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] -= matrix[i] * vector[0] + matrix[3 + i] * vector[1] + matrix[6 + i] * vector[2];
}

/* Eliminates a node's unknowns, and passes what they resist to its parent. */
static inline void eliminate(segment *own, segment *above)
{
    real beside[9], kept[9];
    invert_positive(own->xx, 3);
    multiply(own->tx, own->xx, kept);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            own->xt[3 * i + j] = kept[3 * j + i];
            own->tt[3 * i + j] -= dot(kept + 3 * i, own->tx + 3 * j);
        }
    invert_positive(own->tt, 3);
    subtract_applied(kept, own->force, own->moment);
    apply(own->xx, own->force, own->move);
    apply(own->tt, own->moment, own->turn);
    if (!above)
        return;
    real tX[9], tT[9], xX[9];
    copy(xX, own->xX, 9);
    copy(tT, own->tT, 9);
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
static void substitute_tree(const rod_tree *of)
{
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        integer at = of->first + node;
        if (is_fixed(of->rods, at)) {
            clear(own->move, 2 * 3);
            continue;
        }
        if (of->rods->parents[at] >= 0) {
            const segment *above = parent_of(of, node);
            subtract_applied(own->tX, above->move, own->turn);
            subtract_applied(own->tT, above->turn, own->turn);
            subtract_applied(own->xX, above->move, own->move);
        }
        subtract_applied(own->xt, own->turn, own->move);
    }
}

#endif
