/* Lengths along strips: the functions of kernels.py, which has formulas and sources. */
#include "../team/team.h"
#include "strips.h"

typedef struct {
    const real *positions;
    integer n;
    const face_diagonals *diagonals;
} faces;

/* A part ends with the face that it begins last. */
static void scale_diagonals(const void *loop, integer part, real *scratch)
{
    const face_diagonals *of = ((const faces *)loop)->diagonals;
    const real *positions = ((const faces *)loop)->positions;
    integer n = ((const faces *)loop)->n, first = part * PATH_PART;
    integer last = end_of(part, PATH_PART, of->count);
    (void)scratch;
    while (first && first < last && of->faces[first] == of->faces[first - 1])
        first++;
    for (integer end; first < last; first = end) {
        real mean = 0.0;
        for (end = first; end < of->count && of->faces[end] == of->faces[first]; end++) {
            integer a = of->pairs[2 * end], b = of->pairs[2 * end + 1];
            mean += of->weights[end] * distance(positions[b] - positions[a],
                                                positions[n + b] - positions[n + a],
                                                positions[2 * n + b] - positions[2 * n + a]);
        }
        if (mean < MIN_FACE_SCALE)
            mean = MIN_FACE_SCALE;
        for (integer k = first; k < end; k++)
            of->rest_lengths[of->link_indices[k]] = of->rests[k] * mean;
    }
}

/* Scales the rest lengths of diagonals by the mean stretch of the diagonals of their face. */
EXPORT void update_diagonal_rests(real *positions, integer n, const face_diagonals *of)
{
    faces loop = {positions, n, of};
    share(parts_of(of->count, PATH_PART), scale_diagonals, &loop, 0, NULL);
}

/* The largest (C + compliance * multiplier) / L of a path, at least `largest`. */
static real largest_strain(const strip_batch *batch, integer begin, integer links, path_work at,
                           real largest)
{
    const real *reference_lengths = batch->reference_lengths + begin;
    for (integer k = 0; k < links; k++)
        if (at.violation[k] > largest * reference_lengths[k])
            largest = at.violation[k] / reference_lengths[k];
    return largest;
}

/* Adds the compliance in compression to links that are compressed once their tension is removed;
   links at their least length resist. */
static void compress(const strip_batch *batch, integer begin, integer links, path_work at)
{
    for (integer k = 0; k < links; k++) {
        integer link = begin + k;
        real measured = batch->reference_lengths[link], min_length = (1.0 - MIN_LENGTH_SHARE) * measured;
        real compliance = batch->scaled_compression[link], multiplier = batch->multipliers[link];
        real push = multiplier * at.pivot[k] - at.violation[k];
        if (push > REST_TOLERANCE * measured) {
            if ((push - min_length) * compliance > min_length * at.pivot[k]) {
                at.violation[k] += min_length;
            } else {
                at.violation[k] += compliance * multiplier;
                at.pivot[k] += compliance;
            }
        }
    }
}

/* Sets the matrix of a path: its diagonal, and the elements between each link and the next. */
static void couple(const strip_batch *batch, integer begin, integer links, path_work at)
{
    const real *diagonal = batch->diagonal + begin, *between = batch->inverse_masses + begin + 1;
    const real *x = at.across_x, *y = at.across_y, *z = at.across_z;
    for (integer k = 0; k < links; k++)
        at.pivot[k] = diagonal[k];
    WIDE for (integer k = 0; k + 1 < links; k++)
        at.off_diagonal[k] = -(x[k] * x[k + 1] + y[k] * y[k + 1] + z[k] * z[k + 1]) * between[k];
    if (batch->scaled_compression)
        compress(batch, begin, links, at);
}

/* Turns violations into -(change of multipliers) by Thomas's algorithm, from both ends to the
   middle and back: the divisions of both halves overlap in time. */
static void solve_path(integer links, path_work at)
{
    const real *pivot = at.pivot;
    real *right = at.violation, *off_diagonal = at.off_diagonal;
    real low_load = 0.0, low_carry = 0.0, high_load = 0.0, high_carry = 0.0;
    integer low = 0, high = links - 1;
    for (; low + 1 < high; low++, high--) {
        real low_right = right[low] - low_carry, high_right = right[high] - high_carry;
        real low_inverse = 1.0 / (pivot[low] - low_load);
        real high_inverse = 1.0 / (pivot[high] - high_load);
        real up = off_diagonal[low] * low_inverse, down = off_diagonal[high - 1] * high_inverse;
        low_load = up * off_diagonal[low];
        low_carry = up * low_right;
        high_load = down * off_diagonal[high - 1];
        high_carry = down * high_right;
        right[low] = low_right * low_inverse;
        right[high] = high_right * high_inverse;
        off_diagonal[low] = up;
        off_diagonal[high - 1] = down;
    }
    real first = pivot[low] - low_load, from_first = right[low] - low_carry;
    if (low == high) {
        right[low] = (from_first - high_carry) / (first - high_load);
    } else {
        real up = off_diagonal[low] / first;
        right[high] = (right[high] - high_carry - up * from_first)
                      / (pivot[high] - high_load - up * off_diagonal[low]);
        right[low] = (from_first - off_diagonal[low] * right[high]) / first;
    }
    real below = right[low], above = right[high];
    while (low > 0) {
        low--, high++;
        below = right[low] -= off_diagonal[low] * below;
        above = right[high] -= off_diagonal[high - 1] * above;
    }
}

