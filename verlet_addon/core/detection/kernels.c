/* Detection of contacts: the same as numpy_walk.py, numpy_kernels.py and numpy_regions.py, where
   formulas and sources stand. */
#include "proximity.h"

#define LEAF 2
#define CONES 3
#define COS 0.5
#define REST 0.9
#define LEAST_GAP 1e-9
#define LOST 1e-4
#define ADVANCES 12
#define TOUCHING 1.01
#define GRAZE 0.25
#define RISING 1e-6
#define SHARED 0.05
#define LEVEL 0.04
#define RIDGE 0.005
#define STEADY 0.05
#define ROUNDED 1e-6
#define PART 256 /* Leaves that a thread fits at a time. */
#define UNREAD 0
#define CLAIMED 1 /* One thread is about to write it, for all. */
#define READ 2

/* A box, in single precision and its far side with the other sign: two are told apart at once. */
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int whole_four __attribute__((vector_size(16)));
typedef integer two __attribute__((vector_size(16)));
typedef struct box {
    float low[4], minus_high[4]; /* the last are 0, or no number where something is nowhere */
} box;

/* See Surfaces. */
typedef struct {
    integer particles, owners; /* N and o */
    const integer *owner;      /* (N,) */
    const real *rest;          /* (N, 3) [m] */
    const real *ways;          /* (N, 2, 3) where each begins and ends its way [m] */
    const struct box *spans;   /* (N,) round these ways */
    integer triangles, edges;  /* t and e */
    const integer *corners;    /* (3, t) */
    const integer *ends;       /* (2, e) */
    const integer *sides, *wings;      /* (2, e) */
    const integer *opposite_edges;     /* (3, t) */
    const integer *fans, *fan_starts;  /* (N + 1,) */
    const integer *near_starts, *near; /* (N + 1,) */
    const real *gaps;                  /* (o, o) [m] */
    const uint8_t *single_sided;       /* (o,) */
    const uint8_t *colliders;          /* (o,) */
    real *edge_turns, *corner_turns;   /* (e, 2), (N, 2) [rad], [rad/m] */
} surfaces;

/* See Tree. */
typedef struct {
    integer height;
    const integer *corners, *triangles;        /* (leaves, LEAF, 3), (leaves, LEAF) */
    const integer *vertices, *vertex_starts;   /* (leaves + 1,) */
    const integer *edges, *edge_starts;        /* (leaves + 1,) */
    uint8_t *active; /* (2 leaves,) */
    const integer *joined, *joined_starts;     /* (2 leaves + 1,) */
    real *cones;                               /* (2 leaves, 2, 3) */
    box *boxes;                                /* (2 leaves,) */
    struct edge_way *ways;                     /* one for each of its edges */
    box *spans;                                /* (leaves, LEAF) */
} tree;

/* A box round the way of an edge, and what lies beside it, as the step starts. */
typedef struct edge_way {
    box span;
    integer known; /* what follows is: see read_edge */
    integer ridge; /* whether its triangles make an angle, or there are not two */
    integer steady; /* whether these keep their directions */
    real along[3], wings[2][3], squares[2];
} edge_way;

/* How near pairs have to come: see Reach. */
typedef struct {
    real beyond, of_gap, of_start;
    real limits[2]; /* turns of colliders up to these are flush */
    integer all_touching;
} search;

/* Rows as they are found; those beyond the capacity are only counted. */
typedef struct {
    integer capacity;
    integer *features; /* (3, capacity) */
    real *weights;     /* (4, capacity) */
    real *normals;     /* (3, capacity) */
    real *gaps;        /* (capacity,) [m] */
} rows;

/* What a walk needs everywhere. */
typedef struct {
    const surfaces *all;
    const search *wanted;
    rows *found;
    const tree *a, *b;
    real margin;
    four far; /* the margin, and what boxes are off by */
    integer count;
} task;

/* A pair on its way. */
typedef struct {
    integer kind, features[2], particles[4];
    real x[4][3], ways[4][3], gap, time;
    nearest now;
} pair;

/* Widens bounds (2, 3) to hold others. */
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

/* Puts bounds round the unit normals of a triangle; of none, round all there are. */
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

