/* The tension that strips had a step ago: the same as numpy_warm_start.py, link by link.

   Vectors of particles and links stand in triples here, which are fetched at once. */
#include "../kernels.h"

#define TAUT_MEMORY 0.85
#define WEAK 0.05
#define STIFFEST 1e6

/* All strips of some batches as one path; see StripNet. */
typedef struct strip_net {
    integer particles, entries, paths; /* n, k */
    const integer *ends;               /* (paths,) where each strip ends in the path */
    const integer *path;               /* (k,) */
    const uint8_t *bearing, *loose;    /* (k - 1,) */
    const real *lightness;             /* (k - 1,) */
    const real *masses;                /* (n,) */
    integer pins;
    const integer *pinned;     /* (pins,) */
    real *displacement;        /* (3, n) */
    const real *push;          /* (3, n) */
    real *multipliers;         /* (k - 1,) */
    real *pulls;               /* (k - 1,) to work in, as all that follow */
    real *factor, *inverse;    /* (k,) of the taut strips */
    real *right;               /* (l, 3) for strips of at most l entries */
    integer *stiff;            /* (k,) the stiffer links */
    uint8_t *taut;             /* (paths,) strips */
    real *diagonal, *shares;   /* (n,) */
    real *residual, *heading, *answer, *resistance, *found; /* (n, 3) */
} strip_net;

static void hold_pinned(const strip_net *net, real *vectors)
{
    for (integer i = 0; i < net->pins; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * net->pinned[i] + axis] = 0.0;
}

/* Finds T/l of all links and, as the first residual, the force on each particle with that of
   gas; whether any is. */
static int find_pulls(const real *positions, const strip_net *net, real kept, real taut)
{
    integer n = net->particles;
    int any = 0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            real push = net->push[axis * n + i];
            net->residual[3 * i + axis] = push;
            any |= push != 0.0;
        }
    for (integer k = 0; k + 1 < net->entries; k++) {
        integer a = net->path[k], b = net->path[k + 1];
        net->pulls[k] = 0.0;
        if (net->multipliers[k] >= 0.0 || !net->bearing[k])
            continue;
        real x = positions[b] - positions[a], y = positions[n + b] - positions[n + a];
        real z = positions[2 * n + b] - positions[2 * n + a];
        real length = distance(x, y, z);
        real pull = -net->multipliers[k] / length;
        real tautness = pull * net->lightness[k];
        pull *= kept + (larger(TAUT_MEMORY, kept) - kept) * tautness / (tautness + taut + NONZERO);
        pull = smaller(pull, STIFFEST / net->lightness[k]);
        net->pulls[k] = pull;
        any |= pull > 0.0;
        net->residual[3 * a] += pull * x;
        net->residual[3 * a + 1] += pull * y;
        net->residual[3 * a + 2] += pull * z;
        net->residual[3 * b] -= pull * x;
        net->residual[3 * b + 1] -= pull * y;
        net->residual[3 * b + 2] -= pull * z;
    }
    hold_pinned(net, net->residual);
    return any;
}

/* Sets the tension that acts at these positions. */
static void write_multipliers(const real *positions, const strip_net *net)
{
    integer n = net->particles;
    for (integer k = 0; k + 1 < net->entries; k++) {
        integer a = net->path[k], b = net->path[k + 1];
        net->multipliers[k] = 0.0;
        if (net->pulls[k] == 0.0)
            continue;
        real x = positions[b] - positions[a], y = positions[n + b] - positions[n + a];
        real z = positions[2 * n + b] - positions[2 * n + a];
        net->multipliers[k] = -(net->pulls[k] * distance(x, y, z));
    }
}

/* Factorizes a strip by Thomas's algorithm: its particles are coupled along its stiffer links. */
static void factorize(const strip_net *net, integer begin, integer end, real weak)
{
    real inverse = 0.0;
    for (integer k = begin; k < end; k++) {
        real pivot = net->diagonal[net->path[k]], factor = 0.0;
        if (k > begin) {
            int is_stiff = net->pulls[k - 1] * net->lightness[k - 1] > weak;
            real beside = net->loose[k - 1] && is_stiff ? -net->pulls[k - 1] : 0.0;
            factor = beside * inverse;
            pivot -= factor * beside;
        }
        net->factor[k] = factor;
        net->inverse[k] = inverse = 1.0 / pivot;
    }
}

