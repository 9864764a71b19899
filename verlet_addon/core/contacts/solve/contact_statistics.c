/* Statistics of contact rows, as in contact_statistics.py. */
#include "../../kernels.h"

/* Adds pushes of all rows to sums (3, count) of their particles, and their sizes to (count,). */
static void add_pushes(const contact_rows *rows, integer count, real *sums)
{
    integer k = rows->count;
    for (integer corner = 0; corner < 4; corner++)
        for (integer row = 0; row < k; row++) {
            integer particle = rows->particles[corner * k + row];
            real push = rows->weights[corner * k + row] * rows->normal_multipliers[row];
            for (integer axis = 0; axis < 3; axis++)
                sums[axis * count + particle] += rows->normals[axis * k + row] * push;
            sums[3 * count + particle] += __builtin_fabs(push);
        }
}

SMALL EXPORT void are_squeezed(const contact_rows *rows, const integer *which, integer chosen,
                               integer count, uint8_t *squeezed, real *work)
{
    integer k = rows->count;
    add_pushes(rows, count, work);
    for (integer i = 0; i < chosen; i++) {
        squeezed[i] = 0;
        for (real side = 1.0; side > -2.0; side -= 2.0) {
            real total[4] = {0.0, 0.0, 0.0, 0.0};
            for (integer at = which[i]; at < 4 * k; at += k)
                if (rows->impulse_responses[at] != 0.0 && side * rows->weights[at] > 0.0)
                    for (integer axis = 0; axis < 4; axis++)
                        total[axis] += work[axis * count + rows->particles[at]];
            squeezed[i] |= __builtin_sqrt(dot(total, total)) < ONE_SIDED_SHARE * total[3];
        }
    }
}