static const box NOWHERE = {{__builtin_inff(), __builtin_inff(), __builtin_inff(), 0.0f},
                            {__builtin_inff(), __builtin_inff(), __builtin_inff(), 0.0f}};

/* Widens a box to hold another. */
static inline void widen_box(box *own, const box *by)
{
    four *low = (four *)own->low, *high = (four *)own->minus_high;
    const four *by_low = (const four *)by->low, *by_high = (const four *)by->minus_high;
    *low = select(*low < *by_low, *low, *by_low);
    *high = select(*high < *by_high, *high, *by_high);
}

/* Puts a box round the way of a particle (2, 3). */
static inline void enclose(box *own, const real *way)
{
    real sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        own->low[axis] = (float)smaller(way[axis], way[3 + axis]);
        own->minus_high[axis] = -(float)larger(way[axis], way[3 + axis]);
        sum += (way[axis] - way[axis]) + (way[3 + axis] - way[3 + axis]);
    }
    own->low[3] = own->minus_high[3] = (float)sum;
}

/* Whether a box is round something that is somewhere. */
static inline int is_somewhere(const box *it)
{
    return it->low[3] == 0.0f;
}

/* Puts bounds round the way and the normals of a leaf's triangle or edge; 0 if it is nowhere. */
static int enclose_element(box *span, real *cone, const surfaces *all, const integer *corners)
{
    const box *spans[3] = {all->spans + corners[0], all->spans + corners[1],
                           all->spans + corners[2]};
    *span = *spans[0];
    widen_box(span, spans[1]);
    widen_box(span, spans[2]);
    if (!is_somewhere(spans[0]) || !is_somewhere(spans[1]) || !is_somewhere(spans[2])) {
        const real any[6] = {-1.0, -1.0, -1.0, 1.0, 1.0, 1.0};
        widen(cone, any);
        return 0;
    }
    for (int moment = 0; moment < 6; moment += 3)
        add_normal(cone, all->ways + 6 * corners[0] + moment, all->ways + 6 * corners[1] + moment,
                   all->ways + 6 * corners[2] + moment);
    return 1;
}

/* Reads the way from a base to another particle, as the step starts; 1 if it hardly turns. */
static int read_side(const surfaces *all, real *way, integer from, integer to, real length)
{
    const real *base = all->ways + 6 * from, *other = all->ways + 6 * to;
    real change[3];
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = other[axis] - base[axis];
        change[axis] = (other[3 + axis] - base[3 + axis]) - way[axis];
    }
    return dot(change, change) <= STEADY * STEADY * (length < 0.0 ? dot(way, way) : length);
}

/* Whether the triangles at an edge, whose sides are read, make an angle. */
static int makes_angle(const edge_way *it)
{
    real normal[3], other[3];
    cross(it->along, it->wings[0], normal);
    cross(it->along, it->wings[1], other);
    real height = dot(normal, it->wings[1]), square = dot(normal, normal);
    return !(height * height <= RIDGE * RIDGE * (square * it->squares[1])
             && dot(other, normal) <= 0.0);
}

/* Reads where an edge and the triangles beside it lead, as the step starts. */
static void read_anew(edge_way *it, const surfaces *all, integer edge)
{
    integer ends[2] = {all->ends[edge], all->ends[all->edges + edge]}, wing = -1;
    it->steady = read_side(all, it->along, ends[0], ends[1], -1.0);
    real square = dot(it->along, it->along);
    for (int side = 0; side < 2; side++) {
        wing = all->wings[side * all->edges + edge];
        it->steady &= read_side(all, it->wings[side], ends[0], wing < 0 ? ends[0] : wing, square);
        it->squares[side] = dot(it->wings[side], it->wings[side]);
    }
    it->ridge = wing < 0 || makes_angle(it);
}

