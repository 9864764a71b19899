/* Rays that leave and enter a surface: the function of ray_casting.py. */
#include "../kernels.h"

/* Twice the area of the triangle of a point and two others in the plane. */
static inline real doubled_area(const real *from, const real *to, const real *third)
{
    return (to[0] - from[0]) * (third[1] - from[1]) - (to[1] - from[1]) * (third[0] - from[0]);
}

/* Coordinates (3, 3) of a triangle's corners in a frame; 0 if any is not finite. */
static int read_corners(real x[3][3], const real *vertices, integer v, const integer *triangles,
                        integer t, integer triangle, const real *frame)
{
    real sum = 0.0;
    for (int corner = 0; corner < 3; corner++) {
        const real *from = vertices + triangles[corner * t + triangle];
        const real place[3] = {from[0], from[v], from[2 * v]};
        for (int axis = 0; axis < 3; axis++) {
            x[corner][axis] = dot(frame + 3 * axis, place);
            sum += x[corner][axis] - x[corner][axis];
        }
    }
    return sum == 0.0;
}

/* Counts how often each ray leaves a surface, less how often it enters. */
EXPORT void count_turns(const real *rays, integer n, const real *vertices, integer v,
                        const integer *triangles, integer t, const real *frame, integer *turns)
{
    real x[3][3], low[3], high[3], size = 0.0;
    for (integer i = 0; i < n; i++)
        turns[i] = 0;
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = __builtin_inf(), high[axis] = -__builtin_inf();
        for (integer i = 0; i < n; i++) {
            low[axis] = smaller(low[axis], rays[axis * n + i]);
            high[axis] = larger(high[axis], rays[axis * n + i]);
        }
        if (axis < 2 && n)
            size = larger(size, larger(__builtin_fabs(low[axis]), __builtin_fabs(high[axis])));
    }
    for (integer triangle = 0; triangle < t; triangle++) {
        real bottom[3], top[3];
        if (!read_corners(x, vertices, v, triangles, t, triangle, frame)) {
            for (integer i = 0; i < n; i++)
                turns[i] = 0;
            return;
        }
        for (int axis = 0; axis < 3; axis++) {
            bottom[axis] = smaller(x[0][axis], smaller(x[1][axis], x[2][axis]));
            top[axis] = larger(x[0][axis], larger(x[1][axis], x[2][axis]));
        }
        if (top[2] < low[2] || top[0] < low[0] || bottom[0] > high[0] || top[1] < low[1]
            || bottom[1] > high[1])
            continue;
        real doubled = doubled_area(x[0], x[1], x[2]);
        real spans = __builtin_fabs(x[1][0] - x[0][0]) + __builtin_fabs(x[1][1] - x[0][1])
                     + (__builtin_fabs(x[2][0] - x[0][0]) + __builtin_fabs(x[2][1] - x[0][1]));
        if (doubled == 0.0 || __builtin_fabs(doubled) < MIN_TRIANGLE_WIDTH * size * spans)
            continue;
        int sign = doubled > 0.0 ? 1 : -1;
        integer first = 0, last = n;
        while (first < last) {
            integer middle = first + (last - first) / 2;
            if (rays[middle] < bottom[0])
                first = middle + 1;
            else
                last = middle;
        }
        for (integer i = first; i < n && rays[i] <= top[0]; i++) {
            const real here[2] = {rays[i], rays[n + i]};
            real sides[3] = {doubled_area(x[1], x[2], here), doubled_area(x[2], x[0], here),
                             doubled_area(x[0], x[1], here)};
            if (!(sides[0] * sign > 0.0 && sides[1] * sign > 0.0 && sides[2] * sign > 0.0))
                continue;
            real height = (sides[0] * x[0][2] + sides[1] * x[1][2] + sides[2] * x[2][2]) / doubled;
            if (here[1] >= bottom[1] && here[1] <= top[1] && height > rays[2 * n + i])
                turns[i] += sign;
        }
    }
}
