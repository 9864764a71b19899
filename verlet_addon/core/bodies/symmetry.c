/* The symmetry of mirrored bodies: the function of symmetry.py. */
#include "../kernels.h"

/* The reflection of a particle in a plane, a point and a normal. */
static void mirror(const real *x, integer n, integer particle, const real *plane, real found[3])
{
    const real *normal = plane + 3;
    real size = __builtin_sqrt(dot(normal, normal)), height = 0.0, unit[3];
    read(x, n, particle, found);
    for (int axis = 0; axis < 3; axis++) {
        unit[axis] = normal[axis] / size;
        height += unit[axis] * (found[axis] - plane[axis]);
    }
    for (int axis = 0; axis < 3; axis++)
        found[axis] -= 2.0 * unit[axis] * height;
}

/* Sets particles to their means with the reflections of others. */
static void put_means(real *x, integer n, const integer *particles, const integer *others,
                      integer count, const real *plane)
{
    for (integer i = 0; i < count; i++) {
        real image[3];
        mirror(x, n, others[i], plane, image);
        for (int axis = 0; axis < 3; axis++)
            x[axis * n + particles[i]] = (x[axis * n + particles[i]] + image[axis]) / 2.0;
    }
}

EXPORT void keep_symmetric(real *x, integer n, const reflection *const *reflections, integer count,
                           real *planes)
{
    for (integer i = count - 1; i >= 0; i--)
        put_means(x, n, reflections[i]->sources, reflections[i]->images, reflections[i]->pairs,
                  planes + 6 * reflections[i]->mirror);
    for (integer i = 0; i < count; i++) {
        const reflection *of = reflections[i];
        const real *plane = planes + 6 * of->mirror;
        for (integer k = 0; k < of->pairs; k++) {
            real image[3];
            mirror(x, n, of->sources[k], plane, image);
            put(x, n, of->images[k], image[0], image[1], image[2]);
        }
        put_means(x, n, of->seam, of->seam, of->on_seam, plane);
    }
}
