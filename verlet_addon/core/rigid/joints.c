/* Edges on and near rigid pieces, solved as one system: the same as project_joints in
   kernels.py, to the bit. */
#include "../linear/conjugate_gradients.h"
#include "pieces.h"

/* The `rows` of joints are the Jacobian: force and torque of a unit tension on the bodies at both
   ends. Bodies are pieces, and then free particles. */

/* Writes directions and constraint violations of edges; 1 if any exceeds the tolerance, else 0. */
SMALL static int measure(const joints *near, const real *positions, integer n)
{
    int stretched = 0;
    for (integer e = 0; e < near->count; e++) {
        real a[3], b[3];
        read(positions, n, near->pairs[e], a);
        read(positions, n, near->pairs[near->count + e], b);
        for (int x = 0; x < 3; x++)
            a[x] -= b[x];
        real length = __builtin_sqrt(dot(a, a)), violation = length - near->rest_lengths[e];
        int idle = near->tension_only[e] && violation <= 0.0;
        for (int x = 0; x < 3; x++)
            near->along[x * near->count + e] = idle ? 0.0 : a[x] / larger(length, SHORTEST);
        violation = near->residual[e] = idle ? 0.0 : violation;
        real most = JOINT_STRAIN_TOLERANCE * near->rest_lengths[e];
        stretched |= violation > most || violation < -most;
    }
    return stretched;
}

/* Writes the Jacobian for the lever arms `arms` (3, k), or for positions `arms` if `centres` (3, s) of
   the pieces are given. */
SMALL static void fill_rows(const piece_poses *all, const joints *near, const real *arms,
                           const real *centres)
{
    for (integer e = 0; e < near->count; e++)
        for (int side = 0; side < 2; side++) {
            integer slot = near->slots[side * near->count + e], piece = near->bodies[2 * e + side];
            real *row = near->rows + 12 * e + 6 * side, arm[3] = {0.0, 0.0, 0.0};
            for (int x = 0; x < 3; x++) {
                row[x] = (side ? -1.0 : 1.0) * near->along[x * near->count + e];
                if (slot >= 0)
                    arm[x] = arms[x * all->pieces->size + slot];
                if (slot >= 0 && centres)
                    arm[x] -= centres[x * all->pieces->count + piece];
            }
            cross(arm, row, row + 3);
        }
}

/* Writes the sums of forces and torques on bodies for tensions `pulls` (e,) times a factor. */
static void apply_pulls(const joints *near, const real *pulls, real factor)
{
    clear(near->wrenches, 6 * near->body_count);
    for (integer e = 0; e < near->count; e++)
        for (int side = 0; side < 2; side++) {
            const real *row = near->rows + 12 * e + 6 * side;
            real *wrench = near->wrenches + 6 * near->bodies[2 * e + side];
            real pull = factor * pulls[e];
            for (int x = 0; x < 6; x += 2) {
                two_reals sum = two_at(wrench + x) + both(pull) * two_at(row + x);
                wrench[x] = sum[0], wrench[x + 1] = sum[1];
            }
        }
}

/* Translation and rotation of a body by a force and a torque; free particles do not rotate. */
static void move_body(const joints *near, integer body, const real wrench[6], real moved[6])
{
    for (int x = 0; x < 3; x++) {
        moved[x] = wrench[x] * near->mobilities[body];
        moved[3 + x] = 0.0;
    }
    if (body < near->body_count - near->free_count)
        apply(near->inverse_inertias + 9 * body, wrench + 3, moved + 3);
}

static inline real along_row(const real row[6], const real moved[6])
{
    return dot(row, moved) + dot(row + 3, moved + 3);
}

