/* Woven triangles, all in one implicit step: the same as numpy_kernels.py, triangle by triangle.

   Vectors of particles stand in triples here, which are fetched at once. */
#include "../kernels.h"

/* How a triangle is strained, and what it resists. */
typedef struct {
    real along[2][3], skew[2][3]; /* unit vectors along warp and weft; slopes of the shear */
    real turned[2];
} strained;

/* See WeaveBatch. */
typedef struct {
    integer count, particles;          /* t and n */
    const integer *triangles;          /* (t, 3) */
    const real *slopes;                /* (t, 3, 2) */
    const real *rests;                 /* (t, 2) */
    const real *firmness;              /* (t, 3) */
    const real *masses, *free;         /* (n,) */
    real *displacement, *multipliers;  /* (3, n) */
    strained *strains;                 /* (t,) to work in, as all that follow */
    real *blocks;                      /* (n, 3, 3) */
    real *pull, *residual, *ahead, *search, *along, *moved; /* (n, 3) */
} weave_batch;

/* w of warp and weft, of vectors (n, 3). */
static inline void gather(const weave_batch *all, integer t, const real *vectors, real ways[2][3])
{
    const integer *corners = all->triangles + 3 * t;
    const real *slopes = all->slopes + 6 * t;
    const real *a = vectors + 3 * corners[0], *b = vectors + 3 * corners[1];
    const real *c = vectors + 3 * corners[2];
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 2; k++)
            ways[k][axis] = slopes[k] * a[axis] + slopes[2 + k] * b[axis] + slopes[4 + k] * c[axis];
}

/* Adds what forces on w of warp and weft are to the particles. */
static inline void scatter(const weave_batch *all, integer t, real forces[2][3], real *vectors)
{
    const integer *corners = all->triangles + 3 * t;
    const real *slopes = all->slopes + 6 * t;
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * corners[i] + axis] += slopes[2 * i] * forces[0][axis]
                                              + slopes[2 * i + 1] * forces[1][axis];
}

static void clear(real *vectors, integer count)
{
    for (integer i = 0; i < count; i++)
        vectors[i] = 0.0;
}

/* Nothing pulls at what is pinned. */
static void let_go(const weave_batch *all, real *vectors)
{
    for (integer i = 0; i < all->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * i + axis] *= all->free[i];
}

/* Strains of all triangles, and their pull, at positions (n, 3). */
static void measure(const weave_batch *all, const real *positions)
{
    clear(all->pull, 3 * all->particles);
    for (integer t = 0; t < all->count; t++) {
        strained *at = all->strains + t;
        const real *firm = all->firmness + 3 * t;
        real ways[2][3], lengths[2], tension[2], shear;
        gather(all, t, positions, ways);
        for (int k = 0; k < 2; k++) {
            lengths[k] = distance(ways[k][0], ways[k][1], ways[k][2]);
            for (int axis = 0; axis < 3; axis++)
                at->along[k][axis] = ways[k][axis] / lengths[k];
            tension[k] = firm[k] * (lengths[k] - all->rests[2 * t + k]);
            at->turned[k] = larger(tension[k], -tension[k]) / lengths[k];
        }
        shear = dot(at->along[0], at->along[1]);
        for (int k = 0; k < 2; k++)
            for (int axis = 0; axis < 3; axis++) {
                real skew = (at->along[1 - k][axis] - shear * at->along[k][axis]) / lengths[k];
                at->skew[k][axis] = skew;
                ways[k][axis] = -(tension[k] * at->along[k][axis] + firm[2] * shear * skew);
            }
        scatter(all, t, ways, all->pull);
    }
    let_go(all, all->pull);
}

