/* Projection and velocity update of contact rows, one by one: the functions of contact_rows.py. */
#include "contact_rows.h"

/* Projects each row: the normal constraint, then Coulomb friction. */
EXPORT void project_rows(real *positions, integer n, const contact_rows *rows)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        if (rows->on_ropes[row])
            continue;
        real apart[3], slid[3], impulse[3], normal[3], mobility = rows->mobilities[row];
        read(rows->normals, k, row, normal);
        find_apart(positions, n, rows, row, apart);
        real height = dot(normal, apart);
        real before = rows->normal_multipliers[row];
        real pushed = larger(before + (rows->targets[row] - height) / mobility, 0.0);
        if (!(pushed > 0.0) && !(before > 0.0))
            continue;
        for (int axis = 0; axis < 3; axis++)
            slid[axis] = apart[axis] - rows->anchors[axis * k + row]
                         + rows->friction_multipliers[axis * k + row] * mobility;
        remove_along(normal, slid);
        real length = __builtin_sqrt(dot(slid, slid));
        real share = smaller(1.0 / mobility, rows->friction[row] * pushed / larger(length, NONZERO));
        rows->normal_multipliers[row] = pushed;
        for (int axis = 0; axis < 3; axis++) {
            real held = slid[axis] * share;
            impulse[axis] = normal[axis] * (pushed - before)
                            - (held - rows->friction_multipliers[axis * k + row]);
            rows->friction_multipliers[axis * k + row] = held;
        }
        add_impulse(positions, n, rows, row, impulse);
    }
}

/* Applies the accumulated multipliers of all rows, with friction. */
EXPORT void push_rows(real *positions, integer n, const contact_rows *rows)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        real impulse[3], pushed = rows->normal_multipliers[row];
        if (!(pushed > 0.0))
            continue;
        for (int axis = 0; axis < 3; axis++)
            impulse[axis] = rows->normals[axis * k + row] * pushed - rows->friction_multipliers[axis * k + row];
        add_impulse(positions, n, rows, row, impulse);
    }
}

/* Velocity update of rows with a normal multiplier: normal speed 0, or that of a bounce. */
SMALL EXPORT void rebound_rows(real *previous_positions, real *positions, integer n,
                         const contact_rows *rows)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        real now[3], former[3], impulse[3], normal[3];
        read(rows->normals, k, row, normal);
        if (!(rows->normal_multipliers[row] > 0.0))
            continue;
        find_apart(positions, n, rows, row, now);
        find_apart(previous_positions, n, rows, row, former);
        subtract(now, former, now);
        real moved = dot(normal, now);
        for (int axis = 0; axis < 3; axis++)
            impulse[axis] = normal[axis] * ((moved - rows->rebounds[row]) / rows->mobilities[row]);
        add_impulse(previous_positions, n, rows, row, impulse);
    }
}

/* Sums of weights (4, k) times positions (3, n) of particles (4, k). */
EXPORT void sum_weighted(const real *positions, integer n, const integer *particles,
                         const real *weights, integer k, real *sums)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer row = 0; row < k; row++) {
            const real *x = positions + axis * n;
            real total = weights[row] * x[particles[row]];
            for (int corner = 1; corner < 4; corner++)
                total += weights[corner * k + row] * x[particles[corner * k + row]];
            sums[axis * k + row] = total;
        }
}
