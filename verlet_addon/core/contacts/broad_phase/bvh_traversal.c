/* Traversal of two BVHs for near features (broad phase), as in bvh_traversal.py, which has formulas and
   sources. */
#include "../../team/team.h"
#include "../narrow_phase/pairs.h"

typedef integer two __attribute__((vector_size(16)));

/* Whether two boxes are within a margin on every axis. */
static inline int are_close(four far, const box *a, const box *b)
{
    four first = *(const four *)a->low + *(const four *)b->minus_high;
    four second = *(const four *)b->low + *(const four *)a->minus_high;
    two near = (two)((first <= far) & (second <= far));
    return (near[0] & near[1]) == -1;
}

/* A leaf of a BVH, with its swept box, and whether it has active particles. */
typedef struct {
    const bvh *of;
    integer number;
    const box *swept_box;
    int active;
} leaf;

/* A vertex, edge or triangle of a leaf, with its swept box. */
typedef struct {
    integer number, particles[3];
    int active, is_flush; /* whether any particle is active; whether the feature is flush */
    real skin;            /* the largest of any particle [m] */
    const box *swept_box;
    edge_path *way; /* of edges only */
} feature;

/* Whether a collider's corner, edge or leaf with these turns is flush. */
static int is_flush(const pair_criteria *criteria, const real *turns)
{
    return turns[0] <= criteria->flush_angle && turns[1] <= criteria->flush_curvature;
}

/* The margin of pairs of a feature: flush ones have no rows. */
static inline four margin_of(const traversal *job, int flush)
{
    return flush ? job->near_far : job->far;
}

/* Lists the vertices of a leaf within the margin of another, active ones if that has none;
   returns their number. */
static int take_vertices(const traversal *job, feature *list, const leaf *from, const leaf *other)
{
    const bvh *of = from->of;
    int count = 0;
    for (integer i = of->vertex_starts[from->number]; i < of->vertex_starts[from->number + 1]; i++) {
        feature *it = list + count;
        it->number = it->particles[0] = of->vertices[i];
        it->is_flush = is_flush(job->criteria, job->all->corner_turns + 2 * it->number);
        it->swept_box = job->all->swept_boxes + it->number;
        it->active = job->all->active[it->number];
        it->skin = job->all->skins[it->number];
        count += (it->active | other->active)
                 && are_close(margin_of(job, it->is_flush), it->swept_box, other->swept_box);
    }
    return count;
}

static int take_triangles(const traversal *job, feature *list, const leaf *from, const leaf *other)
{
    const bvh *of = from->of;
    int count = 0;
    for (int k = 0; k < LEAF_SIZE; k++) {
        feature *it = list + count;
        it->number = of->triangles[LEAF_SIZE * from->number + k];
        it->swept_box = of->swept_boxes + LEAF_SIZE * from->number + k;
        if (it->number < 0 || !are_close(job->far, it->swept_box, other->swept_box))
            continue;
        it->active = 0, it->skin = 0.0;
        for (int corner = 0; corner < 3; corner++) {
            it->particles[corner] = of->corners[3 * (LEAF_SIZE * from->number + k) + corner];
            it->active |= job->all->active[it->particles[corner]];
            it->skin = larger(it->skin, job->all->skins[it->particles[corner]]);
        }
        count += it->active | other->active;
    }
    return count;
}

static int take_edges(const traversal *job, feature *list, const leaf *from, const leaf *other)
{
    const bvh *of = from->of;
    int count = 0;
    for (integer i = of->edge_starts[from->number]; i < of->edge_starts[from->number + 1]; i++) {
        feature *it = list + count;
        it->way = of->edge_paths + i;
        it->swept_box = &it->way->swept_box;
        it->number = of->edges[i];
        it->is_flush = is_flush(job->criteria, job->all->edge_turns + 2 * it->number);
        if (!are_close(margin_of(job, it->is_flush), it->swept_box, other->swept_box))
            continue;
        it->active = 0, it->skin = 0.0;
        for (int k = 0; k < 2; k++) {
            it->particles[k] = job->all->edges[k * job->all->edge_count + it->number];
            it->active |= job->all->active[it->particles[k]];
            it->skin = larger(it->skin, job->all->skins[it->particles[k]]);
        }
        count += it->active | other->active;
    }
    return count;
}

