/* Volumes of chambers: the function of kernels.py. */
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
