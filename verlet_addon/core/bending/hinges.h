/* Directions and violations of hinges; see kernels.py. */
#ifndef VERLET_HINGES_H
#define VERLET_HINGES_H

#include "../kernels.h"

/* The side of a hinge (p, q, a, b) that its bend g, of so many metres, is on: 1 where its normal
   points, which is set, or -1. */
static inline real hinge_side(const real p[3], const real q[3], const real a[3], const real b[3],
                              const real bend[3], real size, real rest, real normal[3])
{
    real edge[3], across[3];
    subtract(q, p, edge);
    subtract(a, b, across);
    cross(edge, across, normal);
    real share = 1.0 / distance(normal[0], normal[1], normal[2]);
    for (int axis = 0; axis < 3; axis++)
        normal[axis] *= share;
    /* Faces folded onto each other now and at rest may pass through: the hinge keeps its side. */
    if (size * (rest < 0.0 ? -rest : rest) > BOTH_FOLDED_PRODUCT)
        return rest < 0.0 ? -1.0 : 1.0;
    return dot(bend, normal) < 0.0 ? -1.0 : 1.0;
}

/* Sets the direction of the bend of a hinge, on the side of its normal; for small bends, that of the
   normal. */
static inline void hinge_direction(const real p[3], const real q[3], const real a[3], const real b[3],
                                   const real bend[3], real rest, real direction[3])
{
    real normal[3], size = distance(bend[0], bend[1], bend[2]);
    real side = hinge_side(p, q, a, b, bend, size, rest, normal);
    real upright = larger(MIN_SIDED_BEND - size, 0.0) / MIN_SIDED_BEND, along = side / larger(size, MIN_SIDED_BEND);
    for (int axis = 0; axis < 3; axis++)
        direction[axis] = normal[axis] * upright + bend[axis] * along;
}

/* Turns the bend g of a hinge into its violation, g - rest * direction. */
static inline void subtract_rest(real members[4][3], real rest, real bend[3])
{
    real direction[3];
    if (rest == 0.0)
        return;
    hinge_direction(members[0], members[1], members[2], members[3], bend, rest, direction);
    for (int axis = 0; axis < 3; axis++)
        bend[axis] -= rest * direction[axis];
}

#endif
