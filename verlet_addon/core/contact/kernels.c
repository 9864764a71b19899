/* Rows of contacts: the same as numpy_kernels.py, where formulas stand, one after the other. */
#include "../kernels.h"

#define HAIR 1e-300 /* Keeps 0 / 0 away. */

/* See ContactRows. */
typedef struct {
    integer count;                      /* k */
    const integer *particles;           /* (4, k) */
    const real *weights, *pulls;        /* (4, k) */
    const real *mobilities;             /* (k,) */
    const real *normals;                /* (3, k) */
    const real *targets, *climbs;       /* (k,) */
    const real *anchors;                /* (3, k) */
    const real *friction;               /* (k,) */
    const uint8_t *strung;              /* (k,) whether it is one of ropes, solved elsewhere */
    real *pushed, *rubbed;              /* (k,), (3, k) */
} contact_rows;

/* Sum of weights times positions. */
static void find_apart(const real *positions, integer n, const contact_rows *rows, integer row,
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

/* Moves the particles of a row by an impulse. */
static void add_impulse(real *positions, integer n, const contact_rows *rows, integer row,
                        const real *impulse)
{
    for (integer corner = 0; corner < 4; corner++) {
        integer at = corner * rows->count + row;
        real pull = rows->pulls[at];
        if (pull != 0.0)
            for (int axis = 0; axis < 3; axis++)
                positions[axis * n + rows->particles[at]] += pull * impulse[axis];
    }
}

/* Pushes apart what is nearer than it may be, and rubs. */
EXPORT void project_rows(real *positions, integer n, const contact_rows *rows)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        if (rows->strung[row])
            continue;
        real apart[3], slid[3], impulse[3], mobility = rows->mobilities[row];
        real normal[3] = {rows->normals[row], rows->normals[k + row], rows->normals[2 * k + row]};
        find_apart(positions, n, rows, row, apart);
        real height = normal[0] * apart[0] + normal[1] * apart[1] + normal[2] * apart[2];
        real before = rows->pushed[row];
        real pushed = larger(before + (rows->targets[row] - height) / mobility, 0.0);
        if (!(pushed > 0.0) && !(before > 0.0))
            continue;
        for (int axis = 0; axis < 3; axis++)
            slid[axis] = apart[axis] - rows->anchors[axis * k + row]
                         + rows->rubbed[axis * k + row] * mobility;
        real away = normal[0] * slid[0] + normal[1] * slid[1] + normal[2] * slid[2];
        for (int axis = 0; axis < 3; axis++)
            slid[axis] -= normal[axis] * away;
        real length = __builtin_sqrt(slid[0] * slid[0] + slid[1] * slid[1] + slid[2] * slid[2]);
        real share = smaller(1.0 / mobility, rows->friction[row] * pushed / larger(length, HAIR));
        rows->pushed[row] = pushed;
        for (int axis = 0; axis < 3; axis++) {
            real held = slid[axis] * share;
            impulse[axis] = normal[axis] * (pushed - before)
                            - (held - rows->rubbed[axis * k + row]);
            rows->rubbed[axis * k + row] = held;
        }
        add_impulse(positions, n, rows, row, impulse);
    }
}

/* Sets how fast what has been pushed parts. */
EXPORT void rebound_rows(real *previous_positions, const real *positions, integer n,
                         const contact_rows *rows)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        real now[3], former[3], impulse[3];
        real normal[3] = {rows->normals[row], rows->normals[k + row], rows->normals[2 * k + row]};
        if (!(rows->pushed[row] > 0.0))
            continue;
        find_apart(positions, n, rows, row, now);
        find_apart(previous_positions, n, rows, row, former);
        real moved = normal[0] * (now[0] - former[0]) + normal[1] * (now[1] - former[1])
                     + normal[2] * (now[2] - former[2]);
        for (int axis = 0; axis < 3; axis++)
            impulse[axis] = normal[axis] * ((moved - rows->climbs[row]) / rows->mobilities[row]);
        add_impulse(previous_positions, n, rows, row, impulse);
    }
}
