/* Rigid pieces: the same as numpy_kernels.py, where formulas and sources stand. */
#include "../kernels.h"

#define TOUCHED 1e-7
#define NOTHING 1e-12
#define LARGEST_TURN 0.5
#define JOINED 1e-3
#define LINEARIZED 8
#define CONJUGATE_ROUNDS 100
#define SOLVED 1e-2

/* See Pieces and Placement; the particles of a piece stand beside each other. */
typedef struct {
    integer count, size;      /* s and k */
    const integer *starts;    /* (s + 1,) */
    const integer *particles; /* (k,) */
    const integer *labels;    /* (k,) */
    const real *rest;         /* (3, k) */
    const real *totals;       /* (s,) */
    const real *turns;        /* (s, 3, 3) */
    real *turned;             /* (s, 3, 3) */
    const real *arms;         /* (3, k) */
    const real *second;       /* (s, 3, 3) */
    real *centres;            /* (3, s) */
    real *moments;            /* (3, s) */
    real *placed;             /* (3, k) */
    real *work;               /* (s, 21): force, torque, shift, turn and inverse inertia */
} placement;

/* See Joints. */
typedef struct {
    integer count;              /* e */
    const integer *pairs;       /* (2, e) */
    const integer *slots;       /* (2, e) */
    const real *lengths;        /* (e,) */
    const uint8_t *slack;       /* (e,) */
    const real *inverse_masses; /* (n,) */
    real *work;                 /* (9, e): along, lacks, pulls, residual, search, found, inverses */
    real *moved;                /* (3, n) */
} joints;

static void read(const real *rows, integer n, integer at, real found[3])
{
    for (int x = 0; x < 3; x++)
        found[x] = rows[x * n + at];
}

static void apply(const real matrix[9], const real vector[3], real found[3])
{
    for (int x = 0; x < 3; x++)
        found[x] = dot(matrix + 3 * x, vector);
}

