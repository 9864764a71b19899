/* Narrow phase of contact detection, as in kernels.py, which has formulas and sources. */
#include "pairs.h"

pair_criteria criteria_for(const surfaces *all, const search_criteria *of, integer first,
                           integer second)
{
    integer at = first * all->owner_count + second;
    pair_criteria own = {.gap_share = of->gap_share, .start_share = of->start_share,
                         .all_touching = of->all_touching};
    own.gap = all->gaps[at];
    own.margin = own.gap * own.gap_share;
    own.near_margin = own.all_touching ? -__builtin_inf() : TUNNELLING_REACH * own.gap;
    real off = FLUSH_SHARE * own.gap, edge = larger(all->longest[first], SHORTEST);
    own.flush_angle = own.all_touching ? -1.0 : 4.0 * off / edge;
    own.flush_curvature = own.all_touching ? -1.0 : 8.0 * off / (edge * edge);
    return own;
}

/* Upper bound of the relative displacement of any two points of both features [m]. */
static real fastest(const pair *p)
{
    real most = 0.0, way[3];
    int split = p->kind ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++) {
            subtract(p->motion[i], p->motion[j], way);
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

/* Whether a pair with rest positions x is certainly farther apart than a gap [m]. */
static int is_beyond(integer kind, const real x[4][3], real gap)
{
    real u[3], v[3], r[3];
    subtract(x[0], x[kind ? 2 : 1], r);
    subtract(x[kind ? 1 : 2], x[kind ? 0 : 1], u);
    subtract(x[3], x[kind ? 2 : 1], v);
    real uu = dot(u, u), vv = dot(v, v);
    /* (a + b)^2 <= 2 (a^2 + b^2), and (a + b + c)^2 <= 3 (a^2 + b^2 + c^2). */
    real farthest = kind ? 3.0 * (uu + vv + gap * gap) : 2.0 * (larger(uu, vv) + gap * gap);
    return dot(r, r) > farthest;
}

/* Whether an edge joins both features of a pair. */
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

/* Gap of a pair; within one surface at most REST_GAP_SHARE of the distance at rest [m]. */
static real gap_of(const traversal *job, const pair *p)
{
    real gap = job->criteria->gap, x[4][3];
    if (job->all->owners[p->particles[0]] != job->all->owners[p->particles[3]])
        return gap;
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++)
            x[k][axis] = job->all->rest_points[3 * p->particles[k] + axis];
    if (is_beyond(p->kind, (const real(*)[3])x, gap / (0.999 * REST_GAP_SHARE)))
        return gap;
    nearest at_rest;
    find_nearest(&at_rest, p->kind, (const real(*)[3])x);
    return smaller(gap, REST_GAP_SHARE * at_rest.apart);
}

/* Whether a pair is guarded against tunnelling: not if it starts too near to know its side, or if an
   edge joins it and it is much nearer than the gap at rest. */
static int is_guarded(const traversal *job, const pair *p)
{
    return p->now.apart > MIN_START_SHARE * p->gap
           && !(p->gap < UNGUARDED_GAP_SHARE * job->criteria->gap && are_near(job->all, p));
}

/* Positions of a pair's particles at its time. */
static void place(const pair *p, real (*x)[3])
{
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++)
            x[k][axis] = p->x[k][axis] + p->time * p->motion[k][axis];
}

/* Share of the motion, at most 1, for which a pair with positions x stays apart along its normal. */
static real stays_apart(const pair *p, const real (*x)[3], real touch)
{
    real share = 1.0, between[3], way[3];
    int split = p->kind ? 2 : 1;
    for (int i = 0; i < split; i++)
        for (int j = split; j < 4; j++) {
            subtract(x[i], x[j], between);
            subtract(p->motion[j], p->motion[i], way);
            real closing = dot(p->now.normal, way);
            if (closing > 0.0)
                share = smaller(share, (dot(p->now.normal, between) - touch) / closing);
        }
    return share;
}

/* Conservative advancement of a pair until it touches, or to the end of the motion; 1 if it
   touches. most: bound of `fastest`; touch: touching distance [m]. */
