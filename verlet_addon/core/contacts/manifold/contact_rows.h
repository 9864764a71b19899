/* Contact rows, their separations, and the displacements by their impulses. */
#ifndef VERLET_CONTACT_ROWS_H
#define VERLET_CONTACT_ROWS_H

#include "../../kernels.h"

/* Separation of a row, Σ weights x [m]. */
static inline void find_apart(const real *positions, integer n, const contact_rows *rows, integer row,
                       real *apart)
{
    for (int axis = 0; axis < 3; axis++) {
        const real *x = positions + axis * n;
        real total = rows->weights[row] * x[rows->particles[row]];
        for (integer corner = 1; corner < 4; corner++) {
            integer at = corner * rows->count + row;
            total += rows->weights[at] * x[rows->particles[at]];
        }
        apart[axis] = total;
    }
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