/* The same, once a step for all threads, or else into room of the caller's; where it stands. */
static const edge_way *read_edge(edge_way *it, const surfaces *all, integer edge, edge_way *room)
{
    integer unread = UNREAD;
    if (__atomic_load_n(&it->known, __ATOMIC_ACQUIRE) == READ)
        return it;
    if (__atomic_compare_exchange_n(&it->known, &unread, CLAIMED, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        read_anew(it, all, edge);
        __atomic_store_n(&it->known, READ, __ATOMIC_RELEASE);
        return it;
    }
    read_anew(room, all, edge);
    return room;
}

/* Finds by what angle a collider's surface turns at an edge, and how tightly. */
static void find_turns(const surfaces *all, integer edge)
{
    integer ends[2] = {all->ends[edge], all->ends[all->edges + edge]};
    real *turns = all->edge_turns + 2 * edge, along[3], wings[2][3], normal[3], other[3];
    turns[0] = turns[1] = __builtin_inf();
    if (all->wings[all->edges + edge] >= 0) {
        subtract(all->ways + 6 * ends[1], all->ways + 6 * ends[0], along);
        for (int side = 0; side < 2; side++)
            subtract(all->ways + 6 * all->wings[side * all->edges + edge],
                     all->ways + 6 * ends[0], wings[side]);
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

/* Finds the turns at all edges and corners of a tree, if it is a collider's. */
static void find_all_turns(const tree *it, const surfaces *all)
{
    integer leaves = (integer)1 << it->height, count = it->vertex_starts[leaves];
    if (!count || !all->colliders[all->owner[it->vertices[0]]])
        return;
    for (integer i = 0; i < 2 * count; i++)
        all->corner_turns[2 * it->vertices[i / 2] + i % 2] = 0.0;
    for (integer i = 0; i < it->edge_starts[leaves]; i++)
        find_turns(all, it->edges[i]);
}

/* Puts boxes round the ways of leaves and of their edges, and round their normals.

   Of parts of the tree, the next that no other thread has taken on. */
EXPORT void refit_leaves(const tree *it, const surfaces *all, integer *next)
{
    const real infinity = __builtin_inf();
    integer leaves = (integer)1 << it->height, first;
    while ((first = PART * __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < leaves) {
        integer last = first + PART < leaves ? first + PART : leaves;
        for (integer i = it->edge_starts[first]; i < it->edge_starts[last]; i++) {
            integer ends[2] = {all->ends[it->edges[i]], all->ends[all->edges + it->edges[i]]};
            it->ways[i].span = all->spans[ends[0]];
            widen_box(&it->ways[i].span, all->spans + ends[1]);
            it->ways[i].known = UNREAD;
        }
        for (integer leaf = first; leaf < last; leaf++) {
            box *own = it->boxes + leaves + leaf;
            real *cone = it->cones + 6 * (leaves + leaf);
            *own = NOWHERE;
            set_all(cone, infinity, -infinity);
            for (int k = 0; k < LEAF; k++) {
                const integer *corners = it->corners + 3 * (LEAF * leaf + k);
                box *span = it->spans + LEAF * leaf + k;
                if (corners[0] >= 0 && enclose_element(span, cone, all, corners))
                    widen_box(own, span);
            }
        }
    }
}

/* The same for all nodes above the leaves; and finds how a collider's surface turns. */
EXPORT void refit_nodes(const tree *it, const surfaces *all)
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

/* Takes over the ways (N, 2, 3) of particles from the first to the last, and puts boxes (N,) round
   them; 1 if they are new ones. */
EXPORT integer take_ways(real *ways, box *spans, const real *start, const real *end, integer n,
                         integer first, integer last)
{
    integer any = 0;
    for (integer i = first; i < last; i++) {
        real *way = ways + 6 * i;
        int changed = 0;
        for (int axis = 0; axis < 3; axis++) {
            real from = start[axis * n + i], to = end[axis * n + i];
            changed |= way[axis] != from || way[3 + axis] != to;
            way[axis] = from, way[3 + axis] = to;
        }
        any |= changed;
        if (changed)
            enclose(spans + i, way);
    }
    return any;
}

/* Where a particle is at a share of its way. */
static void place(real *to, const surfaces *all, integer particle, real time)
{
    const real *way = all->ways + 6 * particle;
    for (int axis = 0; axis < 3; axis++)
        to[axis] = way[axis] + time * (way[3 + axis] - way[axis]);
}

/* The way from one particle to another when a pair touches. */
static void take_way(real *way, const task *its, const pair *p, integer to, integer from)
{
    real top[3], bottom[3];
    place(top, its->all, to, p->time);
    place(bottom, its->all, from, p->time);
    subtract(top, bottom, way);
}

/* Whether the way from one particle to another goes up along the normal. */
static int rises(const task *its, const pair *p, integer corner, integer base)
{
    if (corner < 0)
        return 0;
    real way[3];
    take_way(way, its, p, corner, base);
    return dot(p->now.normal, way) > RISING * __builtin_sqrt(dot(way, way));
}

/* Whether all triangles round a corner lie away, and this is the first. */
static int is_least_on_corner(const task *its, const pair *p, integer corner)
{
    const surfaces *all = its->all;
    const integer *fan = all->fans + all->fan_starts[corner];
    integer count = all->fan_starts[corner + 1] - all->fan_starts[corner];
    if (fan[0] != p->features[1])
        return 0;
    for (integer i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            integer other = all->corners[k * all->triangles + fan[i]];
            if (other != corner && rises(its, p, other, corner))
                return 0;
        }
    return 1;
}

static int is_least_on_triangle(const task *its, pair *p)
{
    const surfaces *all = its->all;
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
        return is_least_on_corner(its, p, corner);
    integer edge = all->opposite_edges[unused * all->triangles + p->features[1]];
    return all->sides[edge] == p->features[1]
           && !rises(its, p, all->wings[all->edges + edge], corner);
}

/* How steeply a triangle beside an edge rises towards the other feature, at most. */
static real rise_of(const task *its, const pair *p, integer corner, integer base, real sign)
{
    real way[3];
    if (corner < 0)
        return 0.0;
    take_way(way, its, p, corner, base);
    return sign * dot(p->now.normal, way) / larger(__builtin_sqrt(dot(way, way)), SHORTEST);
}

/* Edges that neighbours rise between are kept no farther apart than these let them. */
static int is_least_on_edges(const task *its, pair *p)
{
    const surfaces *all = its->all;
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
            integer wing = all->wings[side * all->edges + p->features[which]];
            real rise = rise_of(its, p, wing, p->particles[2 * which], which ? 1.0 : -1.0);
            steepest = larger(rise, steepest);
            ridge |= wing < 0 || -rise > RIDGE;
        }
    if (steepest > 0.0)
        p->gap = smaller(p->gap, p->now.apart * (LEVEL / larger(steepest, SHORTEST)));
    return ridge && !(steepest > SHARED);
}

/* How high above a triangle a direction leads, as it starts the step; unscaled. */
static real height_along(const task *its, integer triangle, const real *normal, real sign)
{
    const real *x[3];
    real ab[3], ac[3], up[3], towards[3];
    for (int k = 0; k < 3; k++)
        x[k] = its->all->ways + 6 * its->all->corners[k * its->all->triangles + triangle];
    subtract(x[1], x[0], ab);
    subtract(x[2], x[0], ac);
    cross(ab, ac, up);
    for (int axis = 0; axis < 3; axis++)
        towards[axis] = sign * normal[axis];
    return dot(up, towards);
}

/* Whether a pair is behind all triangles of one of its features, of which only the front touches. */
static int is_behind(const task *its, const pair *p)
{
    const surfaces *all = its->all;
    for (int which = 0; which < 2; which++) {
        if (!all->single_sided[all->owner[p->particles[which ? 3 : 0]]])
            continue;
        integer feature = p->features[which], faces[2] = {-1, -1}, count = 2;
        const integer *list = faces;
        if (p->kind) {
            faces[0] = all->sides[feature];
            faces[1] = all->sides[all->edges + feature];
        } else if (which) {
            faces[0] = feature;
        } else {
            list = all->fans + all->fan_starts[feature];
            count = all->fan_starts[feature + 1] - all->fan_starts[feature];
        }
        int some = 0, before = 0;
        for (integer i = 0; i < count && !before; i++)
            if (list[i] >= 0) {
                real up = height_along(its, list[i], p->now.normal, which ? 1.0 : -1.0);
                some = 1;
                before = up >= 0.0;
            }
        if (some && !before)
            return 1;
    }
    return 0;
}

/* How far any point of one feature moves relative to any of the other at most. */
static real fastest(const pair *p)
{
    real most = 0.0, way[3];
    int split = p->kind ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++) {
            subtract(p->ways[i], p->ways[j], way);
            most = larger(most, dot(way, way));
        }
    return __builtin_sqrt(most);
}

static void find_nearest(nearest *found, integer kind, const real (*x)[3])
{
    if (kind)
        nearest_on_edges(found, x);
    else
        nearest_on_triangle(found, x);
}

/* Whether a pair, where its particles are at rest, is surely farther apart than this. */
static int is_beyond(integer kind, const real x[4][3], real gap)
{
    real u[3], v[3], r[3];
    subtract(x[0], x[kind ? 2 : 1], r);
    subtract(x[kind ? 1 : 2], x[kind ? 0 : 1], u);
    subtract(x[3], x[kind ? 2 : 1], v);
    real uu = dot(u, u), vv = dot(v, v);
    /* Of lengths, (a + b)^2 <= 2 (a^2 + b^2), and of three 3 times the sum. */
    real farthest = kind ? 3.0 * (uu + vv + gap * gap) : 2.0 * (larger(uu, vv) + gap * gap);
    return dot(r, r) > farthest;
}

/* Whether the features of a pair are near each other along their surface. */
static int are_near(const surfaces *all, const pair *p)
{
    int split = p->kind ? 2 : 1;
    for (int i = 0; i < split; i++) {
        const integer *starts = all->near_starts + p->particles[i];
        for (integer at = starts[0]; at < starts[1]; at++)
            for (int j = split; j < 4; j++)
                if (all->near[at] == p->particles[j])
                    return 1;
    }
    return 0;
}

/* How far apart a pair is kept, if nothing lies nearer at rest. */
static real full_gap(const surfaces *all, const pair *p)
{
    return all->gaps[all->owner[p->particles[0]] * all->owners + all->owner[p->particles[3]]];
}

/* How far apart a pair is kept. */
static real gap_of(const surfaces *all, const pair *p)
{
    real gap = full_gap(all, p), x[4][3];
    if (all->owner[p->particles[0]] != all->owner[p->particles[3]])
        return gap;
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++)
            x[k][axis] = all->rest[3 * p->particles[k] + axis];
    if (is_beyond(p->kind, (const real(*)[3])x, gap / (0.999 * REST)))
        return gap;
    nearest at_rest;
    find_nearest(&at_rest, p->kind, (const real(*)[3])x);
    return smaller(gap, REST * at_rest.apart);
}

/* Whether a pair has sides that a guard could keep, and is not just part of one small piece. */
static int is_guarded(const surfaces *all, const pair *p)
{
    return p->now.apart > LOST * p->gap && !(p->gap < full_gap(all, p) && are_near(all, p));
}

/* Lets a pair go on until it touches, or to the end of its way; 1 if it touches. */
static int advance(pair *p, real most, real touch)
{
    int going = p->now.apart > touch * TOUCHING && most > 0.0;
    for (int round = 0; round < ADVANCES && going; round++) {
        real x[4][3];
        p->time = smaller(p->time + (p->now.apart - touch) / most, 1.0);
        for (int k = 0; k < 4; k++)
            for (int axis = 0; axis < 3; axis++)
                x[k][axis] = p->x[k][axis] + p->time * p->ways[k][axis];
        find_nearest(&p->now, p->kind, (const real(*)[3])x);
        going = p->now.apart > touch * TOUCHING && p->time < 1.0;
    }
    return going || p->now.apart <= touch * TOUCHING;
}

/* Reads where a pair starts and goes; 0 if that is nowhere. */
static int read_ways(const task *its, pair *p)
{
    real sum = 0.0;
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++) {
            const real *way = its->all->ways + 6 * p->particles[k] + axis;
            real begin = way[0], end = way[3];
            p->x[k][axis] = begin;
            p->ways[k][axis] = end - begin;
            sum += (begin - begin) + (end - end);
        }
    return sum == 0.0;
}

