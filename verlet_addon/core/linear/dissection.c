/* Systems factorized by nested dissection: the same as solve in dissection.py. */
#include "dissection.h"

/* Sums in four lanes, which processors add side by side. */
static real product_of(const real *row, const real *values, integer n)
{
    real lanes[4] = {0.0, 0.0, 0.0, 0.0};
    integer i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; lane++)
            lanes[lane] += row[i + lane] * values[i + lane];
    for (; i < n; i++)
        lanes[0] += row[i] * values[i];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static void add_scaled(real *sums, const real *row, integer n, real factor)
{
    for (integer i = 0; i < n; i++)
        sums[i] += row[i] * factor;
}

/* Eliminates the unknowns of a part out of those around it. */
static void eliminate(real *values, const depth *at, integer part, real *answer)
{
    integer s = at->size, b = at->reach;
    const integer *own = at->own + part * s, *border = at->border + part * b;
    for (integer i = 0; i < s; i++)
        answer[i] = 0.0;
    for (integer k = 0; k < b; k++)
        at->outside[k] = 0.0;
    for (integer j = 0; j < s; j++)
        add_scaled(answer + j, at->root_turned + (part * s + j) * s + j, s - j, values[own[j]]);
    for (integer i = 0; i < s; i++)
        add_scaled(at->outside, at->passed + (part * s + i) * b, b, answer[i]);
    for (integer k = 0; k < b; k++)
        values[border[k]] -= at->outside[k];
}

/* Finds the unknowns of a part, given those around it. */
static void find(real *values, const depth *at, integer part, real *answer)
{
    integer s = at->size, b = at->reach;
    const integer *own = at->own + part * s, *border = at->border + part * b;
    for (integer k = 0; k < b; k++)
        at->outside[k] = values[border[k]];
    for (integer i = 0; i < s; i++)
        answer[i] -= product_of(at->passed + (part * s + i) * b, at->outside, b);
    for (integer j = 0; j < s; j++)
        values[own[j]] = product_of(at->root_turned + (part * s + j) * s + j, answer + j, s - j);
}

/* Lets each part of a depth be eliminated, or found. */
static void pass(const dissected *system, const depth *at, int back)
{
    integer width = system->size + 1;
    for (integer part = 0; part < at->parts; part++)
        for (integer axis = 0; axis < system->axes; axis++)
            (back ? find : eliminate)(system->values + axis * width, at, part,
                                      at->answers + (part * system->axes + axis) * at->size);
    for (integer axis = 0; axis < system->axes; axis++)
        system->values[axis * width + system->size] = 0.0; /* stands for nothing */
}

void solve_dissected(const dissected *system)
{
    for (integer axis = 0; axis < system->axes; axis++)
        system->values[axis * (system->size + 1) + system->size] = 0.0;
    for (integer i = 0; i < system->depths; i++)
        pass(system, system->depth[i], 0);
    for (integer i = system->depths - 1; i >= 0; i--)
        pass(system, system->depth[i], 1);
}