/* found = (J M⁻¹ Jᵀ + regularization) × pulls, both (e,). */
static real multiply_joints(const void *of, const real *pulls, real *found)
{
    const joints *near = of;
    real total = 0.0;
    apply_pulls(near, pulls, 1.0);
    for (integer body = 0; body < near->body_count; body++) {
        real moved[6], *wrench = near->wrenches + 6 * body;
        move_body(near, body, wrench, moved);
        copy(wrench, moved, 6);
    }
    for (integer e = 0; e < near->count; e++) {
        const real *row = near->rows + 12 * e, *moved = near->wrenches;
        found[e] = along_row(row, moved + 6 * near->bodies[2 * e])
                   + along_row(row + 6, moved + 6 * near->bodies[2 * e + 1]);
        found[e] += JOINT_REGULARIZATION * near->diagonal[e] * pulls[e];
        total += pulls[e] * found[e];
    }
    return total;
}

static real precondition_joints(const void *of, const real *residual, real *found)
{
    const joints *near = of;
    real total = 0.0;
    for (integer e = 0; e < near->count; e++) {
        found[e] = near->inverses[e] * residual[e];
        total += residual[e] * found[e];
    }
    return total;
}

/* Writes the diagonal of J M⁻¹ Jᵀ, and its inverse; 0 for edges between immovable ends. */
SMALL static void find_diagonal(const joints *near)
{
    for (integer e = 0; e < near->count; e++) {
        real each[2], moved[6];
        for (int side = 0; side < 2; side++) {
            const real *row = near->rows + 12 * e + 6 * side;
            move_body(near, near->bodies[2 * e + side], row, moved);
            each[side] = along_row(row, moved);
        }
        near->diagonal[e] = each[0] + each[1];
        near->inverses[e] = near->diagonal[e] > 0.0 ? 1.0 / near->diagonal[e] : 0.0;
    }
}

/* Solves for pulls (e,) by conjugate gradients with the diagonal as preconditioner. */
SMALL static void solve(const joints *near)
{
    conjugate_gradients state = {near, multiply_joints, precondition_joints, near->count,
                                 near->pulls, near->residual, near->search, near->found, near->ahead, 0.0};
    for (integer e = 0; e < near->count; e++) {
        near->residual[e] = near->inverses[e] > 0.0 ? near->residual[e] : 0.0;
        near->pulls[e] = 0.0;
    }
    real size = begin_conjugate_gradients(&state);
    iterate_conjugate_gradients(&state, MAX_JOINT_CG_ROUNDS, JOINT_RESIDUAL * JOINT_RESIDUAL * size);
}

/* Writes the inverse inertia of each piece in its present rotation. */
SMALL static void weigh_pieces(const piece_poses *all, const joints *near)
{
    for (integer piece = 0; piece < all->pieces->count; piece++) {
        real turn[9], half[9], second[9];
        multiply_back(all->rotations + 9 * piece, all->start_rotations + 9 * piece, turn);
        multiply(turn, all->second_moments + 9 * piece, half);
        multiply_back(half, turn, second);
        invert_inertia(second, near->inverse_inertias + 9 * piece);
    }
}

/* Projects edges on positions (3, n), and updates poses of pieces; returns the number of
   linearizations, `most` at most. */
EXPORT integer project_joints(const piece_poses *all, const joints *near, real *positions, integer n,
                              integer most)
{
    for (integer number = 0; number < most; number++) {
        if (!measure(near, positions, n))
            return number;
        weigh_pieces(all, near);
        fill_rows(all, near, all->particle_positions, all->centres);
        find_diagonal(near);
        solve(near);
        fill_rows(all, near, all->arms, NULL);
        apply_pulls(near, near->pulls, -1.0);
        for (integer piece = 0; piece < all->pieces->count; piece++) {
            const real *wrench = near->wrenches + 6 * piece;
            apply_impulse(all, piece, wrench, wrench + 3, positions, n, 2);
        }
        for (integer k = 0, body = all->pieces->count; k < near->free_count; k++, body++)
            for (int x = 0; x < 3; x++)
                positions[x * n + near->free[k]] += near->wrenches[6 * body + x]
                                                         * near->mobilities[body];
    }
    return most;
}
