/* Stress and what a solid touches, solved for together: the same as numpy_touching.py. */
#include "../momentum/turns.h"
#include "touching.h"

#define CHANGES 6
#define STEADY 0.01
#define CONJUGATE_ROUNDS 400
#define LEVER 0.2096313728906053 /* 3/16 of half of √5, see rolling.py */

static real along_normal(const solid_stops *stops, integer i, const real vector[3])
{
    integer p = stops->points;
    return stops->normals[i] * vector[0] + stops->normals[p + i] * vector[1]
           + stops->normals[2 * p + i] * vector[2];
}

/* What of a point at a place is across from where friction holds it; how long that is. */
static real slide(const solid_stops *stops, integer i, const real place[3], real slid[3])
{
    for (int a = 0; a < 3; a++)
        slid[a] = place[a] - stops->anchors[a * stops->points + i];
    real height = along_normal(stops, i, slid);
    for (int a = 0; a < 3; a++)
        slid[a] -= stops->normals[a * stops->points + i] * height;
    return __builtin_sqrt(dot(slid, slid));
}

static void hand_to_nodes(const solid_embedding *embedding, integer i, four pull, four *rows)
{
    const integer width = embedding->width, *corners = embedding->nodes + width * i;
    const real *weights = embedding->weights + width * i;
    for (integer c = 0; c < width; c++)
        rows[corners[c]] += alike(weights[c]) * pull;
}

/* Whether what touches, and how it rubs, is as before once nodes have moved, or else how. */
static int look(const solid_system *all)
{
    const solid_stops *stops = all->stops;
    integer p = stops->points;
    real changes = 0.0, total = 0.0;
    for (integer i = 0; i < p; i++) {
        four moved = carry(all->embedding, i, all->moves);
        real place[3], slid[3], former = stops->grips[i], grip = -1.0;
        for (int a = 0; a < 3; a++)
            place[a] = all->arrival[a * p + i] + moved[a];
        real depth = stops->levels[i] - along_normal(stops, i, place);
        real push = stops->stiffnesses[i] * (depth > 0.0 ? depth : -depth), change = 0.0;
        if (depth > 0.0) {
            for (int a = 0; a < 3; a++) {
                real *anchor = stops->anchors + a * p + i;
                *anchor = *anchor == *anchor ? *anchor : stops->start[a * p + i];
            }
            real length = slide(stops, i, place, slid);
            grip = smaller(stops->stiffnesses[i], stops->frictions[i] * push / larger(length, NONZERO));
            change = (grip > former ? grip - former : former - grip) * length;
            total += push;
        }
        if ((grip >= 0.0) != (former >= 0.0))
            change = push;
        changes += change;
        stops->loads[i] = grip;
    }
    if (changes <= STEADY * total)
        return 1;
    for (integer i = 0; i < p; i++)
        stops->grips[i] = stops->loads[i];
    return 0;
}

/* What stops a point that moves opposes that with. */
EACH four opposed(const solid_stops *stops, integer i, four moved)
{
    integer p = stops->points;
    four normal = {stops->normals[i], stops->normals[p + i], stops->normals[2 * p + i], 0.0};
    real more = (stops->stiffnesses[i] - stops->grips[i]) * sum(normal * moved);
    return alike(stops->grips[i]) * moved + alike(more) * normal;
}

/* What stops a point pushes and rubs it with where it arrives. */
SMALL static four pushed_back(const solid_system *all, integer i)
{
    const solid_stops *stops = all->stops;
    four pull = alike(0.0);
    real place[3], slid[3];
    for (int a = 0; a < 3; a++)
        place[a] = all->arrival[a * stops->points + i];
    slide(stops, i, place, slid);
    real push = stops->stiffnesses[i] * (stops->levels[i] - along_normal(stops, i, place));
    for (int a = 0; a < 3; a++)
        pull[a] = push * stops->normals[a * stops->points + i] - stops->grips[i] * slid[a];
    return pull;
}

SMALL static four drawn(const solid_system *all, integer k)
{
    integer i = all->held[k], p = all->embedding->points;
    four pull = alike(0.0);
    for (int a = 0; a < 3; a++)
        pull[a] = all->held_stiffnesses[k] * (all->targets[a * all->holds + k] - all->arrival[a * p + i]);
    return pull;
}

/* Adds all pulls where points arrive. */
SMALL static void add_pulls(const solid_system *all, four *rows)
{
    for (integer k = 0; k < all->holds; k++)
        hand_to_nodes(all->embedding, all->held[k], drawn(all, k), rows);
    for (integer i = 0; i < all->stops->points; i++)
        if (all->stops->grips[i] >= 0.0)
            hand_to_nodes(all->embedding, i, pushed_back(all, i), rows);
}

