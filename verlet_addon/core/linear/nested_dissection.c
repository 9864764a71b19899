/* Solution of systems factorized by nested dissection: `solve` of nested_dissection.py. */
#include "nested_dissection.h"

/* Inner product, summed in four lanes for vector instructions. */
static real inner_product(const real *row, const real *values, integer n)
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

/* Forward substitution: eliminates the unknowns of a part from the right-hand sides of its
   border. */
static void eliminate(const dissected_system *system, const dissected_depth *at, integer part, const real *root,
                      const real *coupling)
{
    integer s = at->sizes[part], b = at->reaches[part], width = system->size + 1;
    const integer *own = at->own + part * at->size, *border = at->border + part * at->reach;
    real *answers = at->answers + part * system->axes * at->size;
    clear(answers, system->axes * at->size);
    clear(at->outside, system->axes * at->reach);
    for (integer j = 0; j < s; root += s - j, j++)
        for (integer axis = 0; axis < system->axes; axis++)
            add_scaled(answers + axis * at->size + j, root, s - j,
                       system->values[axis * width + own[j]]);
    for (integer i = 0; i < s; coupling += b, i++)
        for (integer axis = 0; axis < system->axes; axis++)
            add_scaled(at->outside + axis * at->reach, coupling, b, answers[axis * at->size + i]);
    for (integer axis = 0; axis < system->axes; axis++)
        for (integer k = 0; k < b; k++)
            system->values[axis * width + border[k]] -= at->outside[axis * at->reach + k];
}

/* Back substitution: finds the unknowns of a part, given those of its border. */
static void back_substitute(const dissected_system *system, const dissected_depth *at, integer part, const real *root,
                 const real *coupling)
{
    integer s = at->sizes[part], b = at->reaches[part], width = system->size + 1;
    const integer *own = at->own + part * at->size, *border = at->border + part * at->reach;
    real *answers = at->answers + part * system->axes * at->size;
    for (integer axis = 0; axis < system->axes; axis++)
        for (integer k = 0; k < b; k++)
            at->outside[axis * at->reach + k] = system->values[axis * width + border[k]];
    for (integer i = 0; i < s; coupling += b, i++)
        for (integer axis = 0; axis < system->axes; axis++)
            answers[axis * at->size + i] -= inner_product(coupling, at->outside + axis * at->reach, b);
    for (integer j = 0; j < s; root += s - j, j++)
        for (integer axis = 0; axis < system->axes; axis++)
            system->values[axis * width + own[j]] = inner_product(
                root, answers + axis * at->size + j, s - j);
}

/* Forward or back substitution of all parts of a depth. */
static void sweep(const dissected_system *system, const dissected_depth *at, int back)
{
    const real *root = at->root, *coupling = at->coupling;
    for (integer part = 0; part < at->parts; part++) {
        integer s = at->sizes[part];
        (back ? back_substitute : eliminate)(system, at, part, root, coupling);
        root += s * (s + 1) / 2;
        coupling += s * at->reaches[part];
    }
}

void solve_dissected_system(const dissected_system *system)
{
    for (integer i = 0; i < system->depths_count; i++)
        sweep(system, system->depths[i], 0);
    for (integer i = system->depths_count - 1; i >= 0; i--)
        sweep(system, system->depths[i], 1);
}
