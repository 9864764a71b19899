/* Lengths: the same as numpy_kernels.py, where formulas and sources stand, one after the other. */
#include "strips.h"

#define EXACT 1e-9 /* Lengths are at rest within this share. */
#define LEAST 0.5  /* What yields does so down to this share of its length. */

/* See Diagonals. */
typedef struct {
    integer count;
    const integer *pairs, *faces; /* (d, 2) and (d,) */
    const real *rests, *weights;  /* (d,) */
    const integer *places;        /* (d,) */
    real *drawn;
} face_diagonals;

/* Makes the rests of diagonals as much longer or shorter as those of their face on average. */
EXPORT void follow_faces(const real *positions, integer n, const face_diagonals *of, real smallest)
{
    for (integer first = 0, end; first < of->count; first = end) {
        real mean = 0.0;
        for (end = first; end < of->count && of->faces[end] == of->faces[first]; end++) {
            integer a = of->pairs[2 * end], b = of->pairs[2 * end + 1];
            mean += of->weights[end] * distance(positions[b] - positions[a],
                                                positions[n + b] - positions[n + a],
                                                positions[2 * n + b] - positions[2 * n + a]);
        }
        if (mean < smallest)
            mean = smallest;
        for (integer k = first; k < end; k++)
            of->drawn[of->places[k]] = of->rests[k] * mean;
    }
}

/* The largest (C + compliance * multiplier) / L of a path, or what it was if that is more. */
static real largest_strain(const strip_batch *batch, integer begin, integer links, path_work at,
                           real largest)
{
    const real *measures = batch->measures + begin;
    for (integer k = 0; k < links; k++)
        if (at.violation[k] > largest * measures[k])
            largest = at.violation[k] / measures[k];
    return largest;
}

/* What will be pushed, once its tension is taken back, yields, down to its least length. */
static void yield(const strip_batch *batch, integer begin, integer links, path_work at)
{
    for (integer k = 0; k < links; k++) {
        integer link = begin + k;
        real measured = batch->measures[link], least = (1.0 - LEAST) * measured;
        real softness = batch->scaled_yielding[link], multiplier = batch->multipliers[link];
        real push = multiplier * at.pivot[k] - at.violation[k];
        if (push > EXACT * measured) {
            if ((push - least) * softness > least * at.pivot[k]) {
                at.violation[k] += least;
            } else {
                at.violation[k] += softness * multiplier;
                at.pivot[k] += softness;
            }
        }
    }
}

/* Sets up the system of a path: its diagonal, and the elements between each link and the next. */
static void couple(const strip_batch *batch, integer begin, integer links, path_work at)
{
    const real *diagonal = batch->diagonal + begin, *between = batch->inverse_masses + begin + 1;
    const real *x = at.across_x, *y = at.across_y, *z = at.across_z;
    for (integer k = 0; k < links; k++)
        at.pivot[k] = diagonal[k];
    for (integer k = 0; k + 1 < links; k++)
        at.beside[k] = -(x[k] * x[k + 1] + y[k] * y[k + 1] + z[k] * z[k + 1]) * between[k];
    if (batch->scaled_yielding)
        yield(batch, begin, links, at);
}

/* Turns violations into -(change of multipliers) by Thomas's algorithm, from both ends to the
   middle and back: two chains of divisions take hardly longer than one. */
static void solve_path(integer links, path_work at)
{
    const real *pivot = at.pivot;
    real *right = at.violation, *beside = at.beside;
    real low_load = 0.0, low_carry = 0.0, high_load = 0.0, high_carry = 0.0;
    integer low = 0, high = links - 1;
    for (; low + 1 < high; low++, high--) {
        real low_right = right[low] - low_carry, high_right = right[high] - high_carry;
        real low_inverse = 1.0 / (pivot[low] - low_load);
        real high_inverse = 1.0 / (pivot[high] - high_load);
        real up = beside[low] * low_inverse, down = beside[high - 1] * high_inverse;
        low_load = up * beside[low];
        low_carry = up * low_right;
        high_load = down * beside[high - 1];
        high_carry = down * high_right;
        right[low] = low_right * low_inverse;
        right[high] = high_right * high_inverse;
        beside[low] = up;
        beside[high - 1] = down;
    }
    real first = pivot[low] - low_load, from_first = right[low] - low_carry;
    if (low == high) {
        right[low] = (from_first - high_carry) / (first - high_load);
    } else {
        real up = beside[low] / first;
        right[high] = (right[high] - high_carry - up * from_first)
                      / (pivot[high] - high_load - up * beside[low]);
        right[low] = (from_first - beside[low] * right[high]) / first;
    }
    real below = right[low], above = right[high];
    while (low > 0) {
        low--, high++;
        below = right[low] -= beside[low] * below;
        above = right[high] -= beside[high - 1] * above;
    }
}

