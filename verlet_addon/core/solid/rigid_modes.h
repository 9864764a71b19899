/* Rigid modes of the free components of a solid, here called pieces; see rigid_modes.py. */
#ifndef VERLET_RIGID_MODES_H
#define VERLET_RIGID_MODES_H

#include "../linear/inverses.h"
#include "cells.h"

/* A piece: mass, centre of mass, stiffness of its six rigid modes (later inverted), load and motion
   in these modes. */
typedef struct solid_piece {
    real mass, centre[3], stiffness[36];
    four loads[2], motion[2];
} solid_piece;

/* Displacements by the six rigid modes at an arm from the centre of mass. */
static inline void six_motions(const real arm[3], real motions[3][6])
{
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 6; k++)
            motions[a][k] = a == k ? 1.0 : 0.0;
    motions[0][4] = arm[2], motions[0][5] = -arm[1];
    motions[1][3] = -arm[2], motions[1][5] = arm[0];
    motions[2][3] = arm[1], motions[2][4] = -arm[0];
}

/* Arm of node i from the centre of mass of its piece, for nodes at places (3, m). */
static inline void find_arm(const solid_piece *piece, const real *places, integer m, integer i,
                            real arm[3])
{
    for (int a = 0; a < 3; a++)
        arm[a] = places[a * m + i] - piece->centre[a];
}

/* Adds a spring with a stiffness (3, 3) at a place to the stiffness of the modes. */
static inline void add_stiffness(solid_piece *piece, const real place[3], const real stiffness[9])
{
    real arm[3], motions[3][6];
    find_arm(piece, place, 1, 0, arm);
    six_motions(arm, motions);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 6; k++) {
            real pull = 0.0;
            for (int b = 0; b < 3; b++)
                pull += stiffness[3 * a + b] * motions[b][k];
            for (int l = 0; l < 6; l++)
                piece->stiffness[6 * l + k] += motions[a][l] * pull;
        }
}

/* Masses and centres of mass of pieces, for m nodes at places (3, m). */
SMALL static void find_piece_centres(solid_piece *pieces, integer count, const integer *labels,
                               const real *masses, const real *places, integer m)
{
    for (integer k = 0; k < count; k++) {
        pieces[k].mass = 0.0;
        for (int a = 0; a < 3; a++)
            pieces[k].centre[a] = 0.0;
    }
    for (integer i = 0; i < m; i++)
        if (labels[i] >= 0) {
            pieces[labels[i]].mass += masses[i];
            for (int a = 0; a < 3; a++)
                pieces[labels[i]].centre[a] += masses[i] * places[a * m + i];
        }
    for (integer k = 0; k < count; k++)
        for (int a = 0; a < 3; a++)
            pieces[k].centre[a] /= pieces[k].mass;
}

/* Sets the stiffness of the modes to the masses of nodes. */
static inline void add_masses(solid_piece *pieces, integer count, const integer *labels,
                                const real *masses, const real *places, integer m)
{
    for (integer k = 0; k < count; k++)
        for (int i = 0; i < 36; i++)
            pieces[k].stiffness[i] = 0.0;
    for (integer i = 0; i < m; i++)
        if (labels[i] >= 0) {
            solid_piece *piece = pieces + labels[i];
            real arm[3], mass = masses[i];
            find_arm(piece, places, m, i, arm);
            real square = dot(arm, arm);
            for (int a = 0; a < 3; a++) {
                piece->stiffness[7 * a] += mass;
                piece->stiffness[7 * (a + 3)] += mass * square;
                for (int b = 0; b < 3; b++)
                    piece->stiffness[6 * (a + 3) + b + 3] -= mass * arm[a] * arm[b];
            }
        }
}

/* motion = inverse stiffness × loads for each piece; returns the sum of motion × loads. */
SMALL static real solve_rigid_modes(solid_piece *pieces, integer count)
{
    real total = 0.0;
    for (integer k = 0; k < count; k++) {
        pieces[k].motion[0] = pieces[k].motion[1] = broadcast(0.0);
        for (int i = 0; i < 6; i++) {
            real found = 0.0;
            for (int j = 0; j < 6; j++)
                found += pieces[k].stiffness[6 * i + j] * pieces[k].loads[j / 3][j % 3];
            pieces[k].motion[i / 3][i % 3] = found;
            total += found * pieces[k].loads[i / 3][i % 3];
        }
    }
    return total;
}

/* Displacement of a node at an arm by its piece's motion. */
ALWAYS_INLINE four rigid_motion(const solid_piece *piece, four arm)
{
    return piece->motion[0] + cross_four(piece->motion[1], arm);
}

#endif
