/* Refit of BVHs to a motion, as in bvh_refit.py, which has formulas and sources. */
#include "../../team/team.h"
#include "../narrow_phase/pairs.h"

typedef int whole_four __attribute__((vector_size(16)));

/* Extends bounds (2, 3) to contain others. */
static void widen(real *bounds, const real *by)
{
    for (int axis = 0; axis < 3; axis++) {
        bounds[axis] = smaller(bounds[axis], by[axis]);
        bounds[3 + axis] = larger(bounds[3 + axis], by[3 + axis]);
    }
}

static void set_all(real *bounds, real low, real high)
{
    for (int axis = 0; axis < 3; axis++)
        bounds[axis] = low, bounds[3 + axis] = high;
}

/* Extends bounds of unit normals (2, 3) by that of a triangle; without area, to all directions. */
static void add_normal(real *cone, const real *a, const real *b, const real *c)
{
    real ab[3], ac[3], normal[3], bounds[6];
    subtract(b, a, ab);
    subtract(c, a, ac);
    cross(ab, ac, normal);
    real length = __builtin_sqrt(dot(normal, normal)), share = 1.0 / larger(length, NONZERO);
    for (int axis = 0; axis < 3; axis++) {
        bounds[axis] = length < NONZERO ? -1.0 : normal[axis] * share;
        bounds[3 + axis] = length < NONZERO ? 1.0 : normal[axis] * share;
    }
    widen(cone, bounds);
}

static inline four select(whole_four which, four yes, four no)
{
    return (four)((which & (whole_four)yes) | (~which & (whole_four)no));
}

static const box EMPTY_BOX = {{__builtin_inff(), __builtin_inff(), __builtin_inff(), 0.0f},
                            {__builtin_inff(), __builtin_inff(), __builtin_inff(), 0.0f}};

/* Extends a box to contain another. */
static inline void widen_box(box *own, const box *by)
{
    four *low = (four *)own->low, *high = (four *)own->minus_high;
    const four *by_low = (const four *)by->low, *by_high = (const four *)by->minus_high;
    *low = select(*low < *by_low, *low, *by_low);
    *high = select(*high < *by_high, *high, *by_high);
}

/* Swept box of a particle with a skin [m], from its start and end positions (2, 3). */
static inline void enclose(box *own, const real *way, real skin)
{
    real sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        own->low[axis] = (float)(smaller(way[axis], way[3 + axis]) - skin);
        own->minus_high[axis] = -(float)(larger(way[axis], way[3 + axis]) + skin);
        sum += (way[axis] - way[axis]) + (way[3 + axis] - way[3 + axis]);
    }
    own->low[3] = own->minus_high[3] = (float)sum;
}

/* Whether a box is that of finite positions. */
static inline int is_finite_box(const box *it)
{
    return it->low[3] == 0.0f;
}

/* Swept box of a triangle or loose edge, and extension of a cone by its normals at both ends of the
   step; 0 if positions are not finite. */
static int enclose_element(box *swept_box, real *cone, const surfaces *all, const integer *corners)
{
    const box *swept_boxes[3] = {all->swept_boxes + corners[0], all->swept_boxes + corners[1],
                           all->swept_boxes + corners[2]};
    *swept_box = *swept_boxes[0];
    widen_box(swept_box, swept_boxes[1]);
    widen_box(swept_box, swept_boxes[2]);
    if (!is_finite_box(swept_boxes[0]) || !is_finite_box(swept_boxes[1]) || !is_finite_box(swept_boxes[2])) {
        const real any[6] = {-1.0, -1.0, -1.0, 1.0, 1.0, 1.0};
        widen(cone, any);
        return 0;
    }
    for (int moment = 0; moment < 6; moment += 3)
        add_normal(cone, all->paths + 6 * corners[0] + moment, all->paths + 6 * corners[1] + moment,
                   all->paths + 6 * corners[2] + moment);
    return 1;
}

