/* What the moves that are solved for leave of a solid's motion as a whole: the same as
   numpy_landing.py, and rolling.py. */
#include "../momentum/turns.h"
#include "touching.h"

#define LEVER 0.2096313728906053 /* 3/16 of half of √5 */

/* Of a connected piece that nothing holds: what presses on it, where, how it turns about there. */
typedef struct {
    real load, centre[3], width, mass, height, spin[3], second[6], turn[3], ahead[3], normal[3];
    real friction, arms[3], moved[3], slid;
} rolling;

/* A point's piece, if anything presses on it. */
static rolling *pressed(const solid_system *all, integer i, const integer *labels, rolling *pieces)
{
    integer label = labels[all->embedding->nodes[all->embedding->width * i]];
    return label >= 0 && all->stops->loads[i] > 0.0 ? pieces + label : NULL;
}

SMALL static void find_centres(const solid_system *all, const real *nodes, const integer *labels,
                         rolling *pieces, integer count)
{
    const solid_stops *stops = all->stops;
    for (integer i = 0; i < stops->points; i++) {
        rolling *piece = pressed(all, i, labels, pieces);
        real place[3];
        if (!piece)
            continue;
        carried(all->embedding, i, nodes, all->nodes, place);
        piece->load += stops->loads[i];
        piece->slid += stops->grips[i] < stops->stiffnesses[i] ? stops->loads[i] : 0.0;
        piece->friction += stops->loads[i] * stops->frictions[i];
        for (int a = 0; a < 3; a++) {
            piece->centre[a] += stops->loads[i] * place[a];
            piece->normal[a] += stops->loads[i] * stops->normals[a * stops->points + i];
        }
    }
    for (integer k = 0; k < count; k++) {
        real load = larger(pieces[k].load, NONZERO);
        real size = larger(__builtin_sqrt(dot(pieces[k].normal, pieces[k].normal)), NONZERO);
        pieces[k].friction /= load;
        for (int a = 0; a < 3; a++) {
            pieces[k].centre[a] /= load;
            pieces[k].normal[a] /= size;
        }
    }
}

/* How far what presses reaches along the way, as a sum of squares. */
SMALL static void find_widths(const solid_system *all, const real *nodes, const integer *labels,
                        rolling *pieces)
{
    for (integer i = 0; i < all->stops->points; i++) {
        rolling *piece = pressed(all, i, labels, pieces);
        real place[3];
        if (!piece)
            continue;
        carried(all->embedding, i, nodes, all->nodes, place);
        for (int a = 0; a < 3; a++)
            place[a] -= piece->centre[a];
        real reach = dot(piece->ahead, place);
        piece->width += all->stops->loads[i] * reach * reach;
    }
}

/* Adds the spin and the moments of a node that moved, about where its piece touches. */
SMALL static void add_spin(const real arm[3], const real moved[3], real mass, rolling *piece)
{
    real around[3];
    cross(arm, moved, around);
    piece->mass += mass;
    piece->height += mass * dot(piece->normal, arm);
    for (int a = 0; a < 3; a++) {
        piece->arms[a] += mass * arm[a];
        piece->moved[a] += mass * moved[a];
        piece->spin[a] += mass * around[a];
        piece->second[a] += mass * arm[a] * arm[a];
        piece->second[3 + a] += mass * arm[(a + 1) % 3] * arm[(a + 2) % 3];
    }
}

/* What turn a piece has, but for that about the normal, and the way it rolls. It turns about where
   it touches if it sticks there, and about its own centre if it slides. */
SMALL static void find_way(rolling *piece)
{
    real slid = piece->slid / piece->load, share = slid * (2.0 - slid) / piece->mass, drift[3];
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        piece->second[a] -= share * piece->arms[a] * piece->arms[a];
        piece->second[3 + a] -= share * piece->arms[b] * piece->arms[c];
    }
    for (int a = 0; a < 3; a++)
        piece->arms[a] *= slid / piece->mass;
    cross(piece->arms, piece->moved, drift);
    for (int a = 0; a < 3; a++)
        piece->spin[a] -= drift[a];
    real about = dot(piece->normal, piece->spin);
    for (int a = 0; a < 3; a++)
        piece->spin[a] -= piece->normal[a] * about;
    find_turn(piece->second, piece->spin, piece->turn);
    cross(piece->turn, piece->normal, piece->ahead);
    real size = larger(__builtin_sqrt(dot(piece->ahead, piece->ahead)), NONZERO);
    for (int a = 0; a < 3; a++)
        piece->ahead[a] /= size;
}