/* Moves the points of a path as the changes of its multipliers pull. */
static void move_path(real *positions, integer n, const strip_batch *batch, integer begin,
                      integer links, path_work at)
{
    real *multipliers = batch->multipliers + begin;
    for (integer k = 0; k < links; k++) {
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

/* One Newton step for all edges of a batch; the largest (C + compliance * multiplier) / L. */
static real project_batch(real *positions, integer n, const strip_batch *batch, real largest)
{
    for (integer p = 0, begin = 0; p < batch->paths; begin = batch->ends[p++]) {
        integer links = batch->ends[p] - begin - 1;
        path_work at = lay_out(batch->work, links + 1);
        measure(positions, n, batch, begin, links, at);
        largest = largest_strain(batch, begin, links, at, largest);
        couple(batch, begin, links, at);
        solve_path(links, at);
        move_path(positions, n, batch, begin, links, at);
    }
    return largest;
}

/* The same for all batches, one after the other. */
EXPORT real project_strips(real *positions, integer n, const strip_batch *const *batches,
                           integer count)
{
    real largest = 0.0;
    for (integer i = 0; i < count; i++)
        largest = project_batch(positions, n, batches[i], largest);
    return largest;
}

/* Widens range[0] <= (C + compliance * multiplier) / L <= range[1] to what is found. */
static void widen(const real *positions, integer n, const strip_batch *batch, real *range)
{
    for (integer p = 0, begin = 0; p < batch->paths; begin = batch->ends[p++]) {
        integer links = batch->ends[p] - begin - 1;
        path_work at = lay_out(batch->work, links + 1);
        measure(positions, n, batch, begin, links, at);
        for (integer k = 0; k < links; k++) {
            real strain = at.violation[k] / batch->measures[begin + k];
            range[0] = smaller(range[0], strain);
            range[1] = larger(range[1], strain);
        }
    }
}

/* The smallest and the largest strain of all edges, as `widen` has them. */
EXPORT void strain_range(const real *positions, integer n, const strip_batch *const *batches,
                         integer count, real *range)
{
    for (integer i = 0; i < count; i++)
        widen(positions, n, batches[i], range);
}

/* The distances of one colour; see DistanceBatch. */
typedef struct {
    integer count;            /* c */
    const integer *particles; /* (2 c,) */
    const real *rest_lengths, *first_masses, *second_masses, *gains;
} distance_batch;

/* Whether any pair is further apart than its length. */
static int is_any_far(const real *positions, integer n, const distance_batch *batch)
{
    const integer *first = batch->particles, *second = batch->particles + batch->count;
    const real *px = positions, *py = positions + n, *pz = positions + 2 * n;
    for (integer i = 0; i < batch->count; i++) {
        real x = px[second[i]] - px[first[i]], y = py[second[i]] - py[first[i]];
        real z = pz[second[i]] - pz[first[i]];
        if (distance(x, y, z) > batch->rest_lengths[i])
            return 1;
    }
    return 0;
}

/* Acts on the pairs of a batch that are further apart than their length. */
static void bring_near(real *positions, integer n, const distance_batch *batch)
{
    const integer *first = batch->particles, *second = batch->particles + batch->count;
    const real *px = positions, *py = positions + n, *pz = positions + 2 * n;
    if (!is_any_far(positions, n, batch))
        return;
    for (integer i = 0; i < batch->count; i++) {
        integer a = first[i], b = second[i];
        real x = px[b] - px[a], y = py[b] - py[a], z = pz[b] - pz[a];
        real length = distance(x, y, z);
        real excess = larger(length - batch->rest_lengths[i], 0.0);
        real pull = excess * batch->gains[i] / length;
        real to = batch->first_masses[i] * pull, fro = batch->second_masses[i] * pull;
        real there[3] = {px[b] - fro * x, py[b] - fro * y, pz[b] - fro * z};
        put(positions, n, a, px[a] + to * x, py[a] + to * y, pz[a] + to * z);
        put(positions, n, b, there[0], there[1], there[2]);
    }
}

/* Draws particles (t,) that are further than lengths (t,) from their pins (t,) towards them. */
EXPORT void project_tethers(real *positions, integer n, integer t, const integer *particles,
                            const integer *pins, const real *lengths)
{
    for (integer i = 0; i < t; i++) {
        real *x = positions + particles[i], *y = x + n, *z = y + n;
        const real *pin = positions + pins[i];
        real arm_x = *x - pin[0], arm_y = *y - pin[n], arm_z = *z - pin[2 * n];
        real reach = distance(arm_x, arm_y, arm_z);
        if (reach > lengths[i]) {
            real excess = lengths[i] / reach - 1.0;
            *x += arm_x * excess;
            *y += arm_y * excess;
            *z += arm_z * excess;
        }
    }
}

/* See Level. */
typedef struct {
    integer count;            /* k */
    const integer *particles; /* (k,) */
    integer batches;
    const distance_batch *const *limits; /* (batches,) */
    integer family;                      /* f */
    const integer *children;             /* (f,) */
    const integer *parents;              /* (f, 4) */
    const real *weights;                 /* (f, 4) */
    real *places, *moved;                /* (3, k) to work in */
} coarse_level;

/* Solves a level by itself, and leaves in `moved` where that takes its particles; whether any. */
static int solve_level(const real *positions, integer n, const coarse_level *level)
{
    integer k = level->count;
    int any = 0;
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < k; i++)
            level->places[axis * k + i] = positions[axis * n + level->particles[i]];
    for (integer i = 0; i < level->batches; i++)
        bring_near(level->places, k, level->limits[i]);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < k; i++) {
            real moved = level->places[axis * k + i] - positions[axis * n + level->particles[i]];
            level->moved[axis * k + i] = moved;
            any |= moved != 0.0;
        }
    return any;
}

