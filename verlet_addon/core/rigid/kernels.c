/* Rigid pieces: the same as kernels.py, which has the formulas and sources. */
#include "../linear/conjugate_gradients.h"

/* found = a × b. */
SMALL static void multiply(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* found = a × bᵀ. */
SMALL static void multiply_back(const real a[9], const real b[9], real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = dot(a + 3 * i, b + 3 * j);
}

/* Writes the inverse of the inertia tr S − S for the second moments S = Σ m a aᵀ; 0 for a point. */
SMALL static void invert_inertia(const real second[9], real inverse[9])
{
    real trace = (second[0] + second[4] + second[8]) * (1.0 + AXIS_INERTIA_SHARE), rows[9], columns[9];
    for (int k = 0; k < 9; k++)
        rows[k] = (k % 4 ? 0.0 : trace) - second[k];
    for (int x = 0; x < 3; x++)
        cross(rows + 3 * ((x + 1) % 3), rows + 3 * ((x + 2) % 3), columns + 3 * x);
    real size = dot(rows, columns), share = size == 0.0 ? 0.0 : 1.0 / size;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[3 * i + j] = columns[3 * j + i] * share;
}

/* Multiplies a rotation by the rotation about a vector, by the Cayley transform (A. Cayley, 1846). */
SMALL static void rotate_by(real turn[9], const real vector[3])
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

/* Solves for the rotation near `turn` with the angular momentum `moment`, by Newton's method. */
SMALL static void solve_rotation(real turn[9], const real second[9], const real moment[3], integer rounds)
{
    for (integer number = 0; number < rounds; number++) {
        real product[9], inverse[9], residual[3], step[3];
        multiply(turn, second, product);
        residual[0] = moment[0] - (product[7] - product[5]);
        residual[1] = moment[1] - (product[2] - product[6]);
        residual[2] = moment[2] - (product[3] - product[1]);
        invert_inertia(product, inverse);
        apply(inverse, residual, step);
        rotate_by(turn, step);
    }
}

/* Applies force and torque × h² to a piece, with some rounds of Newton's method for its rotation, and
   places its particles; returns the largest change of a coordinate of these. */
static real apply_impulse(const piece_poses *all, integer piece, const real force[3],
                          const real torque[3], real *positions, integer n, integer rounds)
{
    const real *turns = all->start_rotations + 9 * piece;
    real *turned = all->rotations + 9 * piece, turn[9], moment[3], arm[3], to[3], farthest = 0.0;
    for (int x = 0; x < 3; x++) {
        all->centres[x * all->pieces->count + piece] += force[x] / all->pieces->totals[piece];
        moment[x] = all->angular_momenta[x * all->pieces->count + piece] += torque[x];
    }
    multiply_back(turned, turns, turn);
    solve_rotation(turn, all->second_moments + 9 * piece, moment, rounds);
    multiply(turn, turns, turned);
    for (integer k = all->pieces->starts[piece]; k < all->pieces->starts[piece + 1]; k++) {
        read(all->pieces->arms, all->pieces->size, k, arm);
        apply(turned, arm, to);
        for (int x = 0; x < 3; x++) {
            real place = all->centres[x * all->pieces->count + piece] + to[x];
            real *former = all->particle_positions + x * all->pieces->size + k;
            farthest = larger(farthest, __builtin_fabs(place - *former));
            *former = place;
            positions[x * n + all->pieces->particles[k]] = place;
        }
    }
    return farthest;
}

/* Sums displacements of a piece's particles, weighted by masses (share = 0) or by share / masses, as
   force and torque. */
SMALL static void gather_pushes(const piece_poses *all, integer piece, const real *positions,
                                integer n, const real *masses, real share, real force[3],
                                real torque[3])
{
    for (int x = 0; x < 3; x++)
        force[x] = torque[x] = 0.0;
    for (integer k = all->pieces->starts[piece]; k < all->pieces->starts[piece + 1]; k++) {
        real each[3], arm[3], moment[3];
        for (int x = 0; x < 3; x++)
            each[x] = (positions[x * n + all->pieces->particles[k]] - all->particle_positions[x * all->pieces->size + k])
                      * (share > 0.0 ? share / masses[k] : masses[k]);
        read(all->arms, all->pieces->size, k, arm);
        cross(arm, each, moment);
        for (int x = 0; x < 3; x++) {
            force[x] += each[x];
            torque[x] += moment[x];
        }
    }
}

/* Transfers the momentum of particles, of masses (k,), to pieces, and places particles on them. */
EXPORT void transfer_momentum(const piece_poses *all, real *positions, integer n, real *masses,
                              integer rounds)
{
    for (integer piece = 0; piece < all->pieces->count; piece++) {
        real force[3], torque[3];
        gather_pushes(all, piece, positions, n, masses, 0.0, force, torque);
        apply_impulse(all, piece, force, torque, positions, n, rounds);
    }
}

/* Removes the first order of a rotation's errors. */
static void orthonormalize(real turn[9])
{
    real correction[9], found[9];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            real square = turn[i] * turn[k] + turn[3 + i] * turn[3 + k] + turn[6 + i] * turn[6 + k];
            correction[3 * i + k] = (i == k ? 1.5 : 0.0) - 0.5 * square;
        }
    multiply(turn, correction, found);
    for (int k = 0; k < 9; k++)
        turn[k] = found[k];
}