/* The masses and triangles times a vector. */
static void multiply(const weave_batch *all, const real *vector, real *found)
{
    clear(found, 3 * all->particles);
    for (integer t = 0; t < all->count; t++) {
        const strained *at = all->strains + t;
        const real *firm = all->firmness + 3 * t;
        real ways[2][3], forces[2][3];
        gather(all, t, vector, ways);
        real skewed = firm[2] * (dot(at->skew[0], ways[0]) + dot(at->skew[1], ways[1]));
        for (int k = 0; k < 2; k++) {
            real stretched = (firm[k] - at->turned[k]) * dot(at->along[k], ways[k]);
            for (int axis = 0; axis < 3; axis++)
                forces[k][axis] = at->turned[k] * ways[k][axis] + stretched * at->along[k][axis]
                                  + skewed * at->skew[k][axis];
        }
        scatter(all, t, forces, found);
    }
    let_go(all, found);
    for (integer i = 0; i < all->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            found[3 * i + axis] += all->masses[i] * vector[3 * i + axis];
}

/* The inverted blocks on the diagonal; 0 for what is pinned. */
static void find_blocks(const weave_batch *all)
{
    for (integer i = 0; i < 9 * all->particles; i++)
        all->blocks[i] = i % 9 % 4 ? 0.0 : all->masses[i / 9];
    for (integer t = 0; t < all->count; t++) {
        const strained *at = all->strains + t;
        const real *firm = all->firmness + 3 * t;
        for (int i = 0; i < 3; i++) {
            real *block = all->blocks + 9 * all->triangles[3 * t + i], skew[3];
            const real *slopes = all->slopes + 6 * t + 2 * i;
            for (int axis = 0; axis < 3; axis++)
                skew[axis] = slopes[0] * at->skew[0][axis] + slopes[1] * at->skew[1][axis];
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    block[3 * a + b] += firm[2] * skew[a] * skew[b];
            for (int k = 0; k < 2; k++) {
                real square = slopes[k] * slopes[k], turned = square * at->turned[k];
                real firmer = square * (firm[k] - at->turned[k]);
                for (int a = 0; a < 3; a++) {
                    block[4 * a] += turned;
                    for (int b = 0; b < 3; b++)
                        block[3 * a + b] += firmer * at->along[k][a] * at->along[k][b];
                }
            }
        }
    }
    for (integer i = 0; i < all->particles; i++) {
        real *block = all->blocks + 9 * i, cofactors[9];
        for (int a = 0; a < 3; a++)
            cross(block + 3 * ((a + 1) % 3), block + 3 * ((a + 2) % 3), cofactors + 3 * a);
        real size = dot(block, cofactors);
        for (int k = 0; k < 9; k++)
            block[k] = cofactors[k] * (all->free[i] / size);
    }
}

/* The blocks times a vector; the product with it. */
static real precondition(const weave_batch *all, const real *vector, real *found)
{
    real total = 0.0;
    for (integer i = 0; i < all->particles; i++)
        for (int a = 0; a < 3; a++) {
            real value = dot(all->blocks + 9 * i + 3 * a, vector + 3 * i);
            found[3 * i + a] = value;
            total += vector[3 * i + a] * value;
        }
    return total;
}

/* Takes as much of the moves given as fits best, and finds what is left. */
static void start(const weave_batch *all)
{
    integer count = 3 * all->particles;
    real fitting = 0.0, size = 0.0;
    multiply(all, all->moved, all->along);
    for (integer i = 0; i < count; i++) {
        all->residual[i] = all->pull[i] - all->multipliers[i % 3 * all->particles + i / 3];
        fitting += all->moved[i] * all->residual[i];
        size += all->moved[i] * all->along[i];
    }
    real share = size > 0.0 ? fitting / size : 0.0;
    for (integer i = 0; i < count; i++) {
        all->moved[i] *= share;
        all->residual[i] -= share * all->along[i];
    }
}

/* Finds the moves by conjugate gradients. */
static void solve(const weave_batch *all, real tolerance, integer rounds)
{
    integer count = 3 * all->particles;
    start(all);
    real small = tolerance * tolerance * precondition(all, all->pull, all->ahead);
    real size = precondition(all, all->residual, all->ahead);
    for (integer i = 0; i < count; i++)
        all->search[i] = all->ahead[i];
    for (integer round = 0; round < rounds && size > small; round++) {
        multiply(all, all->search, all->along);
        real slope = 0.0;
        for (integer i = 0; i < count; i++)
            slope += all->search[i] * all->along[i];
        real step = size / slope;
        for (integer i = 0; i < count; i++) {
            all->moved[i] += step * all->search[i];
            all->residual[i] -= step * all->along[i];
        }
        real former = size;
        size = precondition(all, all->residual, all->ahead);
        for (integer i = 0; i < count; i++)
            all->search[i] = all->ahead[i] + size / former * all->search[i];
    }
}

/* One Newton step for all triangles at once. */
EXPORT void project_weave(real *positions, const weave_batch *all, real tolerance, integer rounds)
{
    integer n = all->particles;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer row = axis * n + i;
            all->ahead[3 * i + axis] = positions[row];
            all->moved[3 * i + axis] = all->free[i] * (all->displacement[row]
                                                       - all->multipliers[row] / all->masses[i]);
        }
    measure(all, all->ahead);
    find_blocks(all);
    solve(all, tolerance, rounds);
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer row = axis * n + i;
            positions[row] += all->moved[3 * i + axis];
            all->multipliers[row] += all->masses[i] * all->moved[3 * i + axis];
            all->displacement[row] = all->multipliers[row] / all->masses[i];
        }
}
