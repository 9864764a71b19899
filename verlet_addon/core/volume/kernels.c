/* Volumes: the same as numpy_kernels.py, where formulas and sources stand. */
#include "../kernels.h"

/* See Volumes. */
typedef struct {
    integer triangles, count; /* t, and s closed surfaces */
    const integer *labels;    /* (t,) */
    const real *rest_volumes; /* (s,) */
    real *volumes, *steps;    /* (s + 1,) to work in */
} closed_surfaces;

/* Adds the volume under a triangle (a, b, c), and its slopes at the corners, six times each. */
static void add_triangle(const real *positions, integer n, const integer corners[3], real *volume,
                         real *gradient)
{
    real x[3][3];
    for (int k = 0; k < 3; k++)
        for (int axis = 0; axis < 3; axis++)
            x[k][axis] = positions[axis * n + corners[k]];
    for (int k = 0; k < 3; k++) {
        const real *b = x[(k + 1) % 3], *c = x[(k + 2) % 3];
        real slope[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                         b[0] * c[1] - b[1] * c[0]};
        if (k == 0)
            *volume += x[0][0] * slope[0] + x[0][1] * slope[1] + x[0][2] * slope[2];
        for (int axis = 0; axis < 3; axis++)
            gradient[3 * corners[k] + axis] += slope[axis];
    }
}

/* Keeps the volumes of closed surfaces, given triangles (3, t) and inverse masses (n,).

   To work in are `gradient` (n, 3), of six times the volume, and `surface` (n,), which each particle
   belongs to. */
EXPORT void project_volumes(real *positions, integer n, const closed_surfaces *all,
                            const integer *triangles, const real *inverse_masses, real *gradient,
                            integer *surface)
{
    integer t = all->triangles, s = all->count;
    for (integer i = 0; i <= s; i++)
        all->volumes[i] = all->steps[i] = 0.0;
    for (integer i = 0; i < n; i++) {
        surface[i] = s;
        for (int axis = 0; axis < 3; axis++)
            gradient[3 * i + axis] = 0.0;
    }
    for (integer i = 0; i < t; i++) {
        const integer corners[3] = {triangles[i], triangles[t + i], triangles[2 * t + i]};
        add_triangle(positions, n, corners, all->volumes + all->labels[i], gradient);
        for (int k = 0; k < 3; k++)
            surface[corners[k]] = all->labels[i];
    }
    for (integer i = 0; i < n; i++) {
        const real *slope = gradient + 3 * i;
        real square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
        all->steps[surface[i]] += inverse_masses[i] * square;
    }
    for (integer i = 0; i < s; i++) {
        real mobility = all->steps[i], missing = 6.0 * all->rest_volumes[i] - all->volumes[i];
        all->steps[i] = mobility > 0.0 ? missing / mobility : 0.0;
    }
    all->steps[s] = 0.0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            positions[axis * n + i] += inverse_masses[i] * gradient[3 * i + axis]
                                       * all->steps[surface[i]];
}
