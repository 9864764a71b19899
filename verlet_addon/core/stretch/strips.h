/* Strips, and the measurement of their links. */
#ifndef VERLET_STRIPS_H
#define VERLET_STRIPS_H

#include "../kernels.h"

/* Sorts batches by their tautest link, the tautest batch first. */
void sort_by_tension(const strip_order *of);

/* Moves particles into the spheres about their goals; `limits` may be NULL. */
void project_goal_radii(real *positions, integer n, const goal_radii *limits);

/* Points and links of one path, in the workspace of its batch. */
typedef struct {
    real *x, *y, *z, *across_x, *across_y, *across_z, *violation, *off_diagonal, *pivot;
} path_work;

static inline path_work lay_out(real *work, integer size)
{
    path_work at = {work, work + size, work + 2 * size, work + 3 * size, work + 4 * size,
                    work + 5 * size, work + 6 * size, work + 7 * size, work + 8 * size};
    return at;
}

/* Sets a path's points, the unit vectors along its links, and C + compliance * multiplier. */
static inline void measure(const real *positions, integer n, const strip_batch *batch, integer begin,
                    integer links, path_work at)
{
    for (integer k = 0; k <= links; k++) {
        integer particle = batch->path[begin + k];
        at.x[k] = positions[particle];
        at.y[k] = positions[n + particle];
        at.z[k] = positions[2 * n + particle];
    }
    const real *px = at.x, *py = at.y, *pz = at.z;
    const real *rest_lengths = batch->rest_lengths + begin;
    const real *inverse_masses = batch->inverse_masses + begin;
    const real *compliances = batch->scaled_compliances + begin;
    const real *multipliers = batch->multipliers + begin;
    WIDE for (integer k = 0; k < links; k++) {
        real x = px[k + 1] - px[k], y = py[k + 1] - py[k], z = pz[k + 1] - pz[k];
        real length = distance(x, y, z), share = 1.0 / length;
        at.across_x[k] = x * share;
        at.across_y[k] = y * share;
        at.across_z[k] = z * share;
        real violation = length - rest_lengths[k] + compliances[k] * multipliers[k];
        at.violation[k] = inverse_masses[k] + inverse_masses[k + 1] > 0.0 ? violation : 0.0;
    }
}

#endif