/* Moves children by the weighted mean of what moves their parents. */
static void hand_down(real *positions, integer n, const coarse_level *level)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < level->family; i++) {
            const integer *from = level->parents + 4 * i;
            const real *share = level->weights + 4 * i, *moved = level->moved + axis * level->count;
            positions[axis * n + level->children[i]] += share[0] * moved[from[0]]
                                                        + share[1] * moved[from[1]]
                                                        + share[2] * moved[from[2]]
                                                        + share[3] * moved[from[3]];
        }
}

/* Solves each coarse level, and hands its corrections down to the next finer one. */
EXPORT void project_levels(real *positions, integer n, const coarse_level *const *levels,
                           integer count)
{
    for (integer i = 0; i < count; i++)
        if (solve_level(positions, n, levels[i]))
            hand_down(positions, n, levels[i]);
}

/* The links of all strips; see Links. What is looked at most often lies side by side. */
typedef struct {
    integer count, particles;      /* k links of n particles */
    const integer *ends;           /* (k, 2) */
    const real *inverse_masses;    /* (k, 2) */
    const real *rest_lengths, *shortest, *scaled_compliances, *gains;
    const integer *order, *others; /* (2 k,) of each particle: its links and their other ends */
    const integer *starts;         /* (n + 1,) where they begin */
    real *multipliers;             /* (k,) */
    integer *found, *moved; /* (k + 1,) links and (n + 1,) particles, to work in as all that follow */
    uint8_t *marked, *seen; /* (k,) and (n,) 0 between calls */
    real *bounds;           /* (k, 2) squares of the lengths between which a link is left alone */
    real *places;           /* (n, 4) positions, and room */
} strip_links;

