/* Twists of quads along face loops: project_face_loops of kernels.py. */
#include "../linear/pentadiagonal.h"

/* Particles of a twist: two of its first rung, and two of the next. */
#define TWIST_CORNERS 4

/* Solves all twists of one loop as one system. */
static void project_loop(real *positions, integer n, const face_loop_batch *batch, integer begin,
                         integer end)
{
    integer count = end - begin - 1;
    real *points = batch->points, *steps = batch->steps;
    for (integer k = 0; k < 2 * (end - begin); k++)
        for (int axis = 0; axis < 3; axis++)
            points[3 * k + axis] = positions[axis * n + batch->rungs[2 * begin + k]];
    for (integer k = 0; k < count; k++) {
        const real *coefficients = batch->coefficients + TWIST_CORNERS * (begin + k);
        const real *multipliers = batch->multipliers + batch->twists[begin + k];
        for (int axis = 0; axis < 3; axis++) {
            const real *corner = points + 6 * k + axis;
            real violation = batch->scaled_compliances[begin + k]
                             * multipliers[axis * batch->twist_count];
            for (int i = 0; i < TWIST_CORNERS; i++)
                violation += coefficients[i] * corner[3 * i];
            steps[3 * k + axis] = violation;
        }
    }
    solve_pentadiagonal(batch->factors + begin, batch->count - 1, count, steps, 3, 1);
    for (integer k = 0; k < count; k++) {
        const real *responses = batch->responses + TWIST_CORNERS * (begin + k);
        real *multipliers = batch->multipliers + batch->twists[begin + k];
        for (int axis = 0; axis < 3; axis++) {
            multipliers[axis * batch->twist_count] -= steps[3 * k + axis];
            for (int i = 0; i < TWIST_CORNERS; i++)
                points[6 * k + 3 * i + axis] -= responses[i] * steps[3 * k + axis];
        }
    }
    for (integer k = 0; k < 2 * (end - begin); k++)
        put(positions, n, batch->rungs[2 * begin + k], points[3 * k], points[3 * k + 1],
            points[3 * k + 2]);
}

/* Projects the face loops of all batches, one after the other. */
EXPORT void project_face_loops(real *positions, integer n, const face_loop_batch *const *batches,
                               integer count)
{
    for (integer i = 0; i < count; i++)
        for (integer p = 0, begin = 0; p < batches[i]->loops; begin = batches[i]->ends[p++])
            project_loop(positions, n, batches[i], begin, batches[i]->ends[p]);
}