SMALL static void multiply(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* a times the transpose of b. */
SMALL static void multiply_back(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = dot(a + 3 * i, b + 3 * j);
}

SMALL static void invert_inertia(const real second[9], real inverse[9])
{
    real trace = (second[0] + second[4] + second[8]) * (1.0 + NOTHING), rows[9], columns[9];
    for (int k = 0; k < 9; k++)
        rows[k] = (k % 4 ? 0.0 : trace) - second[k];
    for (int x = 0; x < 3; x++)
        cross(rows + 3 * ((x + 1) % 3), rows + 3 * ((x + 2) % 3), columns + 3 * x);
    real size = dot(rows, columns), share = size == 0.0 ? 0.0 : 1.0 / size;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[3 * i + j] = columns[3 * j + i] * share;
}

/* Turns a rotation on by a vector (A. Cayley, 1846). */
SMALL static void turn_on(real turn[9], const real vector[3])
{
    real x = vector[0] / 2.0, y = vector[1] / 2.0, z = vector[2] / 2.0, square[9], found[9];
    real matrix[9] = {0.0, -z, y, z, 0.0, -x, -y, x, 0.0};
    real share = 2.0 / (1.0 + x * x + y * y + z * z);
    multiply(matrix, matrix, square);
    for (int k = 0; k < 9; k++)
        matrix[k] = (k % 4 ? 0.0 : 1.0) + share * (matrix[k] + square[k]);
    multiply(matrix, turn, found);
    for (int k = 0; k < 9; k++)
        turn[k] = found[k];
}

/* The rotation near `turn` that has this moment. */
SMALL static void find_turn(real turn[9], const real second[9], const real moment[3], integer rounds)
{
    for (integer number = 0; number < rounds; number++) {
        real product[9], inverse[9], lack[3], step[3];
        multiply(turn, second, product);
        lack[0] = moment[0] - (product[7] - product[5]);
        lack[1] = moment[1] - (product[2] - product[6]);
        lack[2] = moment[2] - (product[3] - product[1]);
        invert_inertia(product, inverse);
        apply(inverse, lack, step);
        real angle = __builtin_sqrt(dot(step, step));
        real share = smaller(1.0, LARGEST_TURN / larger(angle, NONZERO));
        for (int x = 0; x < 3; x++)
            step[x] *= share;
        turn_on(turn, step);
    }
}

/* Gives a piece a force and a torque, times h², and puts its particles. */
static void push(const placement *all, integer piece, const real force[3], const real torque[3],
                 real *positions, integer n, integer rounds)
{
    const real *turns = all->turns + 9 * piece;
    real *turned = all->turned + 9 * piece, turn[9], moment[3], arm[3], to[3];
    for (int x = 0; x < 3; x++) {
        all->centres[x * all->count + piece] += force[x] / all->totals[piece];
        moment[x] = all->moments[x * all->count + piece] += torque[x];
    }
    multiply_back(turned, turns, turn);
    find_turn(turn, all->second + 9 * piece, moment, rounds);
    multiply(turn, turns, turned);
    for (integer k = all->starts[piece]; k < all->starts[piece + 1]; k++) {
        read(all->rest, all->size, k, arm);
        apply(turned, arm, to);
        for (int x = 0; x < 3; x++) {
            real place = all->centres[x * all->count + piece] + to[x];
            all->placed[x * all->size + k] = place;
            positions[x * n + all->particles[k]] = place;
        }
    }
}

/* What moved the particles of a piece, each by its mass. */
SMALL static void gather_pushes(const placement *all, integer piece, const real *positions,
                                integer n, const real *masses, real share, real force[3],
                                real torque[3])
{
    for (int x = 0; x < 3; x++)
        force[x] = torque[x] = 0.0;
    for (integer k = all->starts[piece]; k < all->starts[piece + 1]; k++) {
        real each[3], arm[3], moment[3];
        for (int x = 0; x < 3; x++)
            each[x] = (positions[x * n + all->particles[k]] - all->placed[x * all->size + k])
                      * (share > 0.0 ? share / masses[k] : masses[k]);
        read(all->arms, all->size, k, arm);
        cross(arm, each, moment);
        for (int x = 0; x < 3; x++) {
            force[x] += each[x];
            torque[x] += moment[x];
        }
    }
}

EXPORT void give_momentum(const placement *all, real *positions, integer n, const real *masses,
                          integer rounds)
{
    for (integer piece = 0; piece < all->count; piece++) {
        real force[3], torque[3];
        gather_pushes(all, piece, positions, n, masses, 0.0, force, torque);
        push(all, piece, force, torque, positions, n, rounds);
    }
}

static int has_moved(const placement *all, integer k, const real *positions, integer n)
{
    for (int x = 0; x < 3; x++) {
        real by = positions[x * n + all->particles[k]] - all->placed[x * all->size + k];
        if (by > TOUCHED || by < -TOUCHED)
            return 1;
    }
    return 0;
}

EXPORT integer share_contacts(const placement *all, const real *softness, real *positions,
                              integer n)
{
    integer any = 0;
    for (integer k = 0; k < all->size && !any; k++)
        any = has_moved(all, k, positions, n);
    for (integer piece = 0; any && piece < all->count; piece++) {
        real crowd = 0.0, force[3], torque[3];
        for (integer k = all->starts[piece]; k < all->starts[piece + 1]; k++)
            crowd += has_moved(all, k, positions, n);
        gather_pushes(all, piece, positions, n, softness, 1.0 / larger(crowd, 1.0), force, torque);
        push(all, piece, force, torque, positions, n, 2);
    }
    return any;
}

/* One end of a joint: what carries it, and where it is from that piece's centre. */
typedef struct {
    integer particle, piece;
    real sign, arm[3];
} joint_end;

static joint_end end_of(const placement *all, const joints *near, integer e, int side,
                        const real *arms)
{
    integer slot = near->slots[side * near->count + e];
    joint_end end = {near->pairs[side * near->count + e], -1, side ? -1.0 : 1.0, {0.0, 0.0, 0.0}};
    if (slot >= 0) {
        end.piece = all->labels[slot];
        read(arms, all->size, slot, end.arm);
        if (arms == all->placed)
            for (int x = 0; x < 3; x++)
                end.arm[x] -= all->centres[x * all->count + end.piece];
    }
    return end;
}

/* Moves particles, and gathers forces and torques at pieces, under pulls along edges. */
static void spread(const placement *all, const joints *near, const real *pulls, real factor,
                   const real *arms, integer n)
{
    for (integer piece = 0; piece < all->count; piece++)
        for (int k = 0; k < 6; k++)
            all->work[21 * piece + k] = 0.0;
    for (int clear = 1; clear >= 0; clear--)
        for (int side = 0; side < 2; side++)
            for (integer e = 0; e < near->count; e++) {
                integer at = near->pairs[side * near->count + e];
                for (int x = 0; clear && x < 3; x++)
                    near->moved[x * n + at] = 0.0;
                if (clear)
                    continue;
                joint_end end = end_of(all, near, e, side, arms);
                real each[3], moment[3];
                for (int x = 0; x < 3; x++)
                    each[x] = end.sign * factor * pulls[e] * near->work[x * near->count + e];
                if (end.piece < 0) {
                    for (int x = 0; x < 3; x++)
                        near->moved[x * n + at] += each[x] * near->inverse_masses[at];
                    continue;
                }
                real *wrench = all->work + 21 * end.piece;
                cross(end.arm, each, moment);
                for (int x = 0; x < 3; x++) {
                    wrench[x] += each[x];
                    wrench[3 + x] += moment[x];
                }
            }
}

SMALL static void find_product(const placement *all, const joints *near, const real *pulls,
                               real *found, integer n)
{
    spread(all, near, pulls, 1.0, all->placed, n);
    for (integer piece = 0; piece < all->count; piece++) {
        real *at = all->work + 21 * piece;
        for (int x = 0; x < 3; x++)
            at[6 + x] = at[x] / all->totals[piece];
        apply(at + 12, at + 3, at + 9);
    }
    for (integer e = 0; e < near->count; e++) {
        found[e] = 0.0;
        for (int side = 0; side < 2; side++) {
            joint_end end = end_of(all, near, e, side, all->placed);
            real moved[3], along[3];
            read(near->work, near->count, e, along);
            if (end.piece < 0) {
                read(near->moved, n, end.particle, moved);
            } else {
                const real *at = all->work + 21 * end.piece;
                cross(at + 9, end.arm, moved);
                for (int x = 0; x < 3; x++)
                    moved[x] += at[6 + x];
            }
            found[e] += end.sign * dot(along, moved);
        }
    }
}

/* 1 / how much longer a pull of 1 along each edge makes it; 0 where nothing can move. */
SMALL static void find_inverses(const placement *all, const joints *near, real *inverses)
{
    for (integer e = 0; e < near->count; e++) {
        real total = 0.0, along[3], lever[3], turning[3];
        read(near->work, near->count, e, along);
        for (int side = 0; side < 2; side++) {
            joint_end end = end_of(all, near, e, side, all->placed);
            if (end.piece < 0) {
                total += near->inverse_masses[end.particle] * dot(along, along);
                continue;
            }
            cross(end.arm, along, lever);
            apply(all->work + 21 * end.piece + 12, lever, turning);
            total += dot(along, along) / all->totals[end.piece] + dot(lever, turning);
        }
        inverses[e] = total > 0.0 ? 1.0 / total : 0.0;
    }
}

/* Directions of edges, and what they lack; whether any is stretched. */
SMALL static int measure(const joints *near, const real *positions, integer n, real *lacks)
{
    int stretched = 0;
    for (integer e = 0; e < near->count; e++) {
        real a[3], b[3];
        read(positions, n, near->pairs[e], a);
        read(positions, n, near->pairs[near->count + e], b);
        for (int x = 0; x < 3; x++)
            a[x] -= b[x];
        real length = __builtin_sqrt(dot(a, a)), lack = length - near->lengths[e];
        int idle = near->slack[e] && lack <= 0.0;
        for (int x = 0; x < 3; x++)
            near->work[x * near->count + e] = idle ? 0.0 : a[x] / larger(length, SHORTEST);
        lacks[e] = idle ? 0.0 : lack;
        real most = JOINED * near->lengths[e];
        stretched |= lacks[e] > most || lacks[e] < -most;
    }
    return stretched;
}

SMALL static void solve(const placement *all, const joints *near, integer n)
{
    integer count = near->count;
    real *residual = near->work + 3 * count, *pulls = residual + count, *search = pulls + count;
    real *found = search + count, *inverses = found + count;
    find_inverses(all, near, inverses);
    real size = 0.0;
    for (integer e = 0; e < count; e++) {
        residual[e] = inverses[e] > 0.0 ? residual[e] : 0.0;
        pulls[e] = 0.0;
        search[e] = inverses[e] * residual[e];
        size += residual[e] * search[e];
    }
    real small = SOLVED * SOLVED * size;
    for (int number = 0; number < CONJUGATE_ROUNDS && size > small; number++) {
        find_product(all, near, search, found, n);
        real slope = 0.0, former = size;
        for (integer e = 0; e < count; e++)
            slope += search[e] * found[e];
        size = 0.0;
        for (integer e = 0; e < count; e++) {
            pulls[e] += former / slope * search[e];
            residual[e] -= former / slope * found[e];
            size += residual[e] * inverses[e] * residual[e];
        }
        for (integer e = 0; e < count; e++)
            search[e] = inverses[e] * residual[e] + size / former * search[e];
    }
}

EXPORT void join(const placement *all, const joints *near, real *positions, integer n)
{
    for (int number = 0; number < LINEARIZED; number++) {
        if (!measure(near, positions, n, near->work + 3 * near->count))
            return;
        for (integer piece = 0; piece < all->count; piece++) {
            real turn[9], half[9], second[9];
            multiply_back(all->turned + 9 * piece, all->turns + 9 * piece, turn);
            multiply(turn, all->second + 9 * piece, half);
            multiply_back(half, turn, second);
            invert_inertia(second, all->work + 21 * piece + 12);
        }
        solve(all, near, n);
        spread(all, near, near->work + 4 * near->count, -1.0, all->arms, n);
        for (int side = 0; side < 2; side++)
            for (integer e = 0; e < near->count; e++) {
                integer at = side * near->count + e, particle = near->pairs[at];
                for (int x = 0; x < 3 && near->slots[at] < 0; x++) {
                    positions[x * n + particle] += near->moved[x * n + particle];
                    near->moved[x * n + particle] = 0.0;
                }
            }
        for (integer piece = 0; piece < all->count; piece++) {
            const real *at = all->work + 21 * piece;
            push(all, piece, at, at + 3, positions, n, 2);
        }
    }
}
