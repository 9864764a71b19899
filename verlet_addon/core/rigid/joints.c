/* What joins rigid pieces, solved as one: the same as join in numpy_kernels.py. */
#include "pieces.h"

#define JOINED 1e-3
#define LINEARIZED 8
#define CONJUGATE_ROUNDS 100
#define RESIDUAL 1e-2
#define YIELDING 1e-3

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
    real small = RESIDUAL * RESIDUAL * size;
    for (int number = 0; number < CONJUGATE_ROUNDS && size > small; number++) {
        find_product(all, near, search, found, n);
        real slope = 0.0, former = size;
        for (integer e = 0; e < count; e++) {
            if (inverses[e] > 0.0)
                found[e] += YIELDING / inverses[e] * search[e];
            slope += search[e] * found[e];
        }
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