/* The value of a row at the end of the way. */
static real value_at_end(const pair *p)
{
    real sum = 0.0;
    for (int k = 0; k < 4; k++) {
        real end[3];
        for (int axis = 0; axis < 3; axis++)
            end[axis] = p->x[k][axis] + p->ways[k][axis];
        sum += p->now.weights[k] * dot(p->now.normal, end);
    }
    return sum;
}

static void add_row(task *its, const pair *p)
{
    rows *found = its->found;
    integer row = its->count++, room = found->capacity;
    if (row >= room)
        return;
    found->features[row] = p->kind;
    found->features[room + row] = p->features[0];
    found->features[2 * room + row] = p->features[1];
    for (int k = 0; k < 4; k++)
        found->weights[k * room + row] = p->now.weights[k];
    for (int axis = 0; axis < 3; axis++)
        found->normals[axis * room + row] = p->now.normal[axis];
    found->gaps[row] = p->gap;
}

/* Whether a pair starts farther apart than this, as seen along the normal of its triangle, or across
   both of its edges. */
static int starts_beyond(const pair *p, real far)
{
    int from = p->kind ? 0 : 1;
    real u[3], v[3], r[3], normal[3];
    subtract(p->x[from + 1], p->x[from], u);
    subtract(p->x[3], p->x[p->kind ? 2 : 1], v);
    subtract(p->x[0], p->x[p->kind ? 2 : 1], r);
    cross(u, v, normal);
    real square = dot(normal, normal), height = dot(normal, r);
    return height * height > far * far * square && square > PARALLEL * (dot(u, u) * dot(v, v));
}