/* Chooses the stiffer links, counts them, and factorizes the taut strips. */
static integer make_system(const strip_net *net, real taut)
{
    integer n = net->particles, stiff = 0;
    for (integer i = 0; i < n; i++) {
        net->diagonal[i] = net->masses[i];
        net->shares[i] = 0.0;
    }
    for (integer p = 0, begin = 0; p < net->paths; begin = net->ends[p++]) {
        net->taut[p] = 0;
        for (integer k = begin; k + 1 < net->ends[p]; k++) {
            real tautness = net->pulls[k] * net->lightness[k];
            net->taut[p] |= tautness > taut;
            net->stiff[stiff] = k;
            stiff += tautness > WEAK * taut;
        }
    }
    for (integer i = 0; i < stiff; i++) {
        integer k = net->stiff[i];
        net->diagonal[net->path[k]] += net->pulls[k];
        net->diagonal[net->path[k + 1]] += net->pulls[k];
    }
    for (integer p = 0, begin = 0; p < net->paths; begin = net->ends[p++])
        if (net->taut[p]) {
            factorize(net, begin, net->ends[p], WEAK * taut);
            for (integer k = begin; k < net->ends[p]; k++)
                net->shares[net->path[k]] += 1.0;
        }
    for (integer i = 0; i < n; i++) {
        net->shares[i] = net->shares[i] > 0.0 ? 1.0 / net->shares[i] : 0.0;
        net->diagonal[i] = 1.0 / net->diagonal[i];
    }
    return stiff;
}

/* resistance = m u + sum of pull (u - that of the neighbour) for the displacements u. */
static void resist(const strip_net *net, integer stiff)
{
    for (integer i = 0; i < net->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            net->resistance[3 * i + axis] = net->heading[3 * i + axis] * net->masses[i];
    for (integer i = 0; i < stiff; i++) {
        integer k = net->stiff[i], a = 3 * net->path[k], b = 3 * net->path[k + 1];
        for (int axis = 0; axis < 3; axis++) {
            real across = (net->heading[a + axis] - net->heading[b + axis]) * net->pulls[k];
            net->resistance[a + axis] += across;
            net->resistance[b + axis] -= across;
        }
    }
    hold_pinned(net, net->resistance);
}

/* answer += share of what a taut strip alone would answer the residual with. */
static void answer_strip(const strip_net *net, integer begin, integer end)
{
    real *right = net->right, last[3] = {0.0, 0.0, 0.0};
    for (integer k = begin; k < end; k++)
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = net->residual[3 * net->path[k] + axis] - net->factor[k] * last[axis];
            right[3 * (k - begin) + axis] = last[axis];
        }
    for (integer k = end - 1; k >= begin; k--) {
        integer particle = net->path[k];
        real factor = k + 1 < end ? net->factor[k + 1] : 0.0;
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = right[3 * (k - begin) + axis] * net->inverse[k] - factor * last[axis];
            net->answer[3 * particle + axis] += last[axis] * net->shares[particle];
        }
    }
}

/* Goes a step along the heading. */
static void go(const strip_net *net, real step)
{
    WIDE for (integer i = 0; i < 3 * net->particles; i++) {
        net->found[i] += step * net->heading[i];
        net->residual[i] -= step * net->resistance[i];
    }
}

/* Makes the answer the displacement that each strip or particle alone would answer the residual
   with. */
static void respond(const strip_net *net)
{
    for (integer i = 0; i < net->particles; i++) {
        real alone = net->shares[i] > 0.0 ? 0.0 : net->diagonal[i];
        for (integer at = 3 * i; at < 3 * i + 3; at++)
            net->answer[at] = net->residual[at] * alone;
    }
    for (integer p = 0, begin = 0; p < net->paths; begin = net->ends[p++])
        if (net->taut[p])
            answer_strip(net, begin, net->ends[p]);
}

static real product(const real *first, const real *second, integer n)
{
    real sums[3] = {0.0, 0.0, 0.0};
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += first[3 * i + axis] * second[3 * i + axis];
    return sums[0] + sums[1] + sums[2];
}

/* Finds the displacement that balances the forces, searched for from the former one; in no rounds
   at all, where strips and particles alone answer exactly. */
static void search(const strip_net *net, integer stiff, integer rounds)
{
    integer n = net->particles;
    real size = 0.0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            net->heading[3 * i + axis] = net->displacement[axis * n + i];
            net->found[3 * i + axis] = 0.0;
        }
    if (!rounds)
        respond(net);
    for (integer round = 0; round < rounds; round++) {
        if (round) {
            /* The former displacement is none of the conjugate directions, which start anew. */
            real former = size;
            size = product(net->residual, net->answer, n);
            real keep = round > 1 && former > 0.0 ? size / former : 0.0;
            WIDE for (integer i = 0; i < 3 * n; i++)
                net->heading[i] = net->answer[i] + net->heading[i] * keep;
        }
        resist(net, stiff);
        real curvature = product(net->heading, net->resistance, n);
        real slope = product(net->heading, net->residual, n);
        go(net, curvature > 0.0 ? slope / curvature : 0.0);
        respond(net);
    }
}

/* Starts from a share `kept` of the tension of the step before, along the new directions. */
EXPORT void project_former_tension(real *positions, const strip_net *net, real kept, real taut,
                                   integer rounds)
{
    integer n = net->particles;
    int any = find_pulls(positions, net, kept, taut);
    if (any)
        search(net, make_system(net, taut), rounds);
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer at = 3 * i + axis;
            real moved = any ? net->found[at] + net->answer[at] : 0.0;
            net->displacement[axis * n + i] = moved;
            if (any)
                positions[axis * n + i] += moved;
        }
    write_multipliers(positions, net);
}