/* Sets a piece to where it is at the start of the step, without momentum. */
static void start_piece(const piece_poses *all, integer piece, const real *start, integer n)
{
    const pieces *of = all->pieces;
    real *turn = all->rotations + 9 * piece, *second = all->second_moments + 9 * piece, sum[3];
    orthonormalize(turn);
    copy(all->start_rotations + 9 * piece, turn, 9);
    clear(second, 9);
    clear(sum, 3);
    for (integer k = of->starts[piece]; k < of->starts[piece + 1]; k++) {
        real rest[3], arm[3];
        read(of->arms, of->size, k, rest);
        apply(turn, rest, arm);
        put(all->arms, of->size, k, arm[0], arm[1], arm[2]);
        for (int x = 0; x < 3; x++) {
            sum[x] += start[x * n + of->particles[k]] * of->masses[k];
            for (int y = 0; y < 3; y++)
                second[3 * x + y] += arm[x] * of->masses[k] * arm[y];
        }
    }
    for (int x = 0; x < 3; x++) {
        all->centres[x * of->count + piece] = sum[x] / of->totals[piece];
        all->angular_momenta[x * of->count + piece] = 0.0;
        for (integer k = of->starts[piece]; k < of->starts[piece + 1]; k++)
            all->particle_positions[x * of->size + k] = all->centres[x * of->count + piece] + all->arms[x * of->size + k];
    }
}

EXPORT void predict_poses(const piece_poses *all, real *start, integer n, real *positions,
                          integer rounds)
{
    for (integer piece = 0; piece < all->pieces->count; piece++)
        start_piece(all, piece, start, n);
    all->linearizations[0] = 0;
    transfer_momentum(all, positions, n, (real *)all->pieces->masses, rounds);
}

/* 1 if contacts have moved a piece's particle k by more than MIN_CONTACT_PUSH, else 0. */
static int has_moved(const piece_poses *all, integer k, const real *positions, integer n)
{
    for (int x = 0; x < 3; x++) {
        real by = positions[x * n + all->pieces->particles[k]] - all->particle_positions[x * all->pieces->size + k];
        if (by > MIN_CONTACT_PUSH || by < -MIN_CONTACT_PUSH)
            return 1;
    }
    return 0;
}

/* Transfers contact corrections of particles to pieces; 1 if there were any, else 0. */
EXPORT integer transfer_contacts(const piece_poses *all, real *positions, integer n)
{
    integer any = 0;
    for (integer k = 0; k < all->pieces->size && !any; k++)
        any = has_moved(all, k, positions, n);
    for (integer piece = 0; any && piece < all->pieces->count; piece++) {
        real counts = 0.0, force[3], torque[3];
        for (integer k = all->pieces->starts[piece]; k < all->pieces->starts[piece + 1]; k++)
            counts += has_moved(all, k, positions, n);
        gather_pushes(all, piece, positions, n, all->pieces->effective_inverse_masses, 1.0 / larger(counts, 1.0), force, torque);
        apply_impulse(all, piece, force, torque, positions, n, 2);
    }
    return any;
}

/* Edges on and near rigid pieces are solved as one system: the `rows` of joints are the Jacobian: force and torque of a unit tension on the bodies at both
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
SMALL static void solve_joints(const joints *near)
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

/* Writes the inverse inertia (s, 9) of each piece in its present rotation. */
SMALL static void weigh_pieces(const piece_poses *all, real *inverse_inertias)
{
    for (integer piece = 0; piece < all->pieces->count; piece++) {
        real turn[9], half[9], second[9];
        multiply_back(all->rotations + 9 * piece, all->start_rotations + 9 * piece, turn);
        multiply(turn, all->second_moments + 9 * piece, half);
        multiply_back(half, turn, second);
        invert_inertia(second, inverse_inertias + 9 * piece);
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
        weigh_pieces(all, near->inverse_inertias);
        fill_rows(all, near, all->particle_positions, all->centres);
        find_diagonal(near);
        solve_joints(near);
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

/* Sets responses of a body's pieces, from number `first` on, for their present poses; its particles
   are numbered from `start` on in the world. */
EXPORT void start_responses(const piece_poses *all, const piece_responses *responses, integer start,
                            integer first)
{
    const pieces *own = all->pieces;
    weigh_pieces(all, responses->inverse_inertias + 9 * first);
    for (integer piece = 0; piece < own->count; piece++)
        responses->inverse_masses[first + piece] = 1.0 / own->totals[piece];
    clear(responses->motions + 6 * first, 6 * own->count);
    clear(responses->wrenches + 6 * first, 6 * own->count);
    for (integer k = 0; k < own->size; k++)
        for (int x = 0; x < 3; x++)
            responses->arms[x * responses->size + start + own->particles[k]] =
                all->particle_positions[x * own->size + k] - all->centres[x * own->count + own->labels[k]];
}

/* Moves a body's pieces, from number `first` on, by the impulses on them, and places its particles
   (3, n) on them; returns the largest change of a coordinate. */
EXPORT real finish_responses(const piece_poses *all, const piece_responses *responses, real *positions,
                             integer n, integer first)
{
    real farthest = 0.0;
    for (integer piece = 0; piece < all->pieces->count; piece++) {
        const real *wrench = responses->wrenches + 6 * (first + piece);
        real moved = apply_impulse(all, piece, wrench, wrench + 3, positions, n, 2);
        farthest = larger(farthest, moved);
    }
    return farthest;
}