/* Adds the row of a pair, if it comes within reach. */
static void consider(task *its, pair *p)
{
    const search *wanted = its->wanted;
    if (!read_ways(its, p))
        return;
    real most = fastest(p);
    if (starts_beyond(p, most + its->margin))
        return;
    find_nearest(&p->now, p->kind, (const real(*)[3])p->x);
    if (!(p->now.apart - most <= its->margin))
        return;
    p->gap = gap_of(its->all, p);
    if (!(p->gap > LEAST_GAP)
        || (wanted->all_touching && !is_guarded(its->all, p)))
        return;
    real touch = smaller(p->gap * wanted->of_gap, (p->now.apart + SHORTEST) * wanted->of_start);
    p->time = 0.0;
    int touched = advance(p, most, touch);
    if (wanted->all_touching && touched && value_at_end(p) >= touch)
        touched = advance(p, most, GRAZE * touch);
    p->gap = touch / wanted->of_gap;
    if (wanted->all_touching ? !touched : !(value_at_end(p) < touch + wanted->beyond))
        return;
    if (is_behind(its, p))
        return;
    if (wanted->all_touching || (p->kind ? is_least_on_edges : is_least_on_triangle)(its, p))
        add_row(its, p);
}

/* Whether two boxes come as near each other as pairs have to. */
static inline int are_close(const task *its, const box *a, const box *b)
{
    four first = *(const four *)a->low + *(const four *)b->minus_high;
    four second = *(const four *)b->low + *(const four *)a->minus_high;
    two near = (two)((first <= its->far) & (second <= its->far));
    return (near[0] & near[1]) == -1;
}

