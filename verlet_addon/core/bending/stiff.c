/* Bends that are solved for at once: the same as project_stiff_bends in numpy_kernels.py and solve in
   linear/dissection.py. Inner loops run along rows, so that processors take two or more at a time. */
#include "../kernels.h"

/* The parts of one depth; see Depth. Those with fewer unknowns are filled up with number f. */
typedef struct {
    integer parts, size, reach;
    const integer *own, *border;            /* (p, s) and (p, b) */
    const real *root, *root_turned;         /* (p, s, s), and transposed */
    const real *passed, *passed_turned;     /* (p, s, b), and transposed */
    real *eliminated;                       /* (p, 3, s) to work in, as all that follow */
    real *inside, *outside;                 /* (3, s) and (3, b) */
} depth;

/* See StiffBendBatch. */
typedef struct {
    integer count; /* c */
    const integer *particles;
    const real *coefficients, *stiffnesses; /* (4, c) and (c,) */
    const real *targets;                    /* (3, c) or NULL */
    integer free_count;                     /* f */
    const integer *free;
    const integer *number; /* (n,) of each particle among the free ones, or f */
    const real *masses;    /* (f,) */
    integer depths;
    const depth *const *depth;
    real *multipliers; /* (3, f) */
    real *values;      /* (3, f + 1) to work in; 0 for number f */
} stiff_batch;

/* sums (3, n) += row (n,) times the vector. */
static inline void add_row(real *sums, integer stride, const real *row, integer n, real x, real y,
                           real z)
{
    real *to_x = sums, *to_y = sums + stride, *to_z = sums + 2 * stride;
    for (integer i = 0; i < n; i++) {
        to_x[i] += row[i] * x;
        to_y[i] += row[i] * y;
        to_z[i] += row[i] * z;
    }
}

static void clear(real *values, integer n)
{
    for (integer i = 0; i < n; i++)
        values[i] = 0.0;
}

/* Eliminates the unknowns of a part out of those around it. */
static void eliminate(real *values, integer stride, const depth *at, integer part)
{
    integer s = at->size, b = at->reach;
    const integer *own = at->own + part * s, *border = at->border + part * b;
    real *answer = at->eliminated + 3 * part * s;
    clear(answer, 3 * s);
    clear(at->outside, 3 * b);
    for (integer j = 0; j < s; j++)
        add_row(answer + j, s, at->root_turned + (part * s + j) * s + j, s - j, values[own[j]],
                values[stride + own[j]], values[2 * stride + own[j]]);
    for (integer i = 0; i < s; i++)
        add_row(at->outside, b, at->passed + (part * s + i) * b, b, answer[i], answer[s + i],
                answer[2 * s + i]);
    for (integer axis = 0; axis < 3; axis++)
        for (integer k = 0; k < b; k++)
            values[axis * stride + border[k]] -= at->outside[axis * b + k];
}

/* Finds the unknowns of a part, given those around it. */
static void find(real *values, integer stride, const depth *at, integer part)
{
    integer s = at->size, b = at->reach;
    const integer *own = at->own + part * s, *border = at->border + part * b;
    real *answer = at->eliminated + 3 * part * s;
    clear(at->inside, 3 * s);
    for (integer k = 0; k < b; k++)
        add_row(answer, s, at->passed_turned + (part * b + k) * s, s, -values[border[k]],
                -values[stride + border[k]], -values[2 * stride + border[k]]);
    for (integer i = 0; i < s; i++)
        add_row(at->inside, s, at->root + (part * s + i) * s, i + 1, answer[i], answer[s + i],
                answer[2 * s + i]);
    for (integer axis = 0; axis < 3; axis++)
        for (integer j = 0; j < s; j++)
            values[axis * stride + own[j]] = at->inside[axis * s + j];
}

/* The number f stands for nothing. */
static void forget_filling(real *values, integer stride)
{
    for (integer axis = 0; axis < 3; axis++)
        values[axis * stride + stride - 1] = 0.0;
}

/* values = -(what bends pull at each free particle) - multipliers. */
static void gather_pulls(const real *positions, integer n, const stiff_batch *batch)
{
    integer c = batch->count, f = batch->free_count, stride = f + 1;
    for (integer axis = 0; axis < 3; axis++) {
        const real *x = positions + axis * n;
        real *pull = batch->values + axis * stride;
        for (integer i = 0; i < f; i++)
            pull[i] = -batch->multipliers[axis * f + i];
        for (integer i = 0; i < c; i++) {
            real bend = batch->targets ? -batch->targets[axis * c + i] : 0.0;
            for (integer k = 0; k < 4; k++)
                bend += x[batch->particles[k * c + i]] * batch->coefficients[k * c + i];
            bend *= batch->stiffnesses[i];
            for (integer k = 0; k < 4; k++)
                pull[batch->number[batch->particles[k * c + i]]] -= batch->coefficients[k * c + i]
                                                                    * bend;
        }
    }
    forget_filling(batch->values, stride);
}

/* Straight at rest, all at once. */
EXPORT void project_stiff_bends(real *positions, integer n, const stiff_batch *batch)
{
    integer f = batch->free_count, stride = f + 1;
    real *values = batch->values;
    gather_pulls(positions, n, batch);
    for (integer i = 0; i < batch->depths; i++) {
        for (integer part = 0; part < batch->depth[i]->parts; part++)
            eliminate(values, stride, batch->depth[i], part);
        forget_filling(values, stride);
    }
    for (integer i = batch->depths - 1; i >= 0; i--) {
        for (integer part = 0; part < batch->depth[i]->parts; part++)
            find(values, stride, batch->depth[i], part);
        forget_filling(values, stride);
    }
    for (integer axis = 0; axis < 3; axis++)
        for (integer i = 0; i < f; i++) {
            real moved = values[axis * stride + i];
            batch->multipliers[axis * f + i] += batch->masses[i] * moved;
            positions[axis * n + batch->free[i]] += moved;
        }
}
