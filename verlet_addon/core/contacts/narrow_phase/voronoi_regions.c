/* Filters of pairs by Voronoi regions, as in voronoi_regions.py, which has formulas and
   sources, and ridges, as in bvh_refit.py. */
#include "pairs.h"

/* Position of a particle at a time, 0 … 1. */
static void place(real *to, const surfaces *all, integer particle, real time)
{
    const real *way = all->paths + 6 * particle;
    for (int axis = 0; axis < 3; axis++)
        to[axis] = way[axis] + time * (way[3 + axis] - way[axis]);
}

/* Vector between two particles at the time of a pair. */
static void take_way(real *way, const traversal *job, const pair *p, integer to, integer from)
{
    real top[3], bottom[3];
    place(top, job->all, to, p->time);
    place(bottom, job->all, from, p->time);
    subtract(top, bottom, way);
}

/* Whether the vector from a base to a corner rises along the normal of a pair; 0 for corner -1. */
static int rises(const traversal *job, const pair *p, integer corner, integer base)
{
    if (corner < 0)
        return 0;
    real way[3];
    take_way(way, job, p, corner, base);
    return dot(p->now.normal, way) > MIN_RISE * __builtin_sqrt(dot(way, way));
}

/* Whether a pair is in the Voronoi region of a corner, and its triangle is the first there. */
static int is_closest_on_corner(const traversal *job, const pair *p, integer corner)
{
    const surfaces *all = job->all;
    const integer *fan = all->fans + all->fan_starts[corner];
    integer count = all->fan_starts[corner + 1] - all->fan_starts[corner];
    if (fan[0] != p->features[1])
        return 0;
    for (integer i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            integer other = all->triangles[k * all->triangle_count + fan[i]];
            if (other != corner && rises(job, p, other, corner))
                return 0;
        }
    return 1;
}

static int is_closest_on_triangle(const traversal *job, const pair *p)
{
    const surfaces *all = job->all;
    const real *weights = p->now.weights + 1;
    int used = 0, first = -1, unused = -1;
    for (int k = 2; k >= 0; k--) {
        used += weights[k] != 0.0;
        *(weights[k] != 0.0 ? &first : &unused) = k;
    }
    if (used == 3)
        return 1;
    integer corner = p->particles[1 + first];
    if (used == 1)
        return is_closest_on_corner(job, p, corner);
    integer edge = all->opposite_edges[unused * all->triangle_count + p->features[1]];
    return all->sides[edge] == p->features[1]
           && !rises(job, p, all->wings[all->edge_count + edge], corner);
}

/* Slope of the vector from an edge's base to a third corner towards the other feature. */
static real rise_of(const traversal *job, const pair *p, integer corner, integer base, real sign)
{
    real way[3];
    if (corner < 0)
        return 0.0;
    take_way(way, job, p, corner, base);
    return sign * dot(p->now.normal, way) / larger(__builtin_sqrt(dot(way, way)), SHORTEST);
}

/* Whether a pair of edges is not covered by another pair; limits its gap in folds. */
static int is_closest_on_edges(const traversal *job, pair *p)
{
    const surfaces *all = job->all;
    const real *weights = p->now.weights;
    int inner_first = weights[0] != 0.0 && weights[1] != 0.0;
    int inner_second = weights[2] != 0.0 && weights[3] != 0.0;
    if ((!inner_first && all->sides[p->features[1]] >= 0)
        || (!inner_second && all->sides[p->features[0]] >= 0))
        return 0;
    if (!inner_first || !inner_second)
        return 1;
    int ridge = 0;
    real steepest = 0.0;
    for (int which = 0; which < 2; which++)
        for (int side = 0; side < 2; side++) {
            integer wing = all->wings[side * all->edge_count + p->features[which]];
            real rise = rise_of(job, p, wing, p->particles[2 * which], which ? 1.0 : -1.0);
            steepest = larger(rise, steepest);
            ridge |= wing < 0 || -rise > RIDGE;
        }
    if (steepest > 0.0)
        p->gap = smaller(p->gap, p->now.apart * (MAX_FOLD_SLOPE / larger(steepest, SHORTEST)));
    return ridge && !(steepest > SHARED_SLOPE);
}

/* Whether a pair is not covered by a pair with a nearer neighbouring feature. */
int is_closest(const traversal *job, pair *p)
{
    return p->kind ? is_closest_on_edges(job, p) : is_closest_on_triangle(job, p);
}

/* Component of a direction along a triangle's normal at the start of the step, times twice its area. */
static real height_along(const traversal *job, integer triangle, const real *normal, real sign)
{
    const real *x[3];
    real ab[3], ac[3], up[3], towards[3];
    for (int k = 0; k < 3; k++)
        x[k] = job->all->paths + 6 * job->all->triangles[k * job->all->triangle_count + triangle];
    subtract(x[1], x[0], ab);
    subtract(x[2], x[0], ac);
    cross(ab, ac, up);
    for (int axis = 0; axis < 3; axis++)
        towards[axis] = sign * normal[axis];
    return dot(up, towards);
}