/* A vertex, edge or triangle of a leaf, and a box round its way. */
typedef struct {
    integer number, particles[3];
    const box *span;
    edge_way *way; /* of an edge */
} member;

/* Whether a collider's corner or edge tells nothing that what lies on it does not. */
static int is_flush(const search *wanted, const real *turns)
{
    return turns[0] <= wanted->limits[0] && turns[1] <= wanted->limits[1];
}

/* Takes the vertices of a leaf that come near a box. */
static int take_vertices(const task *its, member *list, const tree *of, integer leaf,
                         const box *near)
{
    int count = 0;
    for (integer i = of->vertex_starts[leaf]; i < of->vertex_starts[leaf + 1]; i++) {
        member *it = list + count;
        it->number = it->particles[0] = of->vertices[i];
        if (is_flush(its->wanted, its->all->corner_turns + 2 * it->number))
            continue;
        it->span = its->all->spans + it->number;
        count += are_close(its, it->span, near);
    }
    return count;
}

static int take_triangles(const task *its, member *list, const tree *of, integer leaf,
                          const box *near)
{
    int count = 0;
    for (int k = 0; k < LEAF; k++) {
        member *it = list + count;
        it->number = of->triangles[LEAF * leaf + k];
        it->span = of->spans + LEAF * leaf + k;
        if (it->number < 0 || !are_close(its, it->span, near))
            continue;
        for (int corner = 0; corner < 3; corner++)
            it->particles[corner] = of->corners[3 * (LEAF * leaf + k) + corner];
        count++;
    }
    return count;
}

