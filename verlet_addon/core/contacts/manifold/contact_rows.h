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

#endif