/* The share of a piece's turn that is lost. */
SMALL static real lost(const rolling *piece)
{
    real lever = LEVER * __builtin_sqrt(piece->width / piece->load);
    lever = smaller(lever, piece->friction * larger(piece->height / piece->mass, 0.0));
    real spin = larger(__builtin_sqrt(dot(piece->spin, piece->spin)), NONZERO);
    return smaller(1.0, lever * piece->load / spin);
}

/* Changes nodes (3, m). */
SMALL static void resist_rolling(const solid_system *all, const real *start, real *nodes)
{
    const integer m = all->nodes, count = all->pieces, *labels = all->labels;
    rolling *pieces = (rolling *)all->rolling;
    for (integer i = 0; i < 33 * count; i++)
        all->rolling[i] = 0.0;
    find_centres(all, nodes, labels, pieces, count);
    for (integer i = 0; i < m; i++) {
        real arm[3], moved[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        for (int a = 0; a < 3; a++) {
            arm[a] = nodes[a * m + i] - pieces[labels[i]].centre[a];
            moved[a] = nodes[a * m + i] - start[a * m + i];
        }
        add_spin(arm, moved, all->masses[i], pieces + labels[i]);
    }
    for (integer k = 0; k < count; k++)
        if (pieces[k].load > 0.0)
            find_way(pieces + k);
    find_widths(all, nodes, labels, pieces);
    for (integer i = 0; i < m; i++) {
        real arm[3], more[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        const rolling *piece = pieces + labels[i];
        for (int a = 0; a < 3; a++)
            arm[a] = nodes[a * m + i] - piece->centre[a] - piece->arms[a];
        cross(piece->turn, arm, more);
        real share = lost(piece);
        for (int a = 0; a < 3; a++)
            nodes[a * m + i] -= share * more[a];
    }
}

/* Takes back what solving did to the momentum of pieces that nothing presses on. */
SMALL static void keep_momentum(const solid_system *all, const real *start, real *nodes)
{
    const integer m = all->nodes;
    real *pressed = (real *)all->along, *before = (real *)all->pushed;
    for (integer k = 0; k < all->pieces; k++)
        pressed[k] = 0.0;
    for (integer i = 0; i < all->stops->points; i++) {
        integer label = all->labels[all->embedding->nodes[all->embedding->width * i]];
        if (label >= 0 && all->stops->loads[i] > 0.0)
            pressed[label] = 1.0;
    }
    integer alone = 0;
    for (integer k = 0; k < all->pieces; k++)
        alone += pressed[k] == 0.0;
    if (!alone)
        return;
    for (integer i = 0; i < m; i++) {
        integer label = all->labels[i];
        const real *from = label >= 0 && pressed[label] != 0.0 ? nodes : all->places;
        for (int a = 0; a < 3; a++)
            before[a * m + i] = from[a * m + i];
    }
    conserve_momentum(m, all->labels, all->inverse_masses, before, start, nodes, all->pieces,
                      all->rolling);
}

/* Changes moves, and writes where nodes are and would have come from, all (3, m). */
EXPORT SMALL void land_solid(const solid_system *all, const real *start, real *moves, real *nodes,
                       real *previous)
{
    const integer count = 3 * all->nodes;
    for (integer i = 0; i < count; i++)
        nodes[i] = all->places[i] + moves[i];
    keep_momentum(all, start, nodes);
    for (integer i = 0; i < count; i++) {
        moves[i] = nodes[i] - all->places[i];
        previous[i] = nodes[i];
    }
    resist_rolling(all, start, previous);
    for (integer i = 0; i < count; i++)
        previous[i] = start[i] + (nodes[i] - previous[i]);
}