static int take_edges(const task *its, member *list, const tree *of, integer leaf, const box *near)
{
    int count = 0;
    for (integer i = of->edge_starts[leaf]; i < of->edge_starts[leaf + 1]; i++) {
        member *it = list + count;
        it->way = of->ways + i;
        it->span = &it->way->span;
        it->number = of->edges[i];
        if (!are_close(its, it->span, near)
            || is_flush(its->wanted, its->all->edge_turns + 2 * it->number))
            continue;
        for (int k = 0; k < 2; k++)
            it->particles[k] = its->all->ends[k * its->all->edges + it->number];
        count++;
    }
    return count;
}

/* Whether a triangle beside either of two edges hides it from the other, on whichever side. */
static int is_hidden(const edge_way *one, const edge_way *other)
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
            const edge_way *edge = which ? other : one;
            real height = dot(normal, edge->wings[side]);
            int steep = height * height > SHARED * SHARED * (square * edge->squares[side]);
            from_above |= steep && (which ? height > 0.0 : height < 0.0);
            from_below |= steep && (which ? height < 0.0 : height > 0.0);
        }
    return from_above && from_below;
}

/* Considers the vertices of one leaf and the triangles of another. */
static void consider_vertices(task *its, const tree *of, integer leaf, const box *near,
                              const tree *other, integer other_leaf, const box *other_near)
{
    member vertices[3 * LEAF + 1], triangles[LEAF + 1];
    int count = take_vertices(its, vertices, of, leaf, other_near);
    int triangle_count = count ? take_triangles(its, triangles, other, other_leaf, near) : 0;
    pair p;
    p.kind = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < triangle_count; j++) {
            const integer *corners = triangles[j].particles;
            integer vertex = vertices[i].number;
            if (vertex == corners[0] || vertex == corners[1] || vertex == corners[2]
                || !are_close(its, vertices[i].span, triangles[j].span))
                continue;
            p.features[0] = p.particles[0] = vertex;
            p.features[1] = triangles[j].number;
            for (int corner = 0; corner < 3; corner++)
                p.particles[1 + corner] = corners[corner];
            consider(its, &p);
        }
}

/* Whether neither of two edges is a ridge, or one is hidden from the other. */
static int says_nothing(const surfaces *all, const member *one, const member *other)
{
    edge_way rooms[2];
    const edge_way *first = read_edge(one->way, all, one->number, rooms);
    const edge_way *second = read_edge(other->way, all, other->number, rooms + 1);
    return !(first->ridge || second->ridge) || is_hidden(first, second);
}

/* Considers the edges of two leaves. */
static void consider_edges(task *its, integer leaf, const box *near, integer other_leaf,
                           const box *other_near)
{
    member lists[2][3 * LEAF + 1];
    int own = its->a == its->b, same = own && leaf == other_leaf;
    int count = take_edges(its, lists[0], its->a, leaf, other_near);
    int other_count = count ? take_edges(its, lists[1], its->b, other_leaf, near) : 0;
    pair p;
    p.kind = 1;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < other_count; j++) {
            const member *one = &lists[0][i], *other = &lists[1][j];
            const integer *a = one->particles, *b = other->particles;
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]
                || (same && one->number > other->number)
                || !are_close(its, one->span, other->span)
                || (!its->wanted->all_touching && says_nothing(its->all, one, other)))
                continue;
            if (own && one->number > other->number)
                one = &lists[1][j], other = &lists[0][i];
            p.features[0] = one->number, p.features[1] = other->number;
            for (int k = 0; k < 2; k++) {
                p.particles[k] = one->particles[k];
                p.particles[2 + k] = other->particles[k];
            }
            consider(its, &p);
        }
}

/* Whether two nodes of one piece are too flat to touch. */
static int is_smooth(const tree *it, integer height, integer a, integer b)
{
    if (height > CONES)
        return 0;
    integer leaves = (integer)1 << it->height, key = a * 2 * leaves + b;
    integer at = it->joined_starts[a], last = it->joined_starts[a + 1];
    while (at < last && it->joined[at] != key)
        at++;
    if (at == last)
        return 0;
    const real *one = it->cones + 6 * a, *other = it->cones + 6 * b;
    real middle[3], half[3], size[3];
    for (int axis = 0; axis < 3; axis++) {
        real low = smaller(one[axis], other[axis]), high = larger(one[3 + axis], other[3 + axis]);
        middle[axis] = 0.5 * (low + high);
        half[axis] = 0.5 * (high - low);
        size[axis] = __builtin_fabs(middle[axis]);
    }
    real square = dot(middle, middle);
    return square - dot(half, size) > COS * __builtin_sqrt(square);
}

