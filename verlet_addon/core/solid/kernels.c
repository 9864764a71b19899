/* Solids: the same as numpy_kernels.py, where formulas and sources stand. */
#include "../kernels.h"

/* elements.py */
#define FIRST_LAME (0.45 / (1.45 * (1.0 - 2.0 * 0.45)))
#define TURNS 10
#define SETTLED 1e-9
#define LARGEST 8.0

/* See Lattice. */
typedef struct {
    integer cells, nodes;      /* h and m */
    const integer *corners;    /* (h, 8) */
    const integer *kinds;      /* (h,) */
    const real *stiffnesses;   /* (k, 24, 24) */
    const real *gradients;     /* (k, 8, 3) */
    const real *volumes;       /* (k,) */
    const real *rest;          /* (3, m) */
} solid_lattice;

/* See Shape. */
typedef struct {
    real *rotations; /* (h, 3, 3) */
    real *slopes;    /* (h, 8, 3) */
} solid_shape;

/* See Embedding, and Springs at some of its points. */
typedef struct {
    integer points;       /* p */
    const integer *nodes; /* (p, 8) */
    const real *weights;  /* (p, 8) */
} solid_embedding;

static void gather(const real *rows, integer n, const integer corners[8], real found[24])
{
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            found[3 * c + a] = rows[a * n + corners[c]];
}

static void scatter(real *rows, integer n, const integer corners[8], const real values[24])
{
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            rows[a * n + corners[c]] += values[3 * c + a];
}

/* Turns vectors at the corners by a rotation, or back by its inverse. */
static void turn_all(const real r[9], const real from[24], real to[24])
{
    for (int c = 0; c < 24; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[3 * a] * from[c] + r[3 * a + 1] * from[c + 1] + r[3 * a + 2] * from[c + 2];
}

static void turn_back_all(const real r[9], const real from[24], real to[24])
{
    for (int c = 0; c < 24; c += 3)
        for (int a = 0; a < 3; a++)
            to[c + a] = r[a] * from[c] + r[3 + a] * from[c + 1] + r[6 + a] * from[c + 2];
}

/* A symmetric matrix times a vector, row by row as vector instructions like it. */
static void multiply(const real matrix[576], const real vector[24], real found[24])
{
    for (int i = 0; i < 24; i++)
        found[i] = 0.0;
    for (int j = 0; j < 24; j++) {
        const real *row = matrix + 24 * j;
        const real value = vector[j];
        for (int i = 0; i < 24; i++)
            found[i] += row[i] * value;
    }
}

static void cross(const real a[3], const real b[3], real found[3])
{
    found[0] = a[1] * b[2] - a[2] * b[1];
    found[1] = a[2] * b[0] - a[0] * b[2];
    found[2] = a[0] * b[1] - a[1] * b[0];
}

static real dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* F = Σ x ∇N, and the same held to LARGEST. */
static void deform(const real places[24], const real gradients[24], real f[9], real held[9])
{
    real square = 0.0;
    for (int k = 0; k < 9; k++)
        f[k] = 0.0;
    for (int c = 0; c < 24; c += 3)
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                f[3 * a + k] += places[c + a] * gradients[c + k];
    for (int k = 0; k < 9; k++)
        square += f[k] * f[k];
    real share = smaller(1.0, __builtin_sqrt(LARGEST / larger(square, 1e-300)));
    for (int k = 0; k < 9; k++)
        held[k] = f[k] * share;
}

static void matrix_of(const real q[4], real r[9])
{
    real w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - w * z), r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y), r[7] = 2 * (y * z + w * x), r[8] = 1 - 2 * (x * x + y * y);
}

/* Turns a rotation towards a deformation until it fits. */
static void fit(real q[4], const real f[9])
{
    for (int number = 0; number < TURNS; number++) {
        real r[9], half[3], v[3], around[3], turn[3] = {0.0, 0.0, 0.0}, along = 0.0;
        matrix_of(q, r);
        for (int k = 0; k < 3; k++) {
            real mine[3] = {r[k], r[3 + k], r[6 + k]}, theirs[3] = {f[k], f[3 + k], f[6 + k]};
            cross(mine, theirs, around);
            for (int a = 0; a < 3; a++)
                turn[a] += around[a];
            along += dot(mine, theirs);
        }
        along = (along < 0.0 ? -along : along) + 1e-9;
        for (int a = 0; a < 3; a++) {
            turn[a] /= along;
            half[a] = 0.5 * turn[a];
            v[a] = q[1 + a];
        }
        cross(half, v, around);
        real w = q[0], next[4] = {w - dot(half, v)};
        for (int a = 0; a < 3; a++)
            next[1 + a] = v[a] + w * half[a] + around[a];
        real size = __builtin_sqrt(next[0] * next[0] + dot(next + 1, next + 1));
        for (int k = 0; k < 4; k++)
            q[k] = next[k] / size;
        if (dot(turn, turn) <= SETTLED * SETTLED)
            return;
    }
}