/* Notes what presses on points once nodes have moved. */
SMALL static void note_loads(const solid_system *all)
{
    const solid_stops *stops = all->stops;
    for (integer i = 0; i < stops->points; i++) {
        stops->loads[i] = 0.0;
        if (stops->grips[i] < 0.0)
            continue;
        four pull = pushed_back(all, i) - opposed(stops, i, carry(all->embedding, i, all->moves));
        const real pulls[3] = {pull[0], pull[1], pull[2]};
        stops->loads[i] = along_normal(stops, i, pulls);
    }
}

/* Writes the system times moves; their product. */
static real multiply_system(const solid_system *all, const four *moves, four *found)
{
    four total = alike(0.0);
    oppose_moves(all->lattice, all->shapes, NULL, moves, found);
    for (integer i = 0; i < all->lattice->nodes; i++)
        found[i] = alike(all->masses[i]) * moves[i] + alike(all->stiffness) * found[i];
    for (integer k = 0; k < all->holds; k++) {
        four moved = carry(all->embedding, all->held[k], moves);
        hand_to_nodes(all->embedding, all->held[k], alike(all->held_stiffnesses[k]) * moved, found);
    }
    for (integer i = 0; i < all->stops->points; i++)
        if (all->stops->grips[i] >= 0.0) {
            four moved = carry(all->embedding, i, moves);
            hand_to_nodes(all->embedding, i, opposed(all->stops, i, moved), found);
        }
    for (integer i = 0; i < all->lattice->nodes; i++)
        total += moves[i] * found[i];
    return sum(total);
}

static void add_spring(const solid_system *all, integer point, const real stiffness[9])
{
    const integer width = all->embedding->width;
    for (integer c = width * point; c < width * (point + 1); c++) {
        real weight = all->embedding->weights[c];
        four *block = all->blocks + 3 * all->embedding->nodes[c];
        for (int i = 0; i < 3; i++)
            block[i] += alike(weight * weight) * three(stiffness + 3 * i);
    }
}

/* Inverts a symmetric block. */
static void invert(four block[3])
{
    four cofactors[3];
    for (int a = 0; a < 3; a++)
        cofactors[a] = crossed(block[(a + 1) % 3], block[(a + 2) % 3]);
    four size = alike(sum(block[0] * cofactors[0]));
    for (int a = 0; a < 3; a++)
        block[a] = cofactors[a] / size;
}

/* The inverted blocks on the diagonal, and of pieces as they move as one. */
static void find_blocks(const solid_system *all)
{
    const solid_stops *stops = all->stops;
    real stiffness[9], place[3];
    weigh_pieces(all->alone, all->pieces, all->labels, all->masses, all->places,
                 all->lattice->nodes);
    for (integer i = 0; i < all->lattice->nodes; i++)
        for (int a = 0; a < 3; a++) {
            all->blocks[3 * i + a] = alike(0.0);
            all->blocks[3 * i + a][a] = all->diagonal[i];
        }
    for (integer k = 0; k < all->holds; k++) {
        for (int i = 0; i < 9; i++)
            stiffness[i] = i % 4 ? 0.0 : all->held_stiffnesses[k];
        add_spring(all, all->held[k], stiffness);
    }
    for (integer point = 0; point < stops->points; point++)
        if (stops->grips[point] >= 0.0) {
            real more = stops->stiffnesses[point] - stops->grips[point];
            for (int i = 0; i < 9; i++)
                stiffness[i] = (i % 4 ? 0.0 : stops->grips[point])
                               + more * stops->normals[i / 3 * stops->points + point]
                                     * stops->normals[i % 3 * stops->points + point];
            add_spring(all, point, stiffness);
            integer label = all->labels[all->embedding->nodes[all->embedding->width * point]];
            carried(all->embedding, point, all->places, all->lattice->nodes, place);
            if (label >= 0)
                oppose(all->alone + label, place, stiffness);
        }
    for (integer i = 0; i < all->lattice->nodes; i++)
        invert(all->blocks + 3 * i);
    for (integer k = 0; k < all->pieces; k++)
        invert_six(all->alone[k].opposed);
}

/* How far a node moves as its piece answers what was last asked. */
EACH four with_piece(const solid_system *all, integer i)
{
    integer label = all->labels[i];
    return label >= 0 ? answered(all->alone + label, all->arms[i]) : alike(0.0);
}

