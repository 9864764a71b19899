/* What the moves that are solved for leave of a solid's motion as a whole: the same as
   numpy_landing.py, and rolling.py. */
#include "../momentum/turns.h"
#include "touching.h"

#define LEVER 0.4192627457812106 /* 3/16 of √5 */

/* Sums over nodes by some weight: of arms, of how they moved, of their spin, and second moments. */
typedef struct {
    real weight, arms[3], moved[3], spin[3], second[6];
} sums;

/* Of a connected piece that nothing holds: what presses on it, where, how it turns about there. */
typedef struct {
    real load, centre[3], width, height, turn[3], ahead[3], normal[3], friction, slid, lost;
    sums own, pressed; /* by mass, and by what presses on the cells of nodes */
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

/* Adds what presses on points to the nodes of their cells. */
SMALL static void press_nodes(const solid_system *all, real *pressing)
{
    const solid_embedding *embedding = all->embedding;
    const integer width = embedding->width;
    for (integer i = 0; i < all->nodes; i++)
        pressing[i] = 0.0;
    for (integer i = 0; i < embedding->points; i++) {
        real load = all->stops->loads[i];
        for (integer c = width * i; load > 0.0 && c < width * (i + 1); c++) {
            real weight = embedding->weights[c];
            pressing[embedding->nodes[c]] += load * (weight < 0.0 ? -weight : weight);
        }
    }
}

static void add_node(const real arm[3], const real moved[3], real weight, sums *found)
{
    real around[3];
    cross(arm, moved, around);
    found->weight += weight;
    for (int a = 0; a < 3; a++) {
        found->arms[a] += weight * arm[a];
        found->moved[a] += weight * moved[a];
        found->spin[a] += weight * around[a];
        found->second[a] += weight * arm[a] * arm[a];
        found->second[3 + a] += weight * arm[(a + 1) % 3] * arm[(a + 2) % 3];
    }
}

/* Makes sums those of arms from so far on the way to their mean. */
SMALL static void shorten(sums *found, real share)
{
    real less = share * (2.0 - share) / found->weight, drift[3];
    cross(found->arms, found->moved, drift);
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        found->second[a] -= less * found->arms[a] * found->arms[a];
        found->second[3 + a] -= less * found->arms[b] * found->arms[c];
        found->spin[a] -= share / found->weight * drift[a];
    }
}

/* How much a piece rolls, but for its turn about the normal, and which way. It turns about where
   it touches if it sticks there, and about its own centre if it slides; if what touches does not
   turn with it, it leans. */
SMALL static void find_way(rolling *piece)
{
    real there[3], *spin = piece->own.spin, *turn = piece->turn, slid = piece->slid / piece->load;
    shorten(&piece->own, slid);
    shorten(&piece->pressed, 1.0);
    piece->height = dot(piece->normal, piece->own.arms) / piece->own.weight;
    for (int a = 0; a < 3; a++)
        piece->own.arms[a] *= slid / piece->own.weight;
    real about = dot(piece->normal, spin);
    for (int a = 0; a < 3; a++)
        spin[a] -= piece->normal[a] * about;
    find_turn(piece->own.second, spin, turn);
    find_turn(piece->pressed.second, piece->pressed.spin, there);
    real rolls = dot(there, turn) / larger(dot(turn, turn), NONZERO);
    rolls = smaller(larger(rolls, 0.0), 1.0);
    for (int a = 0; a < 3; a++) {
        spin[a] *= rolls;
        turn[a] *= rolls;
    }
    cross(turn, piece->normal, piece->ahead);
    real size = larger(__builtin_sqrt(dot(piece->ahead, piece->ahead)), NONZERO);
    for (int a = 0; a < 3; a++)
        piece->ahead[a] /= size;
}

/* The share of a piece's turn that is lost. */
SMALL static real lost(const rolling *piece)
{
    real lever = LEVER * __builtin_sqrt(piece->width / piece->load);
    lever = smaller(lever, piece->friction * larger(piece->height, 0.0));
    real spin = larger(__builtin_sqrt(dot(piece->own.spin, piece->own.spin)), NONZERO);
    return smaller(1.0, lever * piece->load / spin);
}

/* Changes nodes (3, m). */
SMALL static void resist_rolling(const solid_system *all, const real *start, real *nodes)
{
    const integer m = all->nodes, count = all->pieces, *labels = all->labels;
    rolling *pieces = (rolling *)all->rolling;
    real *pressing = (real *)all->along;
    for (integer i = 0; i < 50 * count; i++)
        all->rolling[i] = 0.0;
    press_nodes(all, pressing);
    find_centres(all, nodes, labels, pieces, count);
    for (integer i = 0; i < m; i++) {
        real arm[3], moved[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        for (int a = 0; a < 3; a++) {
            arm[a] = nodes[a * m + i] - pieces[labels[i]].centre[a];
            moved[a] = nodes[a * m + i] - start[a * m + i];
        }
        add_node(arm, moved, all->masses[i], &pieces[labels[i]].own);
        if (pressing[i] > 0.0)
            add_node(arm, moved, pressing[i], &pieces[labels[i]].pressed);
    }
    for (integer k = 0; k < count; k++)
        if (pieces[k].load > 0.0)
            find_way(pieces + k);
    find_widths(all, nodes, labels, pieces);
    for (integer k = 0; k < count; k++)
        pieces[k].lost = pieces[k].load > 0.0 ? lost(pieces + k) : 0.0;
    for (integer i = 0; i < m; i++) {
        real arm[3], more[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        const rolling *piece = pieces + labels[i];
        for (int a = 0; a < 3; a++)
            arm[a] = nodes[a * m + i] - piece->centre[a] - piece->own.arms[a];
        cross(piece->turn, arm, more);
        for (int a = 0; a < 3; a++)
            nodes[a * m + i] -= piece->lost * more[a];
    }
}

/* Takes back what solving did to the momentum of pieces that nothing presses on or draws. */
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
    for (integer k = 0; k < all->holds; k++) {
        integer label = all->labels[all->embedding->nodes[all->embedding->width * all->held[k]]];
        if (label >= 0)
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
