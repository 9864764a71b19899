/* Contact rows, their separations, and the displacements by their impulses. */
#ifndef VERLET_CONTACT_ROWS_H
#define VERLET_CONTACT_ROWS_H

#include "../../kernels.h"

/* Sum of weights (4, k) times positions (3, n) of particles (4, k) in one row. */
static inline void sum_of(const real *positions, integer n, const integer *particles,
                          const real *weights, integer k, integer row, real *sum)
{
    for (int axis = 0; axis < 3; axis++) {
        const real *x = positions + axis * n;
        real total = weights[row] * x[particles[row]];
        for (integer at = k + row; at < 4 * k; at += k)
            total += weights[at] * x[particles[at]];
        sum[axis] = total;
    }
}

/* Separation of a row, Σ weights x [m]. */
static inline void find_apart(const real *positions, integer n, const contact_rows *rows, integer row,
                       real *apart)
{
    sum_of(positions, n, rows->particles, rows->weights, rows->count, row, apart);
}

/* Moves the particles of a row by an impulse [kg m]. */
static inline void add_impulse(real *positions, integer n, const contact_rows *rows, integer row,
                        const real *impulse)
{
    for (integer corner = 0; corner < 4; corner++) {
        integer at = corner * rows->count + row;
        real pull = rows->impulse_responses[at];
        if (pull != 0.0)
            for (int axis = 0; axis < 3; axis++)
                positions[axis * n + rows->particles[at]] += pull * impulse[axis];
    }
}

/* Solves a row of two features that are `apart`: the normal constraint, then Coulomb friction. `slip`
   is the largest mobility across the normal. Updates its multipliers, and writes the impulse; returns 0
   where there is none. */
static inline int solve_row(const contact_rows *rows, integer row, const real apart[3], real mobility,
                            real slip, real impulse[3])
{
    integer k = rows->count;
    real slid[3], normal[3];
    read(rows->normals, k, row, normal);
    real height = dot(normal, apart);
    real before = rows->normal_multipliers[row];
    real pushed = larger(before + (rows->targets[row] - height) / mobility, 0.0);
    if (!(pushed > 0.0) && !(before > 0.0))
        return 0;
    for (int axis = 0; axis < 3; axis++)
        slid[axis] = apart[axis] - rows->anchors[axis * k + row]
                     + rows->friction_multipliers[axis * k + row] * slip;
    remove_along(normal, slid);
    real length = __builtin_sqrt(dot(slid, slid));
    real share = smaller(1.0 / slip, rows->friction[row] * pushed / larger(length, NONZERO));
    rows->normal_multipliers[row] = pushed;
    for (int axis = 0; axis < 3; axis++) {
        real held = slid[axis] * share;
        impulse[axis] = normal[axis] * (pushed - before)
                        - (held - rows->friction_multipliers[axis * k + row]);
        rows->friction_multipliers[axis * k + row] = held;
    }
    return 1;
}

#endif
