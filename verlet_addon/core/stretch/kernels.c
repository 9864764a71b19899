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
SMALL static void widen(const real *positions, integer n, const strip_batch *batch, real *range)
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

/* A link of the strips; see Links. What is looked at together lies together. */
typedef struct {
    int32_t ends[2], sides[2]; /* its particles, and where each has it among the sides */
    real inverse_masses[2];
    real rest_length, shortest, scaled_compliance, gain;
} strip_link;

/* A link as one of its particles has it. */
typedef struct {
    int32_t link, other;    /* and the particle at its other end */
    real longest, shortest; /* squares of the lengths between which it is left alone */
} link_side;

/* All links of all strips. */
typedef struct {
    integer count, particles; /* k links of n particles */
    const strip_link *links;  /* (k,) */
    link_side *sides;         /* (2 k,) of each particle */
    const integer *starts;    /* (n + 1,) where they begin */
    real *multipliers;        /* (k,) */
    integer *found, *moved; /* (k + 1,) links and (n + 1,) particles, to work in as all that follow */
    uint8_t *marked, *seen; /* (k,) and (n,) 0 between calls */
    real *places;           /* (n, 4) positions, and room */
} strip_links;

/* The length from which a link is stretched by more than a share. */
static inline real longest(const strip_links *links, integer k, real tolerance)
{
    const strip_link *link = links->links + k;
    return (1.0 + tolerance) * link->rest_length - link->scaled_compliance * links->multipliers[k];
}

/* Sets from which length a link that stretches by its tension is drawn together. */
static inline void set_longest(const strip_links *links, integer k, real tolerance)
{
    real length = longest(links, k, tolerance);
    for (int end = 0; end < 2; end++)
        links->sides[links->links[k].sides[end]].longest = length * length;
}

/* Whether a link is stretched, or too short, seen from its particle there. */
static inline int is_stretched(const link_side *side, real x, real y, real z, const real *places)
{
    const real *to = places + 4 * side->other;
    real along_x = to[0] - x, along_y = to[1] - y, along_z = to[2] - z;
    real square = along_x * along_x + along_y * along_y + along_z * along_z;
    return (square > side->longest) | (square < side->shortest);
}

/* Mends the links found, one after the other; the number of particles listed in `moved`. */
static integer draw_together(const strip_links *links, integer found, real tolerance,
                             real overdone)
{
    integer moved = 0;
    for (integer i = 0; i < found; i++) {
        integer k = links->found[i];
        const strip_link *link = links->links + k;
        const real *masses = link->inverse_masses;
        real *a = links->places + 4 * link->ends[0], *b = links->places + 4 * link->ends[1];
        real across[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        real length = distance(across[0], across[1], across[2]);
        real scaled = link->scaled_compliance;
        real excess = length - link->rest_length + scaled * links->multipliers[k];
        real lack = smaller(length - link->shortest, 0.0);
        real more = scaled > 0.0 ? 1.0 : overdone;
        real step = more * (larger(excess, 0.0) + lack) * link->gain;
        real pull = step / length;
        links->multipliers[k] -= step;
        if (scaled > 0.0)
            set_longest(links, k, tolerance);
        for (int axis = 0; axis < 3; axis++) {
            a[axis] += masses[0] * pull * across[axis];
            b[axis] -= masses[1] * pull * across[axis];
        }
        for (int end = 0; end < 2; end++) {
            links->moved[moved] = link->ends[end];
            moved += !links->seen[link->ends[end]];
            links->seen[link->ends[end]] = 1;
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
    integer found = 0, *restrict list = links->found;
    uint8_t *restrict marked = links->marked;
    const real *places = links->places;
    for (integer i = 0; i < moved; i++) {
        integer particle = links->moved[i];
        real x = places[4 * particle], y = places[4 * particle + 1], z = places[4 * particle + 2];
        const link_side *side = links->sides + links->starts[particle];
        const link_side *stop = links->sides + links->starts[particle + 1];
        for (; side < stop; side++) {
            int stretched = is_stretched(side, x, y, z, places);
            list[found] = side->link;
            found += stretched & !marked[side->link];
            marked[side->link] |= (uint8_t)stretched;
        }
    }
    for (integer i = 0; i < found; i++)
        marked[list[i]] = 0;
    return found;
}

/* Whether a link is stretched, or too short, as its first particle has it. */
static int needs_mending(const strip_links *links, integer k)
{
    const strip_link *link = links->links + k;
    const real *from = links->places + 4 * link->ends[0];
    return is_stretched(links->sides + link->sides[0], from[0], from[1], from[2], links->places);
}

/* Lays positions side by side, and lists in `found` the links that are stretched. */
static integer begin_sharing(const real *positions, const strip_links *links, real tolerance)
{
    integer n = links->particles, found = 0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            links->places[4 * i + axis] = positions[axis * n + i];
    for (integer k = 0; k < links->count; k++) {
        if (links->links[k].scaled_compliance > 0.0)
            set_longest(links, k, tolerance);
        links->found[found] = k;
        found += needs_mending(links, k);
    }
    return found;
}

/* Whether any of the links found is stretched by more than this share, or too short. */
static int any_beyond(const strip_links *links, integer found, real tolerance, real most)
{
    int any = 0;
    for (integer i = 0; i < found; i++) {
        set_longest(links, links->found[i], most);
        any |= needs_mending(links, links->found[i]);
        set_longest(links, links->found[i], tolerance);
    }
    return any;
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
    return any_beyond(links, found, tolerance, most);
}
