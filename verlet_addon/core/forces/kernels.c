/* Turbulence and air on faces: the functions of kernels.py, which has formulas and
   sources. */
#include "forces.h"

#define MAX_CELL_COORDINATE 4611686018427387904.0 /* 2^62: larger reals have no fractions, nor fit integers */

/* Splits a coordinate into its cell, modulo 256, and the fraction inside. */
static inline integer find_cell(real at, real *inside)
{
    *inside = 0.0;
    if (!(at > -MAX_CELL_COORDINATE && at < MAX_CELL_COORDINATE))
        return 0;
    integer cell = (integer)at;
    cell -= (real)cell > at;
    *inside = at - (real)cell;
    return cell & 255;
}

static real gradient_noise(const integer *table, const real *slopes, const real place[3])
{
    real arms[3][2], shares[3][2], total = 0.0;
    integer cells[3];
    for (int axis = 0; axis < 3; axis++) {
        real inside;
        cells[axis] = find_cell(place[axis], &inside);
        real fade = inside * inside * inside * (inside * (inside * 6.0 - 15.0) + 10.0);
        arms[axis][0] = inside;
        arms[axis][1] = inside - 1.0;
        shares[axis][0] = 1.0 - fade;
        shares[axis][1] = fade;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) {
                integer row = table[cells[0] + i] + cells[1] + j;
                const real *slope = slopes + table[row] + cells[2] + k;
                real rise = slope[0] * arms[0][i] + slope[512] * arms[1][j] + slope[1024] * arms[2][k];
                total += rise * (shares[0][i] * shares[1][j]) * shares[2][k];
            }
    return total;
}

void turbulence_at(const real point[3], real size, const integer *table, const real *slopes,
                   real found[3])
{
    real at[3], octave = 1.0, weights = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = size != 0.0 ? point[axis] / size : point[axis];
        found[axis] = 0.0;
    }
    for (int time = 0; time < OCTAVES; time++) {
        for (int axis = 0; axis < 3; axis++) {
            real place[3];
            for (int other = 0; other < 3; other++)
                place[other] = at[(other + axis) % 3] * octave;
            found[axis] += gradient_noise(table, slopes, place) / octave;
        }
        weights += 1.0 / octave;
        octave *= 2.0;
    }
    for (int axis = 0; axis < 3; axis++)
        found[axis] /= weights;
}

/* Sets the turbulence at points (3, n), with eddies of a size. */
EXPORT void turbulence(const real *points, integer n, real size, const integer *table,
                       const real *slopes, real *vectors)
{
    for (integer i = 0; i < n; i++) {
        real point[3], found[3];
        read(points, n, i, point);
        turbulence_at(point, size, table, slopes, found);
        for (int axis = 0; axis < 3; axis++)
            vectors[axis * n + i] = found[axis];
    }
}

/* Adds the forces of the air on faces, and their growth with speed, to `forces` (4, n).

   rows (4, n): velocity of the air relative to each particle, and slip share. */
EXPORT void plate_forces(const exposed_surface *of, const real *positions, integer n,
                         const real *rows, real *forces)
{
    for (integer first = 0, end; first < of->corner_count; first = end) {
        real normal[3] = {0.0, 0.0, 0.0}, mean[4] = {0.0, 0.0, 0.0, 0.0};
        integer face = of->face[first];
        for (end = first; end < of->corner_count && of->face[end] == face; end++) {
            real a[3], b[3], across[3];
            for (int axis = 0; axis < 3; axis++) {
                const real *row = positions + axis * n;
                a[axis] = row[of->vertex[end]] - row[0];
                b[axis] = row[of->following[end]] - row[0];
            }
            cross(a, b, across);
            for (int axis = 0; axis < 3; axis++)
                normal[axis] += across[axis];
            for (int row = 0; row < 4; row++)
                mean[row] += rows[row * n + of->vertex[end]];
        }
        for (int axis = 0; axis < 3; axis++)
            normal[axis] *= 0.5;
        real area = __builtin_sqrt(dot(normal, normal)), share = 1.0 / (real)(end - first);
        for (int row = 0; row < 4; row++)
            mean[row] *= share;
        for (int axis = 0; axis < 3; axis++)
            normal[axis] /= area > 0.0 ? area : 1.0;
        real along = dot(mean, normal);
        real factor = of->plate_factors[face] * area * __builtin_sqrt(dot(mean, mean)) * share;
        real blown[4] = {normal[0] * along, normal[1] * along, normal[2] * along, mean[3]};
        for (integer k = first; k < end; k++)
            for (int row = 0; row < 4; row++)
                forces[row * n + of->vertex[k]] += blown[row] * factor;
    }
}

void add_rope_forces(const exposed_surface *of, const real *positions, integer n, const real *rows,
                     real *forces)
{
    for (int end = 0; end < 2; end++)
        for (integer edge = 0; edge < of->edge_count; edge++) {
            integer start = of->edges[2 * edge], last = of->edges[2 * edge + 1];
            real span[3], middle[4], across[3];
            for (int axis = 0; axis < 3; axis++)
                span[axis] = positions[axis * n + last] - positions[axis * n + start];
            real length = __builtin_sqrt(dot(span, span));
            for (int row = 0; row < 4; row++)
                middle[row] = (rows[row * n + start] + rows[row * n + last]) / 2.0;
            for (int axis = 0; axis < 3; axis++)
                span[axis] /= length > 0.0 ? length : 1.0;
            real along = dot(middle, span);
            for (int axis = 0; axis < 3; axis++)
                across[axis] = middle[axis] - span[axis] * along;
            real factor = of->rope_factor * length * __builtin_sqrt(dot(across, across)) / 2.0;
            integer at = end ? last : start;
            for (int row = 0; row < 4; row++)
                forces[row * n + at] += (row < 3 ? across[row] : middle[3]) * factor;
        }
}