/* Sets the length from which a link is stretched by more than a share. */
static inline void set_bound(const strip_links *links, integer link, real tolerance)
{
    real limit = (1.0 + tolerance) * links->rest_lengths[link]
                 - links->scaled_compliances[link] * links->multipliers[link];
    links->bounds[2 * link] = limit * limit;
}

/* Whether a link between these places is stretched, or too short. */
static inline int is_stretched(const strip_links *links, integer link, const real *a, const real *b)
{
    real x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    real square = x * x + y * y + z * z;
    return (square > links->bounds[2 * link]) | (square < links->bounds[2 * link + 1]);
}

/* Mends the links found, one after the other; the number of particles listed in `moved`. */
static integer draw_together(const strip_links *links, integer found, real tolerance,
                             real overdone)
{
    integer moved = 0;
    for (integer i = 0; i < found; i++) {
        integer link = links->found[i];
        const integer *ends = links->ends + 2 * link;
        const real *masses = links->inverse_masses + 2 * link;
        real *a = links->places + 4 * ends[0], *b = links->places + 4 * ends[1];
        real across[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        real length = distance(across[0], across[1], across[2]);
        real scaled = links->scaled_compliances[link];
        real excess = length - links->rest_lengths[link] + scaled * links->multipliers[link];
        real lack = smaller(length - links->shortest[link], 0.0);
        real more = scaled > 0.0 ? 1.0 : overdone;
        real step = more * (larger(excess, 0.0) + lack) * links->gains[link];
        real pull = step / length;
        links->multipliers[link] -= step;
        set_bound(links, link, tolerance);
        for (int axis = 0; axis < 3; axis++) {
            a[axis] += masses[0] * pull * across[axis];
            b[axis] -= masses[1] * pull * across[axis];
        }
        for (int end = 0; end < 2; end++) {
            links->moved[moved] = ends[end];
            moved += !links->seen[ends[end]];
            links->seen[ends[end]] = 1;
        }
    }
    for (integer i = 0; i < moved; i++)
        links->seen[links->moved[i]] = 0;
    return moved;
}

/* Lists in `found` the links at particles that have moved, which are stretched. No branch depends
   on what is found: it could not be foreseen. */
static integer find_stretched(const strip_links *links, integer moved)
{
    const integer *starts = links->starts;
    integer found = 0;
    for (integer i = 0; i < moved; i++) {
        integer particle = links->moved[i], stop = starts[particle + 1];
        const real *a = links->places + 4 * particle;
        for (integer k = starts[particle]; k < stop; k++) {
            integer link = links->order[k];
            int stretched = is_stretched(links, link, a, links->places + 4 * links->others[k]);
            links->found[found] = link;
            found += stretched & !links->marked[link];
            links->marked[link] |= (uint8_t)stretched;
        }
    }
    for (integer i = 0; i < found; i++)
        links->marked[links->found[i]] = 0;
    return found;
}

/* Sets all bounds, lays positions side by side, and lists in `found` the links that are stretched. */
static integer begin_sharing(const real *positions, const strip_links *links, real tolerance)
{
    integer n = links->particles, found = 0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            links->places[4 * i + axis] = positions[axis * n + i];
    for (integer link = 0; link < links->count; link++) {
        real shortest = links->shortest[link];
        links->bounds[2 * link + 1] = shortest * shortest;
        set_bound(links, link, tolerance);
        links->found[found] = link;
        found += is_stretched(links, link, links->places + 4 * links->ends[2 * link],
                              links->places + 4 * links->ends[2 * link + 1]);
    }
    return found;
}

/* Mends links that are stretched by more than this share, or too short, until none is or so many
   rounds are over. Whether any is stretched by more than `most` even then. */
EXPORT integer share_stretch(real *positions, const strip_links *links, real tolerance, real most,
                             real overdone, integer rounds)
{
    integer n = links->particles, found = begin_sharing(positions, links, tolerance), moved = 0;
    if (!found)
        return 0;
    for (integer round = 0; found && round < rounds; round++) {
        moved = draw_together(links, found, tolerance, overdone);
        found = find_stretched(links, moved);
    }
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            positions[axis * n + i] = links->places[4 * i + axis];
    for (integer i = 0; i < found; i++)
        set_bound(links, links->found[i], most);
    return find_stretched(links, moved) > 0;
}
