/* Systems factorized by nested dissection: the functions of nested_dissection.py. */
#include "nested_dissection.h"
#include "../team/team.h"

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

/* Parts of a system at one depth, from `first` on. */
typedef struct {
    const dissected_system *system;
    integer first;
} depth;

/* Forward substitution: eliminates the unknowns of a part; `outside` is what its border loses. */
static void eliminate(const void *loop, integer number, real *scratch)
{
    const depth *at = loop;
    const dissected_system *system = at->system;
    const dissected_part *part = system->parts[at->first + number];
    real *answers = system->answers + system->answer_starts[at->first + number];
    real *outside = system->outside + system->outside_starts[at->first + number];
    integer s = part->size, b = part->reach, width = system->size + 1;
    const real *root = part->root;
    (void)scratch;
    clear(answers, system->axes * s);
    for (integer j = 0; j < s; root += s - j, j++)
        for (integer axis = 0; axis < system->axes; axis++)
            add_scaled(answers + axis * s + j, root, s - j, system->values[axis * width + part->own[j]]);
    clear(outside, system->axes * b);
    for (integer i = 0; i < s; i++)
        for (integer axis = 0; axis < system->axes; axis++)
            add_scaled(outside + axis * b, part->coupling + i * b, b, answers[axis * s + i]);
}

/* Subtracts from the right-hand sides of the border of a part. */
static void subtract_outside(const dissected_system *system, integer number)
{
    const dissected_part *part = system->parts[number];
    const real *outside = system->outside + system->outside_starts[number];
    integer b = part->reach, width = system->size + 1;
    for (integer axis = 0; axis < system->axes; axis++)
        for (integer k = 0; k < b; k++)
            system->values[axis * width + part->border[k]] -= outside[axis * b + k];
}

/* Back substitution: finds the unknowns of a part, given those of its border. */
static void back_substitute(const void *loop, integer number, real *scratch)
{
    const depth *at = loop;
    const dissected_system *system = at->system;
    const dissected_part *part = system->parts[at->first + number];
    real *answers = system->answers + system->answer_starts[at->first + number];
    real *outside = system->outside + system->outside_starts[at->first + number];
    integer s = part->size, b = part->reach, width = system->size + 1;
    const real *root = part->root;
    (void)scratch;
    for (integer axis = 0; axis < system->axes; axis++)
        for (integer k = 0; k < b; k++)
            outside[axis * b + k] = system->values[axis * width + part->border[k]];
    for (integer i = 0; i < s; i++)
        for (integer axis = 0; axis < system->axes; axis++)
            answers[axis * s + i] -= inner_product(part->coupling + i * b, outside + axis * b, b);
    for (integer j = 0; j < s; root += s - j, j++)
        for (integer axis = 0; axis < system->axes; axis++)
            system->values[axis * width + part->own[j]] = inner_product(root, answers + axis * s + j, s - j);
}

/* Parts at one depth have no unknown in common, but may have a border in common, from which they are
   subtracted in turn. */
void solve_dissected_system(const dissected_system *system)
{
    for (integer level = 0; level < system->levels_count; level++) {
        depth loop = {system, system->levels[level]};
        share(system->levels[level + 1] - loop.first, eliminate, &loop, 0, NULL);
        for (integer i = loop.first; i < system->levels[level + 1]; i++)
            subtract_outside(system, i);
    }
    for (integer level = system->levels_count - 1; level >= 0; level--) {
        depth loop = {system, system->levels[level]};
        share(system->levels[level + 1] - loop.first, back_substitute, &loop, 0, NULL);
    }
}

/* Adds a symmetric matrix (b, b) to rows and columns of a front (m, m), above its diagonal. */
EXPORT void add_update(real *front, integer m, integer *places, real *update, integer b)
{
    for (integer j = 0; j < b; j++)
        for (integer i = j; i < b; i++) {
            integer row = places[j], column = places[i];
            front[row < column ? row * m + column : column * m + row] += update[j * b + i];
        }
}

/* Subtracts from x (rows, columns) the products Σ left(k, row) × right(k, column) for k < count, one
   after the other; `width` and `left_width` are from one row of x and right, and of left, to the next. */
static void subtract_products(real *x, const real *left, const real *right, integer rows, integer columns,
                              integer count, integer width, integer left_width)
{
    integer i = 0;
    for (; rows == 4 && i + 4 <= columns; i += 4) {
        four_reals block[4];
        for (int j = 0; j < 4; j++)
            block[j] = *(const four_reals *)(x + j * width + i);
        for (integer k = 0; k < count; k++) {
            four_reals values = *(const four_reals *)(right + k * width + i);
            for (int j = 0; j < 4; j++)
                block[j] -= left[k * left_width + j] * values;
        }
        for (int j = 0; j < 4; j++)
            *(four_reals *)(x + j * width + i) = block[j];
    }
    for (integer j = 0; j < rows; j++)
        for (integer k = 0; k < count; k++)
            add_scaled(x + j * width + i, right + k * width + i, columns - i, -left[k * left_width + j]);
}

/* Eliminates unknowns from `first` up to `last` of a front (m, m) from each other. */
static void eliminate_among(real *front, integer m, real *root, integer s, integer first, integer last)
{
    for (integer k = first; k < last; k++) {
        real *row = front + k * m, *own = root + k * s, scale = 1.0 / __builtin_sqrt(row[k]);
        for (integer i = k; i < m; i++)
            row[i] *= scale;
        for (integer i = 0; i <= k; i++)
            own[i] *= scale;
        for (integer j = k + 1; j < last; j++) {
            if (row[j] == 0.0)
                continue;
            add_scaled(front + j * m + j, row + j, m - j, -row[j]);
            add_scaled(root + j * s, own, k + 1, -row[j]);
        }
    }
}

/* Unknowns that are eliminated together: so many rows of a large front fit into the cache, and blocks
   of four rows and columns stay in registers. */
#define TOGETHER 32

/* Eliminates the first s unknowns of a front (m, m); `root` (s, s), at first the unit matrix,
   becomes the inverse of their Cholesky factor. */
EXPORT void eliminate_unknowns(real *front, integer m, real *root, integer s)
{
    for (integer first = 0, last; first < s; first = last) {
        last = first + TOGETHER < s ? first + TOGETHER : s;
        eliminate_among(front, m, root, s, first, last);
        for (integer j = last; j < m; j += 4) {
            const real *pulls = front + first * m + j;
            integer rows = m - j < 4 ? m - j : 4, inner = s - j < rows ? s - j : rows;
            subtract_products(front + j * m + j, pulls, pulls, rows, m - j, last - first, m, m);
            subtract_products(root + j * s, pulls, root + first * s, inner, last, last - first, s, m);
        }
    }
}