/* Whether one feature of a pair is behind all triangles at the other, on a single-sided surface. */
int is_behind(const traversal *job, const pair *p)
{
    const surfaces *all = job->all;
    for (int which = 0; which < 2; which++) {
        if (!all->single_sided[all->owners[p->particles[which ? 3 : 0]]])
            continue;
        integer feature = p->features[which], faces[2] = {-1, -1}, count = 2;
        const integer *list = faces;
        if (p->kind) {
            faces[0] = all->sides[feature];
            faces[1] = all->sides[all->edge_count + feature];
        } else if (which) {
            faces[0] = feature;
        } else {
            list = all->fans + all->fan_starts[feature];
            count = all->fan_starts[feature + 1] - all->fan_starts[feature];
        }
        int some = 0, before = 0;
        for (integer i = 0; i < count && !before; i++)
            if (list[i] >= 0) {
                real up = height_along(job, list[i], p->now.normal, which ? 1.0 : -1.0);
                some = 1;
                before = up >= 0.0;
            }
        if (some && !before)
            return 1;
    }
    return 0;
}

/* Vector from a base to another particle at the start of the step; 1 if it hardly rotates, relative
   to the squared length, or to its own if that is negative. */
static int read_side(const surfaces *all, real *way, integer from, integer to, real length)
{
    const real *base = all->paths + 6 * from, *other = all->paths + 6 * to;
    real change[3];
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = other[axis] - base[axis];
        change[axis] = (other[3 + axis] - base[3 + axis]) - way[axis];
    }
    return dot(change, change) <= STEADY_SHARE * STEADY_SHARE * (length < 0.0 ? dot(way, way) : length);
}

/* Whether the triangles at an edge make an angle, from its cached vectors. */
static int makes_angle(const edge_path *it)
{
    real normal[3], other[3];
    cross(it->along, it->wings[0], normal);
    cross(it->along, it->wings[1], other);
    real height = dot(normal, it->wings[1]), square = dot(normal, normal);
    return !(height * height <= RIDGE * RIDGE * (square * it->squares[1])
             && dot(other, normal) <= 0.0);
}

/* Computes the cached vectors of an edge at the start of the step. */
static void read_anew(edge_path *it, const surfaces *all, integer edge)
{
    integer ends[2] = {all->edges[edge], all->edges[all->edge_count + edge]}, wing = -1;
    it->steady = read_side(all, it->along, ends[0], ends[1], -1.0);
    real square = dot(it->along, it->along);
    for (int side = 0; side < 2; side++) {
        wing = all->wings[side * all->edge_count + edge];
        it->steady &= read_side(all, it->wings[side], ends[0], wing < 0 ? ends[0] : wing, square);
        it->squares[side] = dot(it->wings[side], it->wings[side]);
    }
    it->ridge = wing < 0 || makes_angle(it);
}

/* The cached vectors of an edge, computed by the first thread that needs them for a motion; other
   threads compute their own in `room` until they are written. They are known for a motion if `known`
   is twice its number, and one less while they are written. */
static const edge_path *read_edge(edge_path *it, const surfaces *all, integer edge, edge_path *room)
{
    integer now = 2 * all->motion[0], known = __atomic_load_n(&it->known, __ATOMIC_ACQUIRE);
    if (known == now)
        return it;
    if (known != now - 1
        && __atomic_compare_exchange_n(&it->known, &known, now - 1, 0, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)) {
        read_anew(it, all, edge);
        __atomic_store_n(&it->known, now, __ATOMIC_RELEASE);
        return it;
    }
    read_anew(room, all, edge);
    return room;
}

/* Whether a triangle beside one of two edges is nearer to the other edge, on either side. */
static int is_hidden(const edge_path *one, const edge_path *other)
{
    real normal[3];
    int from_above = 0, from_below = 0;
    cross(one->along, other->along, normal);
    real square = dot(normal, normal);
    real parallel = PARALLEL * (dot(one->along, one->along) * dot(other->along, other->along));
    if (!one->steady || !other->steady || !(square > parallel))
        return 0;
    for (int which = 0; which < 2; which++)
        for (int side = 0; side < 2; side++) {
            const edge_path *edge = which ? other : one;
            real height = dot(normal, edge->wings[side]);
            int steep = height * height > SHARED_SLOPE * SHARED_SLOPE * (square * edge->squares[side]);
            from_above |= steep && (which ? height > 0.0 : height < 0.0);
            from_below |= steep && (which ? height < 0.0 : height > 0.0);
        }
    return from_above && from_below;
}

/* Whether a pair of edges can be dropped: neither is a ridge, or a triangle is nearer. */
int is_redundant(const surfaces *all, edge_path *one, integer edge, edge_path *other,
                 integer other_edge)
{
    edge_path rooms[2];
    const edge_path *first = read_edge(one, all, edge, rooms);
    const edge_path *second = read_edge(other, all, other_edge, rooms + 1);
    return !(first->ridge || second->ridge) || is_hidden(first, second);
}
