/* Strain limiting of single links: the function of strain_limiting.py. */
#include "../kernels.h"

/* A link of the strips; see StripLinks. One struct per link, because its members are read
   together. */
typedef struct strip_link {
    int32_t ends[2], sides[2]; /* its particles, and its two entries among the sides */
    real inverse_masses[2];
    real rest_length, min_length, scaled_compliance, gain;
} strip_link;

/* Updates the squared length from which an elastic link is shortened, by its current multiplier. */
static inline void update_max_squares(const strip_links *links, integer k, real tolerance)
{
    const strip_link *link = links->sides->links + k;
    real yielded = link->scaled_compliance * links->multipliers[k];
    real max_length = (1.0 + tolerance) * link->rest_length - yielded;
    for (int end = 0; end < 2; end++)
        links->sides->max_squares[link->sides[end]] = max_length * max_length;
}

/* Projects the links listed in `overstretched`, one after the other, and lists their particles in
   `moved`; returns the number of these. */
static integer project_links(const strip_links *links, integer overstretched, real tolerance)
{
    integer moved = 0;
    for (integer i = 0; i < overstretched; i++) {
        integer k = links->sides->overstretched[i];
        const strip_link *link = links->sides->links + k;
        const real *masses = link->inverse_masses;
        real *a = links->points + 4 * link->ends[0], *b = links->points + 4 * link->ends[1];
        real across[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        real length = distance(across[0], across[1], across[2]);
        real scaled = link->scaled_compliance;
        real excess = length - link->rest_length + scaled * links->multipliers[k];
        real shortfall = smaller(length - link->min_length, 0.0);
        real relaxation = scaled > 0.0 ? 1.0 : OVER_RELAXATION;
        real step = relaxation * (larger(excess, 0.0) + shortfall) * link->gain;
        real pull = step / length;
        links->multipliers[k] -= step;
        if (scaled > 0.0)
            update_max_squares(links, k, tolerance);
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

/* Lists in `overstretched` the sides of moved particles that are stretched or too short; returns
   their number. Without branches on the result, which CPUs could not predict. */
static integer find_sides(const strip_links *links, integer moved)
{
    integer overstretched = 0, *restrict list = links->sides->overstretched;
    const real *points = links->points;
    for (integer i = 0; i < moved; i++) {
        integer particle = links->moved[i], stop = links->sides->starts[particle + 1];
        const real *from = points + 4 * particle;
        two_reals x = both(from[0]), y = both(from[1]), z = both(from[2]);
        for (integer side = links->sides->starts[particle]; side < stop; side += 2) {
            const real *a = points + 4 * links->sides->others[side];
            const real *b = points + 4 * links->sides->others[side + 1];
            two_reals along_x = (two_reals){a[0], b[0]} - x, along_y = (two_reals){a[1], b[1]} - y;
            two_reals along_z = (two_reals){a[2], b[2]} - z;
            two_reals square = along_x * along_x + along_y * along_y + along_z * along_z;
            two_integers stretched = (square > two_at(links->sides->max_squares + side))
                                     | (square < two_at(links->sides->min_squares + side));
            list[overstretched] = side; /* true is -1 */
            overstretched -= stretched[0];
            list[overstretched] = side + 1;
            overstretched -= stretched[1];
        }
    }
    return overstretched;
}

/* Replaces the sides in `overstretched` by their links, each once; returns the number of links. */
static integer unique_links(const strip_links *links, integer sides)
{
    integer overstretched = 0, *list = links->sides->overstretched;
    uint8_t *restrict marked = links->marked;
    for (integer i = 0; i < sides; i++) {
        integer link = links->sides->side_links[list[i]];
        list[overstretched] = link;
        overstretched += !marked[link];
        marked[link] = 1;
    }
    for (integer i = 0; i < overstretched; i++)
        marked[list[i]] = 0;
    return overstretched;
}

/* Whether a link is stretched or too short, by the limits of its first side. */
static int is_overstretched(const strip_links *links, integer k)
{
    const strip_link *link = links->sides->links + k;
    const real *from = links->points + 4 * link->ends[0], *to = links->points + 4 * link->ends[1];
    real x = to[0] - from[0], y = to[1] - from[1], z = to[2] - from[2];
    real square = x * x + y * y + z * z;
    integer side = link->sides[0];
    return (square > links->sides->max_squares[side]) | (square < links->sides->min_squares[side]);
}

/* Copies positions to `points`, updates elastic links, and lists in `overstretched` the links that
   are stretched or too short; returns their number. */
static integer begin_limiting(const real *positions, const strip_links *links, real tolerance)
{
    integer n = links->particles, overstretched = 0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            links->points[4 * i + axis] = positions[axis * n + i];
    for (integer k = 0; k < links->count; k++) {
        if (links->sides->links[k].scaled_compliance > 0.0) {
            links->sides->links[k].rest_length = links->rest_lengths[k];
            update_max_squares(links, k, tolerance);
        }
        links->sides->overstretched[overstretched] = k;
        overstretched += is_overstretched(links, k);
    }
    return overstretched;
}

/* Whether any of the links in `overstretched` is stretched by more than `max_strain` or too
   short. */
static int any_overstretched(const strip_links *links, integer overstretched, real tolerance, real max_strain)
{
    int any = 0;
    for (integer i = 0; i < overstretched; i++) {
        update_max_squares(links, links->sides->overstretched[i], max_strain);
        any |= is_overstretched(links, links->sides->overstretched[i]);
        update_max_squares(links, links->sides->overstretched[i], tolerance);
    }
    return any;
}

/* Projects links that are stretched by more than `tolerance` or too short, until there is none, in
   at most so many rounds; returns whether any is still stretched by more than `max_strain`. */
EXPORT integer limit_strain(real *positions, const strip_links *links, real max_strain)
{
    real tolerance = links->tolerance;
    integer n = links->particles, overstretched = begin_limiting(positions, links, tolerance), moved = 0;
    if (!overstretched)
        return 0;
    for (integer round = 0; overstretched && round < STRAIN_LIMITING_ROUNDS; round++) {
        moved = project_links(links, overstretched, tolerance);
        overstretched = unique_links(links, find_sides(links, moved));
    }
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            positions[axis * n + i] = links->points[4 * i + axis];
    return any_overstretched(links, overstretched, tolerance, max_strain);
}