/* Angle and curvature of a collider's surface across an edge; see _turns in bvh_refit.py. */
static void find_turns(const surfaces *all, integer edge)
{
    integer ends[2] = {all->edges[edge], all->edges[all->edge_count + edge]};
    real *turns = all->edge_turns + 2 * edge, along[3], wings[2][3], normal[3], other[3];
    turns[0] = turns[1] = __builtin_inf();
    if (all->wings[all->edge_count + edge] >= 0) {
        subtract(all->paths + 6 * ends[1], all->paths + 6 * ends[0], along);
        for (int side = 0; side < 2; side++)
            subtract(all->paths + 6 * all->wings[side * all->edge_count + edge],
                     all->paths + 6 * ends[0], wings[side]);
        cross(along, wings[0], normal);
        cross(along, wings[1], other);
        real first = __builtin_sqrt(dot(normal, normal)), second = __builtin_sqrt(dot(other, other));
        real length = __builtin_sqrt(dot(along, along));
        real sine = __builtin_fabs(dot(normal, wings[1])) * length / (first * second);
        real tight = sine * 3.0 * length / (first + second);
        if (dot(normal, other) <= 0.0 && tight < __builtin_inf())
            turns[0] = sine, turns[1] = tight;
    }
    for (int k = 0; k < 4; k++) {
        real *corner = all->corner_turns + 2 * ends[k / 2] + k % 2;
        *corner = larger(*corner, turns[k % 2]);
    }
}

/* Raises the largest turns (2,) of a leaf to those of a vertex or an edge. */
static void raise_turns(real *most, const real *turns)
{
    for (int k = 0; k < 2; k++)
        most[k] = larger(most[k], turns[k]);
}

/* Turns at all edges, corners and leaves of a collider's BVH. */
static void find_all_turns(const bvh *it, const surfaces *all)
{
    integer leaves = (integer)1 << it->height, count = it->vertex_starts[leaves];
    if (!count || !all->colliders[all->owners[it->vertices[0]]])
        return;
    for (integer i = 0; i < 2 * count; i++)
        all->corner_turns[2 * it->vertices[i / 2] + i % 2] = 0.0;
    for (integer i = 0; i < it->edge_starts[leaves]; i++)
        find_turns(all, it->edges[i]);
    for (integer leaf = 0; leaf < leaves; leaf++) {
        real *most = it->turns + 2 * leaf;
        most[0] = most[1] = 0.0;
        for (integer i = it->vertex_starts[leaf]; i < it->vertex_starts[leaf + 1]; i++)
            raise_turns(most, all->corner_turns + 2 * it->vertices[i]);
        for (integer i = it->edge_starts[leaf]; i < it->edge_starts[leaf + 1]; i++)
            raise_turns(most, all->edge_turns + 2 * it->edges[i]);
    }
}

/* Refits the leaves `first` to `last` - 1: swept boxes of leaves and edges, and normal cones. */
EXPORT void refit_leaves(const surfaces *all, const bvh *it, integer first, integer last)
{
    const real infinity = __builtin_inf();
    integer leaves = (integer)1 << it->height;
    for (integer i = it->edge_starts[first]; i < it->edge_starts[last]; i++) {
        integer ends[2] = {all->edges[it->edges[i]], all->edges[all->edge_count + it->edges[i]]};
        it->edge_paths[i].swept_box = all->swept_boxes[ends[0]];
        widen_box(&it->edge_paths[i].swept_box, all->swept_boxes + ends[1]);
    }
    for (integer leaf = first; leaf < last; leaf++) {
        box *own = it->boxes + leaves + leaf;
        real *cone = it->cones + 6 * (leaves + leaf);
        *own = EMPTY_BOX;
        set_all(cone, infinity, -infinity);
        for (int k = 0; k < LEAF_SIZE; k++) {
            const integer *corners = it->corners + 3 * (LEAF_SIZE * leaf + k);
            box *swept_box = it->swept_boxes + LEAF_SIZE * leaf + k;
            if (corners[0] >= 0 && enclose_element(swept_box, cone, all, corners))
                widen_box(own, swept_box);
        }
    }
}

/* Refits all nodes above the leaves, and the turns of a collider. */
EXPORT void refit_nodes(const surfaces *all, const bvh *it)
{
    const real infinity = __builtin_inf();
    find_all_turns(it, all);
    for (integer node = ((integer)1 << it->height) - 1; node > 0; node--) {
        box *own = it->boxes + node, *children = it->boxes + 2 * node;
        real *cone = it->cones + 6 * node, *cones = it->cones + 12 * node;
        *own = children[0];
        widen_box(own, children + 1);
        set_all(cone, infinity, -infinity);
        widen(cone, cones);
        widen(cone, cones + 6);
    }
}

/* Widens the boxes and cones of the leaves with a particle that `moved` (N,), and of the nodes above,
   to contain the motion in `paths`. */
