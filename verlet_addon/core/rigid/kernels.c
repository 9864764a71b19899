/* Rigid pieces: the same as kernels.py, which has the formulas and sources. */
#include "pieces.h"

SMALL void invert_inertia(const real second[9], real inverse[9])
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

void apply_impulse(const piece_poses *all, integer piece, const real force[3], const real torque[3],
          real *positions, integer n, integer rounds)
{
    const real *turns = all->start_rotations + 9 * piece;
    real *turned = all->rotations + 9 * piece, turn[9], moment[3], arm[3], to[3];
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
            all->particle_positions[x * all->pieces->size + k] = place;
            positions[x * n + all->pieces->particles[k]] = place;
        }
    }
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
