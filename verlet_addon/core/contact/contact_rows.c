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

/* Distances (n,) between two sets of positions (3, n) [m]. */
static void measure_distances(real *lengths, const real *from, const real *to, integer n)
{
    for (integer i = 0; i < n; i++) {
        real x = to[i] - from[i], y = to[n + i] - from[n + i], z = to[2 * n + i] - from[2 * n + i];
        lengths[i] = __builtin_sqrt(x * x + y * y + z * z);
    }
}

/* Whether the displacement of any particle of a row deviates from their mean by more than allowed. */
SMALL static int moves_beside(const real *start, const real *positions, integer n,
                              const contact_rows *rows, integer row, real allowed)
{
    real squares[4] = {0.0, 0.0, 0.0, 0.0};
    for (integer axis = 0; axis < 3; axis++) {
        real displacements[4], sum = 0.0;
        for (integer corner = 0; corner < 4; corner++) {
            integer at = axis * n + rows->particles[corner * rows->count + row];
            displacements[corner] = positions[at] - start[at];
            sum += displacements[corner];
        }
        for (integer corner = 0; corner < 4; corner++) {
            real beside = displacements[corner] - sum / 4.0;
            squares[corner] += beside * beside;
        }
    }
    for (integer corner = 0; corner < 4; corner++)
        if (__builtin_sqrt(squares[corner]) > allowed)
            return 1;
    return 0;
}

/* Finds particles that may have tunnelled; see find_unsafe in contact_rows.py. */
SMALL EXPORT void find_unsafe(const real *start, const real *positions, const real *end, integer n,
                          const contact_rows *rows, const real *allowed, integer count, real safe,
                          uint8_t *displaced, uint8_t *fast, real *lengths)
{
    integer k = rows->count;
    measure_distances(lengths, end, positions, n);
    for (integer i = 0; i < count; i++)
        displaced[i] = lengths[i] > allowed[i];
    measure_distances(lengths, start, positions, n);
    for (integer row = 0; row < k; row++) {
        real apart[3], height = 0.0, anchored = 0.0, most = 0.0, gap = rows->gaps[row];
        find_apart(positions, n, rows, row, apart);
        for (integer axis = 0; axis < 3; axis++) {
            height += rows->normals[axis * k + row] * apart[axis];
            anchored += rows->normals[axis * k + row] * rows->anchors[axis * k + row];
        }
        for (integer corner = 0; corner < 4; corner++)
            most = larger(lengths[rows->particles[corner * k + row]], most);
        real limit = safe * smaller(gap, anchored);
        int near = height <= safe * gap;
        int quick = 2.0 * most > limit && moves_beside(start, positions, n, rows, row, limit);
        for (integer corner = 0; (near || quick) && corner < 4; corner++) {
            integer particle = rows->particles[corner * k + row];
            if (particle < count)
                displaced[particle] |= near;
            fast[particle] |= quick;
        }
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
