/* Chambers and the gas in them: the functions of gas.py. */
#include "../kernels.h"

/* Writes volumes (chambers,) and their gradients (3, n) at positions (3, n). */
EXPORT void volumes_and_gradients(const real *positions, integer n, const chambers *of,
                                  real *volumes, real *gradients)
{
    const integer *triangles = of->triangles, *labels = of->labels, count = of->triangle_count;
    clear(volumes, of->count);
    clear(gradients, 3 * n);
    for (integer t = 0; t < count; t++) {
        real at[3][3];
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                at[k][axis] = positions[axis * n + triangles[k * count + t]] - positions[axis * n];
        for (int k = 0; k < 3; k++) {
            const real *b = at[(k + 1) % 3], *c = at[(k + 2) % 3];
            real gradient[3];
            cross(b, c, gradient);
            for (int axis = 0; axis < 3; axis++) {
                gradient[axis] /= 6.0;
                gradients[axis * n + triangles[k * count + t]] += gradient[axis];
                if (k == 0)
                    volumes[labels[t]] += at[0][axis] * gradient[axis];
            }
        }
    }
}

/* The positive root of a x^2 + b x = c, without cancellation. */
static real positive_root(real a, real b, real c)
{
    real root = __builtin_sqrt(b * b + 4.0 * a * c);
    real over = b > 0.0 ? 2.0 * c : root - b, under = b > 0.0 ? root + b : 2.0 * a;
    return under > 0.0 ? over / under : 0.0;
}

EXPORT void gas_pressure_forces(const real *x, integer n, const gas *of, const real *inverse_masses,
                                const real *start, real pressure, real h_squared, real *forces)
{
    const chambers *in = of->chambers;
    volumes_and_gradients(start, n, in, of->volumes, forces);
    for (integer s = 0; s < in->count; s++)
        of->reductions[s] = of->predicted_volumes[s] - of->volumes[s];
    volumes_and_gradients(x, n, in, of->volumes, forces);
    clear(of->mobilities, in->count + 1);
    for (integer i = 0; i < n; i++) {
        real gradient[3];
        read(forces, n, i, gradient);
        of->mobilities[in->particles[i]] += dot(gradient, gradient) * inverse_masses[i] * of->pressure_shares[i];
    }
    for (integer s = 0; s < in->count; s++) {
        real mobility = h_squared * of->mobilities[s];
        of->pressures[s] = in->flat[s] ? pressure
            : positive_root(mobility, of->volumes[s] - of->reductions[s], pressure * in->rest_volumes[s]);
        of->predicted_volumes[s] = of->volumes[s] + mobility * of->pressures[s];
        of->lifts[s] = h_squared * of->pressures[s];
    }
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < n; i++)
            forces[axis * n + i] = forces[axis * n + i] * of->pressure_shares[i] * of->lifts[in->particles[i]];
}

EXPORT void drop_tension_jumps(real *tension, integer count, real *former)
{
    for (integer k = 0; k < count; k++) {
        real before = former[k];
        former[k] = tension[k];
        tension[k] = larger(tension[k], before);
    }
}