/* Tests pairs of the vertices of one leaf and the triangles of another. */
static void test_vertices(traversal *job, const leaf *one, const leaf *other)
{
    feature vertices[3 * LEAF_SIZE + 1], triangles[LEAF_SIZE + 1];
    int count = take_vertices(job, vertices, one, other);
    int triangle_count = count ? take_triangles(job, triangles, other, one) : 0;
    pair p;
    p.kind = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < triangle_count; j++) {
            const integer *corners = triangles[j].particles;
            integer vertex = vertices[i].number;
            if (!(vertices[i].active | triangles[j].active)
                || vertex == corners[0] || vertex == corners[1] || vertex == corners[2]
                || !are_close(margin_of(job, vertices[i].is_flush), vertices[i].swept_box,
                              triangles[j].swept_box))
                continue;
            p.is_near = are_close(job->near_far, vertices[i].swept_box, triangles[j].swept_box);
            p.is_flush = vertices[i].is_flush;
            p.skin = job->skin_share * (vertices[i].skin + triangles[j].skin);
            p.features[0] = p.particles[0] = vertex;
            p.features[1] = triangles[j].number;
            for (int corner = 0; corner < 3; corner++)
                p.particles[1 + corner] = corners[corner];
            test_pair(job, &p);
        }
}

/* Tests pairs of the edges of two leaves. */
static void test_edges(traversal *job, const leaf *from, const leaf *to)
{
    feature lists[2][3 * LEAF_SIZE + 1];
    int own = job->a == job->b, same = own && from->number == to->number;
    int count = take_edges(job, lists[0], from, to);
    int other_count = count ? take_edges(job, lists[1], to, from) : 0;
    pair p;
    p.kind = 1;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < other_count; j++) {
            const feature *one = &lists[0][i], *other = &lists[1][j];
            const integer *a = one->particles, *b = other->particles;
            p.is_flush = one->is_flush | other->is_flush;
            if (!(one->active | other->active)
                || a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]
                || (same && one->number > other->number)
                || !are_close(margin_of(job, p.is_flush), one->swept_box, other->swept_box))
                continue;
            p.is_near = are_close(job->near_far, one->swept_box, other->swept_box);
            p.skin = job->skin_share * (one->skin + other->skin);
            if (!p.is_near && !job->criteria->all_touching
                && is_redundant(job->all, one->way, one->number, other->way, other->number))
                continue;
            if (own && one->number > other->number)
                one = &lists[1][j], other = &lists[0][i];
            p.features[0] = one->number, p.features[1] = other->number;
            p.ways[0] = one->way, p.ways[1] = other->way;
            for (int k = 0; k < 2; k++) {
                p.particles[k] = one->particles[k];
                p.particles[2 + k] = other->particles[k];
            }
            test_pair(job, &p);
        }
}

/* Whether two connected nodes of one BVH, or a node and itself, are too flat to touch. */
static int is_smooth(const bvh *it, integer a, integer b)
{
    integer leaves = (integer)1 << it->height, key = a * 2 * leaves + b;
    integer at = it->connected_starts[a], last = it->connected_starts[a + 1];
    while (at < last && it->connected[at] != key)
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
    return square - dot(half, size) > CONE_COSINE * __builtin_sqrt(square);
}

/* Tests all pairs of features of two leaves. */
static void __attribute__((noinline)) test_leaves(traversal *job, integer a, integer b)
{
    const bvh *first = job->a, *second = job->b;
    leaf one = {first, a - ((integer)1 << first->height), first->boxes + a, first->active[a]};
    leaf other = {second, b - ((integer)1 << second->height), second->boxes + b, second->active[b]};
    int far = !are_close(job->near_far, one.swept_box, other.swept_box);
    int flush = far && is_flush(job->criteria, first->turns + 2 * one.number);
    int other_flush = far && is_flush(job->criteria, second->turns + 2 * other.number);
    if (!flush)
        test_vertices(job, &one, &other);
    if (!other_flush && (first != second || a != b))
        test_vertices(job, &other, &one);
    if (!flush && !other_flush)
        test_edges(job, &one, &other);
}

static void traverse(traversal *job, integer a, integer b, integer height_a, integer height_b);

/* Traverses two nodes, if they are close, active and not too flat; most are not. */
static inline void descend(traversal *job, integer a, integer b, integer height_a, integer height_b)
{
    const bvh *first = job->a, *second = job->b;
    if (job->tests <= job->most && are_close(job->far, first->boxes + a, second->boxes + b)
        && (first->active[a] || second->active[b])
        && !(first == second && is_smooth(first, a, b)))
        traverse(job, a, b, height_a, height_b);
}

