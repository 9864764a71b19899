/* Plastic flow of rest lengths and angles: the function of plastic_flow.py. */
#include "../bending/hinges.h"

/* Makes the excess of a strain over its limit permanent, but for a share that raises the limit. */
static real flow(const yielding *of, integer i, real measured, const plastic_flow *how)
{
    real *permanent = of->permanent + i, *mean = of->mean + i;
    *mean += (measured - *mean) * how->mean_share;
    real beyond = measured - *permanent, before = *mean - *permanent, excess = 0.0;
    if (beyond * before > 0.0)
        excess = larger(smaller(__builtin_fabs(beyond), __builtin_fabs(before)) - of->limits[i], 0.0);
    *permanent += (1.0 - how->hardening) * (beyond < 0.0 ? -excess : excess);
    of->limits[i] += how->hardening * excess;
    return *permanent;
}

static real distance_of(const real *x, integer n, integer a, integer b)
{
    return distance(x[a] - x[b], x[n + a] - x[n + b], x[2 * n + a] - x[2 * n + b]);
}

static void flow_lengths(const real *x, integer n, const length_flow *of, const plastic_flow *how)
{
    const yielding *its = of->yielding;
    for (integer i = 0; i + 1 < its->count; i++) {
        if (!of->linked[i])
            continue;
        real strain = distance_of(x, n, of->path[i + 1], of->path[i]) / of->original[i] - 1.0;
        of->rests[i] = of->original[i] * (1.0 + flow(its, i, larger(strain, its->permanent[i]), how));
    }
}

/* The vectors of warp (0) or weft (1) are sums over the four corners of a patch. */
static void flow_threads(const real *x, integer n, const thread_flow *of, const plastic_flow *how)
{
    const weave_batch *all = of->batch;
    const yielding *its = of->yielding;
    for (integer i = 0; i < its->count; i++) {
        const integer *corners = all->corners + 4 * (i / 2);
        const real *gradients = all->gradients + 12 * (i / 2) + i % 2;
        real along[3];
        for (int axis = 0; axis < 3; axis++) {
            const real *row = x + axis * n;
            along[axis] = gradients[0] * row[corners[0]] + gradients[3] * row[corners[1]]
                          + gradients[6] * row[corners[2]] + gradients[9] * row[corners[3]];
        }
        real strain = distance(along[0], along[1], along[2]) - 1.0;
        of->rests[i] = of->original[i] + flow(its, i, larger(strain, its->permanent[i]), how);
    }
}

/* The bend |g| of a hinge, negative on the side opposite to its normal. */
static real hinge_bend(const real *x, integer n, const bend_flow *of, integer i)
{
    real members[4][3], bend[3] = {0.0, 0.0, 0.0}, normal[3];
    for (int k = 0; k < 4; k++) {
        read(x, n, of->members[4 * i + k], members[k]);
        for (int axis = 0; axis < 3; axis++)
            bend[axis] += members[k][axis] * of->coefficients[4 * i + k];
    }
    real size = distance(bend[0], bend[1], bend[2]);
    return size * hinge_side(members[0], members[1], members[2], members[3], bend, size, of->rests[i],
                             normal);
}

/* The length of the sum of the directions from a particle of a rope to both neighbours. */
static real rope_bend(const real *x, integer n, const integer *members)
{
    real sum[3], length[2] = {distance_of(x, n, members[0], members[1]),
                              distance_of(x, n, members[2], members[1])};
    for (int axis = 0; axis < 3; axis++) {
        const real *row = x + axis * n;
        sum[axis] = (row[members[0]] - row[members[1]]) / length[0]
                    + (row[members[2]] - row[members[1]]) / length[1];
    }
    return distance(sum[0], sum[1], sum[2]);
}

static void flow_bends(const real *x, integer n, const bend_flow *of, const plastic_flow *how)
{
    for (integer i = 0; i < of->yielding->count; i++) {
        real bend = of->width == 4 ? hinge_bend(x, n, of, i) : rope_bend(x, n, of->members + 3 * i);
        of->rests[i] = of->original[i] + flow(of->yielding, i, bend - of->original[i], how);
    }
}

EXPORT void apply_plastic_flow(real *x, integer n, const plastic_flow *of)
{
    for (integer i = 0; i < of->lengths_count; i++)
        flow_lengths(x, n, of->lengths[i], of);
    for (integer i = 0; i < of->threads_count; i++)
        flow_threads(x, n, of->threads[i], of);
    for (integer i = 0; i < of->bends_count; i++)
        flow_bends(x, n, of->bends[i], of);
    const strip_links *links = of->links;
    for (integer i = 0; i < links->count; i++)
        if (links->rest_lengths[i] < __builtin_inf())
            links->rest_lengths[i] = of->lengths[0]->rests[i];
}