EXPORT void find_shape(const solid_lattice *lattice, const real *nodes, real *quaternions,
                       const solid_shape *shape)
{
    for (integer e = 0; e < lattice->cells; e++) {
        const real *gradients = lattice->gradients + 24 * lattice->kinds[e];
        real places[24], f[9], held[9], cofactors[9];
        gather(nodes, lattice->nodes, lattice->corners + 8 * e, places);
        deform(places, gradients, f, held);
        fit(quaternions + 4 * e, f);
        matrix_of(quaternions + 4 * e, shape->rotations + 9 * e);
        for (int a = 0; a < 3; a++)
            cross(held + 3 * ((a + 1) % 3), held + 3 * ((a + 2) % 3), cofactors + 3 * a);
        for (int c = 0; c < 24; c += 3)
            for (int a = 0; a < 3; a++)
                shape->slopes[24 * e + c + a] = dot(cofactors + 3 * a, gradients + c);
    }
}

/* Writes forces (3, m). */
EXPORT void elastic_forces(const solid_lattice *lattice, const real *nodes,
                           const solid_shape *shape, real modulus, real *forces)
{
    integer m = lattice->nodes;
    for (integer i = 0; i < 3 * m; i++)
        forces[i] = 0.0;
    for (integer e = 0; e < lattice->cells; e++) {
        const integer *corners = lattice->corners + 8 * e, kind = lattice->kinds[e];
        const real *r = shape->rotations + 9 * e, *slopes = shape->slopes + 24 * e;
        real places[24], rest[24], local[24], pulls[24], f[9], held[9], normal[3];
        gather(nodes, m, corners, places);
        gather(lattice->rest, m, corners, rest);
        turn_back_all(r, places, local);
        for (int i = 0; i < 24; i++)
            local[i] -= rest[i];
        multiply(lattice->stiffnesses + 576 * kind, local, pulls);
        turn_all(r, pulls, local);
        deform(places, lattice->gradients + 24 * kind, f, held);
        cross(held + 3, held + 6, normal);
        real pressure = FIRST_LAME * lattice->volumes[kind] * (dot(held, normal) - 1.0);
        for (int i = 0; i < 24; i++)
            local[i] = -modulus * (local[i] + pressure * slopes[i]);
        scatter(forces, m, corners, local);
    }
}

/* Adds what the cells oppose moves with. */
static void add_product(const solid_lattice *lattice, const solid_shape *shape, real modulus,
                        const real *moves, real *found)
{
    integer m = lattice->nodes;
    for (integer e = 0; e < lattice->cells; e++) {
        const integer *corners = lattice->corners + 8 * e, kind = lattice->kinds[e];
        const real *r = shape->rotations + 9 * e, *slopes = shape->slopes + 24 * e;
        real each[24], local[24], pulls[24], growth = 0.0;
        gather(moves, m, corners, each);
        turn_back_all(r, each, local);
        multiply(lattice->stiffnesses + 576 * kind, local, pulls);
        turn_all(r, pulls, local);
        for (int i = 0; i < 24; i++)
            growth += slopes[i] * each[i];
        real pressure = FIRST_LAME * lattice->volumes[kind] * growth;
        for (int i = 0; i < 24; i++)
            local[i] = modulus * (local[i] + pressure * slopes[i]);
        scatter(found, m, corners, local);
    }
}

EXPORT void stiffness_product(const solid_lattice *lattice, const solid_shape *shape, real modulus,
                              const real *moves, real *found)
{
    for (integer i = 0; i < 3 * lattice->nodes; i++)
        found[i] = 0.0;
    add_product(lattice, shape, modulus, moves, found);
}

EXPORT void interpolate(const solid_embedding *embedding, const real *nodes, integer m, real *found)
{
    integer p = embedding->points;
    for (integer i = 0; i < p; i++) {
        const integer *corners = embedding->nodes + 8 * i;
        const real *weights = embedding->weights + 8 * i;
        for (int a = 0; a < 3; a++) {
            real sum = 0.0;
            for (int c = 0; c < 8; c++)
                sum += weights[c] * nodes[a * m + corners[c]];
            found[a * p + i] = sum;
        }
    }
}

/* See System. */
typedef struct {
    const solid_lattice *lattice;
    const solid_embedding *embedding;
    const real *masses; /* (m,) */
    const solid_shape *shape;
    real stiffness;
    integer springs;         /* k */
    const integer *points;   /* (k,) */
    const real *stiffnesses; /* (k, 3, 3) */
    real *blocks;            /* (m, 3, 3) to work in, as are (3, m): */
    real *residual, *ahead, *search, *along;
} solid_system;