/* Moves the points of a path by the changes of its multipliers. */
static void move_path(real *positions, integer n, const strip_batch *batch, integer begin,
                      integer links, path_work at)
{
    real *multipliers = batch->multipliers + begin;
    WIDE for (integer k = 0; k < links; k++) {
        real step = at.violation[k];
        multipliers[k] -= step;
        at.across_x[k] *= step;
        at.across_y[k] *= step;
        at.across_z[k] *= step;
    }
    real x = 0.0, y = 0.0, z = 0.0;
    for (integer k = 0; k <= links; k++) {
        real w = batch->inverse_masses[begin + k], back_x = x, back_y = y, back_z = z;
        x = k < links ? at.across_x[k] : 0.0;
        y = k < links ? at.across_y[k] : 0.0;
        z = k < links ? at.across_z[k] : 0.0;
        put(positions, n, batch->path[begin + k], at.x[k] + w * (x - back_x),
            at.y[k] + w * (y - back_y), at.z[k] + w * (z - back_z));
    }
}

/* Strips of one batch. */
typedef struct {
    real *positions;
    integer n;
    const strip_batch *batch;
} strips;

/* One Newton step for the links of a part of a batch; sets the largest (C + compliance * multiplier) / L
   before it. Several short paths are measured and moved together, because loops over few links take
   twice as long. */
static void project_some_strips(const void *loop, integer part, real *scratch)
{
    const strips *of = loop;
    const strip_batch *batch = of->batch;
    const integer *ends = batch->ends;
    real largest = 0.0, *positions = of->positions;
    integer n = of->n;
    path_range own = paths_in(ends, batch->paths, part, PATH_PART);
    for (integer p = own.first; p < own.last;) {
        integer first = p++, begin = first ? ends[first - 1] : 0;
        while (p < own.last && ends[p - 1] - begin < MIN_CHUNK)
            p++;
        integer links = ends[p - 1] - begin - 1;
        path_work at = lay_out(scratch, links + 1);
        measure(positions, n, batch, begin, links, at);
        for (integer path = first; path + 1 < p; path++)
            at.violation[ends[path] - begin - 1] = 0.0; /* in gaps */
        largest = largest_strain(batch, begin, links, at, largest);
        couple(batch, begin, links, at);
        for (integer path = first, from = begin; path < p; from = ends[path++])
            solve_path(ends[path] - from - 1, lay_out(scratch + from - begin, links + 1));
        move_path(positions, n, batch, begin, links, at);
    }
    batch->largest[part] = largest;
}

/* Projects all strips of a batch; returns the largest (C + compliance * multiplier) / L before it,
   at least `largest`. */
static real project_batch(real *positions, integer n, const strip_batch *batch, real largest)
{
    integer parts = parts_of(batch->entries, PATH_PART);
    strips loop = {positions, n, batch};
    share(parts, project_some_strips, &loop, batch->reals, batch->work);
    for (integer part = 0; part < parts; part++)
        largest = larger(largest, batch->largest[part]);
    return largest;
}

/* Projects all batches, one after the other; returns the largest (C + compliance * multiplier) /
   L. */
EXPORT real project_strips(real *positions, integer n, const strip_batch *const *batches,
                           integer count)
{
    real largest = 0.0;
    for (integer i = 0; i < count; i++)
        largest = project_batch(positions, n, batches[i], largest);
    return largest;
}

/* Widens the range of (C + compliance * multiplier) / L to that of a batch. */
SMALL static void widen(const real *positions, integer n, const strip_batch *batch, real *range)
{
    for (integer p = 0, begin = 0; p < batch->paths; begin = batch->ends[p++]) {
        integer links = batch->ends[p] - begin - 1;
        path_work at = lay_out(batch->work, links + 1);
        measure(positions, n, batch, begin, links, at);
        for (integer k = 0; k < links; k++) {
            real strain = at.violation[k] / batch->reference_lengths[begin + k];
            range[0] = smaller(range[0], strain);
            range[1] = larger(range[1], strain);
        }
    }
}

/* Widens the range of (C + compliance * multiplier) / L to that of all batches. */
EXPORT void strain_range(const real *positions, integer n, const strip_batch *const *batches,
                         integer count, real *range)
{
    for (integer i = 0; i < count; i++)
        widen(positions, n, batches[i], range);
}

SMALL void sort_by_tension(const strip_order *of)
{
    for (integer i = 0; i < of->batches_count; i++) {
        integer last = i + 1 < of->batches_count ? of->starts[i + 1] : of->links, at = i;
        real tension = of->multipliers[of->starts[i]];
        for (integer k = of->starts[i] + 1; k < last; k++)
            tension = smaller(tension, of->multipliers[k]);
        for (; at > 0 && of->tensions[at - 1] > tension; at--) {
            of->tensions[at] = of->tensions[at - 1];
            of->order[at] = of->order[at - 1];
        }
        of->tensions[at] = tension;
        of->order[at] = i;
    }
}