static void walk(task *its, integer a, integer b, integer height_a, integer height_b)
{
    const tree *first = its->a, *second = its->b;
    if (!(first->active[a] || second->active[b])
        || !are_close(its, first->boxes + a, second->boxes + b)
        || (first == second && is_smooth(first, height_a, a, b)))
        return;
    if (height_a == 0 && height_b == 0) {
        const box *near = first->boxes + a, *other_near = second->boxes + b;
        a -= (integer)1 << first->height;
        b -= (integer)1 << second->height;
        consider_vertices(its, first, a, near, second, b, other_near);
        if (first != second || a != b)
            consider_vertices(its, second, b, other_near, first, a, near);
        consider_edges(its, a, near, b, other_near);
    } else if (first == second) {
        walk(its, 2 * a, 2 * b, height_a - 1, height_b - 1);
        walk(its, 2 * a + 1, 2 * b + 1, height_a - 1, height_b - 1);
        walk(its, 2 * a, 2 * b + 1, height_a - 1, height_b - 1);
        if (a != b)
            walk(its, 2 * a + 1, 2 * b, height_a - 1, height_b - 1);
    } else if (height_b > height_a) {
        walk(its, a, 2 * b, height_a, height_b - 1);
        walk(its, a, 2 * b + 1, height_a, height_b - 1);
    } else {
        walk(its, 2 * a, b, height_a - 1, height_b);
        walk(its, 2 * a + 1, b, height_a - 1, height_b);
    }
}

/* How high above the leaves of a tree a node is. */
static integer height_of(const tree *it, integer node)
{
    return it->height - (63 - __builtin_clzll((unsigned long long)node));
}

/* The largest coordinate of what is in a tree. */
static real size_of(const tree *it)
{
    real most = 0.0;
    for (int axis = 0; axis < 3; axis++)
        most = larger(most, larger(__builtin_fabsf(it->boxes[1].low[axis]),
                                   __builtin_fabsf(it->boxes[1].minus_high[axis])));
    return most;
}

/* Finds what two trees, or one and itself, come near each other with, and returns how much.

   Walks from pairs of nodes (pairs, 2), from the next that no other thread has taken on. */
EXPORT integer find_near_rows(const surfaces *all, const tree *a, const tree *b,
                              const search *wanted, rows *found, real margin,
                              const integer *nodes, integer pairs, integer *next)
{
    float far = (float)(margin + ROUNDED * (margin + larger(size_of(a), size_of(b))));
    task its = {all, wanted, found, a, b, margin, {far, far, far, far}, 0};
    integer k;
    while ((k = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < pairs) {
        const integer *from = nodes + 2 * k;
        walk(&its, from[0], from[1], height_of(a, from[0]), height_of(b, from[1]));
    }
    return its.count;
}

/* Tells the nodes of a tree whether they hold any active particle. */
EXPORT void activate_tree(const tree *it, const uint8_t *active)
{
    integer leaves = (integer)1 << it->height;
    for (integer leaf = 0; leaf < leaves; leaf++) {
        uint8_t any = 0;
        for (int k = 0; k < 3 * LEAF; k++) {
            integer corner = it->corners[3 * LEAF * leaf + k];
            any |= corner >= 0 && active[corner];
        }
        it->active[leaves + leaf] = any;
    }
    for (integer node = leaves - 1; node > 0; node--)
        it->active[node] = it->active[2 * node] | it->active[2 * node + 1];
}

/* Sums of weights (4, k) times positions (3, n) of particles (4, k). */
EXPORT void sum_weighted(real *sums, const real *positions, integer n, const integer *particles,
                         const real *weights, integer k)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer row = 0; row < k; row++) {
            const real *x = positions + axis * n;
            real total = weights[row] * x[particles[row]];
            for (int corner = 1; corner < 4; corner++)
                total += weights[corner * k + row] * x[particles[corner * k + row]];
            sums[axis * k + row] = total;
        }
}