EXPORT void widen_leaves(const surfaces *all, const bvh *it, uint8_t *moved)
{
    integer leaves = (integer)1 << it->height;
    for (integer leaf = 0; leaf < leaves; leaf++) {
        const integer *corners = it->corners + 3 * LEAF_SIZE * leaf;
        uint8_t any = 0;
        for (int k = 0; k < 3 * LEAF_SIZE; k++)
            any |= corners[k] >= 0 && moved[corners[k]];
        it->active[leaves + leaf] = any;
        if (!any)
            continue;
        for (integer i = it->edge_starts[leaf]; i < it->edge_starts[leaf + 1]; i++)
            for (int end = 0; end < 2; end++)
                widen_box(&it->edge_paths[i].swept_box,
                          all->swept_boxes + all->edges[end * all->edge_count + it->edges[i]]);
        for (int k = 0; k < LEAF_SIZE; k++) {
            box swept_box;
            if (corners[3 * k] >= 0
                && enclose_element(&swept_box, it->cones + 6 * (leaves + leaf), all, corners + 3 * k)) {
                widen_box(it->swept_boxes + LEAF_SIZE * leaf + k, &swept_box);
                widen_box(it->boxes + leaves + leaf, &swept_box);
            }
        }
    }
    for (integer node = leaves - 1; node > 0; node--) {
        it->active[node] = it->active[2 * node] | it->active[2 * node + 1];
        if (it->active[node])
            for (integer child = 2 * node; child < 2 * node + 2; child++) {
                widen_box(it->boxes + node, it->boxes + child);
                widen(it->cones + 6 * node, it->cones + 6 * child);
            }
    }
}

/* Copies an owner's motion from `start` to `end` (3, N) and skins (N,), and updates swept boxes (N,).
   If any has changed, all vectors that are cached at edges are out of date. */
EXPORT void update_paths(const surfaces *all, integer owner, real *start, real *end, real *skins)
{
    integer any = 0, n = all->particle_count;
    for (integer i = all->starts[owner]; i < all->starts[owner + 1]; i++) {
        real *way = all->paths + 6 * i;
        int changed = all->skins[i] != skins[i];
        all->skins[i] = skins[i];
        for (int axis = 0; axis < 3; axis++) {
            real from = start[axis * n + i], to = end[axis * n + i];
            changed |= way[axis] != from || way[3 + axis] != to;
            way[axis] = from, way[3 + axis] = to;
        }
        any |= changed;
        if (changed)
            enclose(all->swept_boxes + i, way, skins[i]);
    }
    all->fitted[owner] &= !any;
    all->motion[0] += any;
}

EXPORT void update_all_paths(const surfaces *all, real *start, real *end, real *skins)
{
    for (integer owner = 0; owner < all->owner_count; owner++)
        update_paths(all, owner, start, end, skins);
}

typedef struct {
    const surfaces *all;
    const bvh *it;
} refit;

static void refit_some(const void *loop, integer part, real *scratch)
{
    const refit *of = loop;
    (void)scratch;
    refit_leaves(of->all, of->it, part * LEAF_PART, end_of(part, LEAF_PART, (integer)1 << of->it->height));
}

/* Refits the BVH of the colliding owner in place i, if its motion has changed. */
static void refit_owner(const void *loop, integer i, real *scratch)
{
    const surfaces *all = loop;
    integer owner = all->colliding_owner_numbers[i];
    refit of = {all, all->bvhs[owner]};
    (void)scratch;
    if (all->fitted[owner])
        return;
    share(parts_of((integer)1 << of.it->height, LEAF_PART), refit_some, &of, 0, NULL);
    refit_nodes(all, of.it);
    all->fitted[owner] = 1;
}

EXPORT void fit_all(const surfaces *all, real *start, real *end, real *skins)
{
    for (integer i = 0; i < all->colliding_count; i++)
        update_paths(all, all->colliding_owner_numbers[i], start, end, skins);
    share_elements(all->colliding_count, refit_owner, all);
}

/* Marks the nodes of a BVH that have an active particle. */
static void activate_one(const void *loop, integer owner, real *scratch)
{
    const surfaces *all = loop;
    const bvh *it = all->bvhs[owner];
    integer leaves = (integer)1 << it->height;
    (void)scratch;
    for (integer leaf = 0; leaf < leaves; leaf++) {
        uint8_t any = 0;
        for (int k = 0; k < 3 * LEAF_SIZE; k++) {
            integer corner = it->corners[3 * LEAF_SIZE * leaf + k];
            any |= corner >= 0 && all->active[corner];
        }
        it->active[leaves + leaf] = any;
    }
    for (integer node = leaves - 1; node > 0; node--)
        it->active[node] = it->active[2 * node] | it->active[2 * node + 1];
}

EXPORT void activate_all(const surfaces *all)
{
    share(all->owner_count, activate_one, all, 0, NULL);
}