static void traverse(traversal *job, integer a, integer b, integer height_a, integer height_b)
{
    if (height_a == 0 && height_b == 0) {
        job->tests++;
        test_leaves(job, a, b);
    } else if (job->a == job->b) {
        for (integer k = 0; k < (a == b ? 3 : 4); k++)
            descend(job, 2 * a + (k == 1) + (k == 3), 2 * b + (k == 1) + (k == 2), height_a - 1,
                  height_b - 1);
    } else if (height_b > height_a) {
        for (integer k = 0; k < 2; k++)
            descend(job, a, 2 * b + k, height_a, height_b - 1);
    } else {
        for (integer k = 0; k < 2; k++)
            descend(job, 2 * a + k, b, height_a - 1, height_b);
    }
}

/* Height of a node above the leaves of a BVH. */
static integer height_of(const bvh *it, integer node)
{
    return it->height - (63 - __builtin_clzll((unsigned long long)node));
}

/* Largest coordinate magnitude in a BVH [m]. */
static real size_of(const bvh *it)
{
    real most = 0.0;
    for (int axis = 0; axis < 3; axis++)
        most = larger(most, larger(__builtin_fabsf(it->boxes[1].low[axis]),
                                   __builtin_fabsf(it->boxes[1].minus_high[axis])));
    return most;
}

/* A margin plus the rounding error of boxes [m]. */
static four widened(const bvh *a, const bvh *b, real margin)
{
    float far = (float)(margin + ROUNDING_MARGIN * (margin + larger(size_of(a), size_of(b))));
    return (four){far, far, far, far};
}

/* Finds rows and near pairs between two owners; progress: (3,). */
static void find_rows_of_owners(traversal *job, const bvh_pair *owners, real slack, integer *progress)
{
    const bvh *a = owners->one, *b = owners->other;
    job->a = a, job->b = b;
    job->far = widened(a, b, job->criteria->margin + slack);
    job->near_far = widened(a, b, job->criteria->near_margin + slack);
    job->most = owners->max_tests;
    if (!are_close(job->far, a->boxes + 1, b->boxes + 1))
        return;
    integer k, before = job->pair_tests;
    while (__atomic_load_n(progress + 1, __ATOMIC_RELAXED) <= job->most
           && (k = __atomic_fetch_add(progress, 1, __ATOMIC_RELAXED)) < owners->part_count) {
        integer one = owners->nodes[k], other = owners->nodes[owners->part_count + k];
        job->tests = 0;
        descend(job, one, other, height_of(a, one), height_of(b, other));
        __atomic_fetch_add(progress + 1, job->tests, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(progress + 2, job->pair_tests - before, __ATOMIC_RELAXED);
}

/* A search; each part of it has room of its own. */
typedef struct {
    const surfaces *all;
    const bvh_pairs *pairs;
    const search_criteria *criteria;
    real slack;
    integer *progress;
    const rows *const *found;
    const near_pairs *const *near;
    integer *counts;
} search;

/* Takes pairs of nodes until none are left. */
static void search_some(const void *loop, integer part, real *scratch)
{
    const search *its = loop;
    const search_criteria *criteria = its->criteria;
    integer *counts = its->counts + 2 * part;
    (void)scratch;
    pair_criteria own;
    traversal job = {.all = its->all, .criteria = &own, .found = its->found[part],
                     .near = its->near[part], .slack = its->slack,
                     .skin_share = criteria->all_touching ? 0.0 : 1.0};
    for (integer i = 0; i < its->pairs->pairs_count; i++) {
        const bvh_pair *owners = its->pairs->pairs[i];
        own = criteria_for(its->all, criteria, owners->first, owners->second);
        find_rows_of_owners(&job, owners, its->slack, its->progress + 3 * i);
    }
    counts[0] = job.count, counts[1] = job.near_count;
}

EXPORT void find_near_rows(const surfaces *all, const bvh_pairs *pairs,
                           const search_criteria *criteria, real slack, integer *progress,
                           const rows *const *found, integer parts, const near_pairs *const *near,
                           integer parts_too, integer *counts)
{
    search loop = {all, pairs, criteria, slack, progress, found, near, counts};
    (void)parts_too;
    share(parts, search_some, &loop, 0, NULL);
}