/* Writes the blocks times a vector less a share of another, and how pieces answer as one; the
   product of what is left of the vector with both. */
static real precondition(const solid_system *all, four *vector, real share, const four *less)
{
    four total = alike(0.0);
    for (integer k = 0; k < all->pieces; k++)
        all->alone[k].along[0] = all->alone[k].along[1] = alike(0.0);
    for (integer i = 0; i < all->lattice->nodes; i++) {
        const four *block = all->blocks + 3 * i, rest = vector[i] - alike(share) * less[i];
        integer label = all->labels[i];
        vector[i] = rest;
        all->ahead[i] = block[0] * alike(rest[0]) + block[1] * alike(rest[1]) + block[2] * alike(rest[2]);
        total += rest * all->ahead[i];
        if (label >= 0)
            pull_piece(all->alone + label, all->arms[i], rest);
    }
    return sum(total) + answer(all->alone, all->pieces);
}

/* Solves for the moves, from those given. */
static void solve(const solid_system *all, real tolerance, real least, integer fewest)
{
    integer m = all->lattice->nodes;
    find_blocks(all);
    multiply_system(all, all->moves, all->along);
    copy((real *)all->residual, (const real *)all->pushed, 4 * m);
    real given = precondition(all, all->residual, 0.0, all->along);
    real small = larger(tolerance * tolerance * given, least);
    real size = precondition(all, all->residual, 1.0, all->along), share = 0.0;
    for (integer i = 0; i < m; i++)
        all->search[i] = alike(0.0);
    for (integer number = 0; number < CONJUGATE_ROUNDS && size > (number < fewest ? least : small);
         number++) {
        for (integer i = 0; i < m; i++)
            all->search[i] = all->ahead[i] + with_piece(all, i) + alike(share) * all->search[i];
        real step = size / multiply_system(all, all->search, all->along);
        for (integer i = 0; i < m; i++)
            all->moves[i] += alike(step) * all->search[i];
        real former = size;
        size = precondition(all, all->residual, step, all->along);
        share = size / former;
    }
    for (integer i = 0; i < m; i++)
        all->moves[i] += with_piece(all, i);
}

/* Changes moves (3, m), anchors, grips and loads; after find_stress. */
EXPORT void press_solid(const solid_system *all, const real *right, real *moves, real tolerance,
                        real least, integer fewest)
{
    integer m = all->lattice->nodes;
    find_pieces(all->alone, all->pieces, all->labels, all->masses, all->places, m);
    for (integer i = 0; i < m; i++) {
        const real *centre = all->labels[i] < 0 ? NULL : all->alone[all->labels[i]].centre;
        for (int a = 0; a < 3; a++)
            all->arms[i][a] = centre ? all->places[a * m + i] - centre[a] : 0.0;
        all->arms[i][3] = 0.0;
    }
    take(moves, m, all->moves);
    for (int number = 0; number < CHANGES; number++) {
        int steady = look(all);
        if (number && steady)
            break;
        take(right, m, all->pushed);
        add_pulls(all, all->pushed);
        solve(all, tolerance, least, fewest);
    }
    note_loads(all);
    give(all->moves, m, moves);
}

/* Writes points (3, p), and changes anchors. */
EXPORT void settle_solid(const solid_system *all, const real *nodes, real *points)
{
    const solid_stops *stops = all->stops;
    integer p = stops->points;
    const real none = __builtin_nan("");
    for (integer i = 0; i < p; i++) {
        real place[3], slid[3];
        carried(all->embedding, i, nodes, all->lattice->nodes, place);
        real depth = stops->levels[i] - along_normal(stops, i, place);
        real length = larger(slide(stops, i, place, slid), NONZERO);
        real loose = larger(0.0, 1.0 - stops->frictions[i] * depth / length);
        for (int a = 0; a < 3; a++) {
            real *anchor = stops->anchors + a * p + i;
            *anchor = depth > 0.0 ? *anchor + slid[a] * loose : none;
            points[a * p + i] = place[a];
            if (depth > 0.0)
                points[a * p + i] += stops->normals[a * p + i] * depth;
        }
    }
}

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
        carried(all->embedding, i, nodes, all->lattice->nodes, place);
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
        carried(all->embedding, i, nodes, all->lattice->nodes, place);
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
    const integer m = all->lattice->nodes, count = all->pieces, *labels = all->labels;
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
    const integer m = all->lattice->nodes;
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
    const integer count = 3 * all->lattice->nodes;
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
