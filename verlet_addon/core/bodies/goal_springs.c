/* Goal springs, and the motion of reference frames: the functions of goal_springs.py and step_data.py. */
#include "../kernels.h"

EXPORT void spring_goals(const real *start, integer n, const held_vertices *held, const real *targets,
                         real *goals)
{
    for (integer axis = 0, at = 0; axis < 3; axis++)
        for (integer i = 0; i < held->count; i++, at++) {
            real begin = start[axis * n + held->vertices[i]];
            goals[at] = begin + (targets[at] - begin) * held->target_shares[i];
        }
}

EXPORT void draw_held_vertices(real *x, integer n, const held_vertices *held, real *goals)
{
    for (integer i = 0; i < held->count; i++) {
        integer vertex = held->vertices[i];
        real own = 1.0 / held->own_inverse_masses[vertex];
        real share = 1.0 - own / (own + held->spring_masses[i]);
        for (int axis = 0; axis < 3; axis++) {
            real *at = x + axis * n + vertex;
            *at += (goals[axis * held->count + i] - *at) * share;
        }
    }
}

EXPORT void put_on_goals(real *x, integer n, const held_vertices *held, real *goals)
{
    for (integer i = 0; i < held->count; i++)
        if (__builtin_isinf(held->spring_masses[i]))
            for (int axis = 0; axis < 3; axis++)
                x[axis * n + held->vertices[i]] = goals[axis * held->count + i];
}

EXPORT void moved_rigidly(const real *rows, integer n, const real *parts, const integer *labels,
                          real *moved)
{
    for (integer i = 0; i < n; i++) {
        const real *part = parts + 15 * (labels ? labels[i] : 0);
        real arm[3], turned[3];
        read(rows, n, i, arm);
        if (!labels || labels[i] >= 0) {
            subtract(arm, part + 9, arm);
            apply(part, arm, turned);
            for (int axis = 0; axis < 3; axis++)
                arm[axis] = arm[axis] + turned[axis] + part[12 + axis];
        }
        put(moved, n, i, arm[0], arm[1], arm[2]);
    }
}