static int advance(pair *p, real most, real touch)
{
    real x[4][3];
    place(p, x);
    int going = p->now.apart > touch * TOUCH_TOLERANCE && most > 0.0;
    for (int round = 0; round < MAX_ADVANCES && going; round++) {
        real share = stays_apart(p, (const real(*)[3])x, touch);
        p->time = smaller(p->time + larger((p->now.apart - touch) / most, share), 1.0);
        place(p, x);
        find_nearest(&p->now, p->kind, (const real(*)[3])x);
        going = p->now.apart > touch * TOUCH_TOLERANCE && p->time < 1.0;
    }
    return going || p->now.apart <= touch * TOUCH_TOLERANCE;
}

/* Reads start positions and displacements of a pair; 0 if any is not finite. */
static int read_motion(const traversal *job, pair *p)
{
    real sum = 0.0;
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++) {
            const real *way = job->all->paths + 6 * p->particles[k] + axis;
            real begin = way[0], end = way[3];
            p->x[k][axis] = begin;
            p->motion[k][axis] = end - begin;
            sum += (begin - begin) + (end - end);
        }
    return sum == 0.0;
}

/* Value of a row, normal · Σ weights x, at the end of the motion [m]. */
static real value_at_end(const pair *p)
{
    real sum = 0.0;
    for (int k = 0; k < 4; k++) {
        real end[3];
        for (int axis = 0; axis < 3; axis++)
            end[axis] = p->x[k][axis] + p->motion[k][axis];
        sum += p->now.weights[k] * dot(p->now.normal, end);
    }
    return sum;
}

/* Distance by which deviations within skins can lower the value of a row [m]. */
static real skin_at(const traversal *job, const pair *p)
{
    real sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += __builtin_fabs(p->now.weights[k]) * job->all->skins[p->particles[k]];
    return sum;
}

static void add_row(traversal *job, const pair *p)
{
    const rows *found = job->found;
    integer row = job->count++, room = found->capacity;
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

/* Whether a pair starts farther apart than `far` [m] along the normal of its triangle, or along the
   common normal of its edges. */
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

/* Adds a pair with this clearance [m] to the near ones. */
static void add_near(traversal *job, const pair *p, real clearance)
{
    const near_pairs *near = job->near;
    integer at = job->near_count++, room = near->capacity;
    if (at >= room)
        return;
    near->features[at] = p->kind;
    near->features[room + at] = p->features[0];
    near->features[2 * room + at] = p->features[1];
    near->clearances[at] = clearance;
}

/* Adds the row of a pair, if it satisfies the criteria. */
void test_pair(traversal *job, pair *p)
{
    const pair_criteria *criteria = job->criteria;
    job->pair_tests++;
    if (!read_motion(job, p))
        return;
    real most = fastest(p);
    if (starts_beyond(p, most + criteria->margin + p->skin))
        return;
    find_nearest(&p->now, p->kind, (const real(*)[3])p->x);
    if (!(p->now.apart - most <= criteria->margin + p->skin))
        return;
    p->gap = -1.0;
    if (p->is_near && p->now.apart - most <= criteria->near_margin + p->skin + job->slack) {
        p->gap = gap_of(job, p);
        real clearance = p->now.apart - most - TUNNELLING_REACH * p->gap;
        if (clearance <= p->skin + job->slack)
            add_near(job, p, clearance);
    }
    if (p->is_flush
        || (p->kind && p->is_near && !criteria->all_touching
            && is_redundant(job->all, p->ways[0], p->features[0], p->ways[1], p->features[1])))
        return;
    if (p->gap < 0.0)
        p->gap = gap_of(job, p);
    if (!(p->gap > LEAST_GAP)
        || (criteria->all_touching && !is_guarded(job, p)))
        return;
    real touch = smaller(p->gap * criteria->gap_share, (p->now.apart + SHORTEST) * criteria->start_share);
    p->time = 0.0;
    int touched = advance(p, most, touch);
    if (criteria->all_touching && touched && value_at_end(p) >= touch)
        touched = advance(p, most, GRAZING_SHARE * touch);
    p->gap = touch / criteria->gap_share;
    if (criteria->all_touching ? !touched : !(value_at_end(p) < touch + skin_at(job, p)))
        return;
    if (is_behind(job, p))
        return;
    if (criteria->all_touching || is_closest(job, p))
        add_row(job, p);
}