static void multiply_system(const solid_system *all, const real *moves, real *found)
{
    integer m = all->lattice->nodes;
    for (int a = 0; a < 3; a++)
        for (integer i = 0; i < m; i++)
            found[a * m + i] = all->masses[i] * moves[a * m + i];
    add_product(all->lattice, all->shape, all->stiffness, moves, found);
    for (integer k = 0; k < all->springs; k++) {
        const integer *corners = all->embedding->nodes + 8 * all->points[k];
        const real *weights = all->embedding->weights + 8 * all->points[k];
        const real *stiffness = all->stiffnesses + 9 * k;
        real at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = 0.0;
            for (int c = 0; c < 8; c++)
                at[a] += weights[c] * moves[a * m + corners[c]];
        }
        for (int a = 0; a < 3; a++) {
            real pull = dot(stiffness + 3 * a, at);
            for (int c = 0; c < 8; c++)
                found[a * m + corners[c]] += weights[c] * pull;
        }
    }
}

/* R B Rᵀ of one corner's block of a cell's stiffness, times a factor, added. */
static void add_turned(const real *stiffness, int corner, const real r[9], real factor, real *block)
{
    real half[9];
    for (int b = 0; b < 3; b++)
        for (int f = 0; f < 3; f++)
            half[3 * b + f] = dot(stiffness + 24 * (3 * corner + b) + 3 * corner, r + 3 * f);
    for (int a = 0; a < 3; a++)
        for (int f = 0; f < 3; f++)
            block[3 * a + f] += factor * (r[3 * a] * half[f] + r[3 * a + 1] * half[3 + f]
                                          + r[3 * a + 2] * half[6 + f]);
}

static void invert(real block[9])
{
    real cofactors[9];
    for (int a = 0; a < 3; a++)
        cross(block + 3 * ((a + 1) % 3), block + 3 * ((a + 2) % 3), cofactors + 3 * a);
    real size = dot(block, cofactors);
    for (int k = 0; k < 9; k++)
        block[k] = cofactors[k] / size;
}

/* The inverted blocks on the diagonal. */
static void find_blocks(const solid_system *all)
{
    const solid_lattice *lattice = all->lattice;
    for (integer i = 0; i < lattice->nodes; i++)
        for (int k = 0; k < 9; k++)
            all->blocks[9 * i + k] = k % 4 ? 0.0 : all->masses[i];
    for (integer e = 0; e < lattice->cells; e++) {
        integer kind = lattice->kinds[e];
        real volume = all->stiffness * FIRST_LAME * lattice->volumes[kind];
        for (int c = 0; c < 8; c++) {
            real *block = all->blocks + 9 * lattice->corners[8 * e + c];
            const real *slope = all->shape->slopes + 24 * e + 3 * c;
            add_turned(lattice->stiffnesses + 576 * kind, c, all->shape->rotations + 9 * e,
                       all->stiffness, block);
            for (int k = 0; k < 9; k++)
                block[k] += volume * slope[k / 3] * slope[k % 3];
        }
    }
    for (integer k = 0; k < all->springs; k++)
        for (int c = 0; c < 8; c++) {
            integer at = 8 * all->points[k] + c;
            real weight = all->embedding->weights[at];
            real *block = all->blocks + 9 * all->embedding->nodes[at];
            for (int i = 0; i < 9; i++)
                block[i] += weight * weight * all->stiffnesses[9 * k + i];
        }
    for (integer i = 0; i < lattice->nodes; i++)
        invert(all->blocks + 9 * i);
}

/* The blocks times a vector; the product with it. */
static real precondition(const solid_system *all, const real *vector, real *found)
{
    integer m = all->lattice->nodes;
    real total = 0.0;
    for (integer i = 0; i < m; i++) {
        const real at[3] = {vector[i], vector[m + i], vector[2 * m + i]};
        for (int a = 0; a < 3; a++) {
            real value = dot(all->blocks + 9 * i + 3 * a, at);
            found[a * m + i] = value;
            total += at[a] * value;
        }
    }
    return total;
}

EXPORT integer solve_solid(const solid_system *all, const real *right, real *moves, real tolerance,
                           integer rounds)
{
    integer count = 3 * all->lattice->nodes;
    find_blocks(all);
    multiply_system(all, moves, all->along);
    for (integer i = 0; i < count; i++)
        all->residual[i] = right[i] - all->along[i];
    real small = tolerance * tolerance * precondition(all, right, all->ahead);
    real size = precondition(all, all->residual, all->ahead);
    for (integer i = 0; i < count; i++)
        all->search[i] = all->ahead[i];
    for (integer number = 0; number < rounds; number++) {
        if (size <= small)
            return number;
        multiply_system(all, all->search, all->along);
        real slope = 0.0;
        for (integer i = 0; i < count; i++)
            slope += all->search[i] * all->along[i];
        real step = size / slope;
        for (integer i = 0; i < count; i++) {
            moves[i] += step * all->search[i];
            all->residual[i] -= step * all->along[i];
        }
        real former = size;
        size = precondition(all, all->residual, all->ahead);
        for (integer i = 0; i < count; i++)
            all->search[i] = all->ahead[i] + size / former * all->search[i];
    }
    return rounds;
}
