/* Projection and velocity update of contact rows, one by one: the functions of contact_rows.py. */
#include "contact_rows.h"

/* Projects each row: the normal constraint, then Coulomb friction. */
EXPORT void project_rows(real *positions, integer n, const contact_rows *rows)
{
    for (integer row = 0; row < rows->count; row++) {
        real apart[3], impulse[3];
        if (rows->on_ropes[row])
            continue;
        find_apart(positions, n, rows, row, apart);
        if (solve_row(rows, row, apart, rows->mobilities[row], rows->mobilities[row], impulse))
            add_impulse(positions, n, rows, row, impulse);
    }
}

/* Copies positions of the world (3, n) to those of a body (3, count), from the particle `first` to the
   one before `last`; returns the largest change of a coordinate. */
EXPORT real move_back(real *body, integer count, real *positions, integer n, integer first,
                      integer last)
{
    real farthest = 0.0;
    for (integer axis = 0; axis < 3; axis++) {
        const real *from = positions + axis * n + first;
        real *to = body + axis * count;
        for (integer i = 0; i < last - first; i++) {
            farthest = larger(farthest, __builtin_fabs(from[i] - to[i]));
            to[i] = from[i];
        }
    }
    return farthest;
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
    for (integer row = 0; row < k; row++) {
        real sum[3];
        sum_of(positions, n, particles, weights, k, row, sum);
        for (integer axis = 0; axis < 3; axis++)
            sums[axis * k + row] = sum[axis];
    }
}

EXPORT void row_heights(const real *positions, integer n, const integer *particles, integer k,
                        const real *weights, const real *normals, real *heights)
{
    for (integer row = 0; row < k; row++) {
        real apart[3], normal[3];
        sum_of(positions, n, particles, weights, k, row, apart);
        read(normals, k, row, normal);
        heights[row] = dot(normal, apart);
    }
}

/* Marks the columns of `more` (4, k) that are not among the `known` (4, j), by lists of the columns with
   each first particle. */
SMALL EXPORT void are_fresh(const integer *known, integer j, const integer *more, integer k,
                            uint8_t *fresh, real *work)
{
    integer highest = 0;
    for (integer column = 0; column < k; column++)
        highest = more[column] > highest ? more[column] : highest;
    integer *first = (integer *)work, *next = first + highest + 1;
    for (integer column = k - 1; column >= 0; column--) {
        next[column] = first[more[column]];
        first[more[column]] = column + 1;
        fresh[column] = 1;
    }
    for (integer row = 0; row < j; row++)
        for (integer at = known[row] > highest ? 0 : first[known[row]]; at; at = next[at - 1])
            if (known[j + row] == more[k + at - 1] && known[2 * j + row] == more[2 * k + at - 1]
                && known[3 * j + row] == more[3 * k + at - 1])
                fresh[at - 1] = 0;
}

EXPORT void set_up_rows(const integer *particles, integer k, const real *weights,
                        const real *normals, const real *gaps, const integer *owners,
                        const pair_properties *pairs, const predicted_motion *motion,
                        real *responses, real *mobilities, real *targets, real *anchors,
                        real *friction, uint8_t *on_ropes, uint8_t *movable)
{
    real share = smaller(motion->dt / PUSH_OUT_TIME, 1.0), least = MIN_PUSH_OUT_SPEED * motion->dt;
    for (integer row = 0; row < k; row++) {
        real apart[3], normal[3], mobility = 0.0, most = 0.0;
        on_ropes[row] = 0;
        for (integer corner = 0; corner < 4; corner++) {
            integer at = corner * k + row, particle = particles[at];
            real response = responses[at] = weights[at] * motion->inverse_masses[particle];
            mobility = corner ? mobility + weights[at] * response : weights[at] * response;
            most = larger(most, __builtin_fabs(response));
            on_ropes[row] |= motion->on_ropes[particle] && response != 0.0;
        }
        sum_of(motion->start, motion->particle_count, particles, weights, k, row, apart);
        read(normals, k, row, normal);
        real began = dot(normal, apart), lack = gaps[row] - began;
        real push_out = larger(lack * share, least);
        for (integer axis = 0; axis < 3; axis++)
            anchors[axis * k + row] = apart[axis];
        mobilities[row] = mobility;
        targets[row] = smaller(gaps[row], began + push_out);
        friction[row] = pairs->friction[owners[row] * pairs->owner_count + owners[k + row]];
        movable[row] = mobility * 100.0 > most;
    }
}
