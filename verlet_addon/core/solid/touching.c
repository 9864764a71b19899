/* Stress and what a solid touches, solved for together: the same as numpy_touching.py. */
#include "touching.h"

#define CHANGES 6
#define LEAST_CHANGE 0.05
#define CONJUGATE_ROUNDS 400

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
    if (changes <= LEAST_CHANGE * total)
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
    for (integer k = 0, first = 0; k < all->count; k++) {
        const solid_part *part = all->parts + k;
        integer next = first + part->lattice->nodes;
        oppose_moves(part->lattice, part->shapes, NULL, moves + first, found + first);
        for (integer i = first; i < next; i++)
            found[i] = alike(all->masses[i]) * moves[i] + alike(part->stiffness) * found[i];
        first = next;
    }
    for (integer k = 0; k < all->holds; k++) {
        four moved = carry(all->embedding, all->held[k], moves);
        hand_to_nodes(all->embedding, all->held[k], alike(all->held_stiffnesses[k]) * moved, found);
    }
    for (integer i = 0; i < all->stops->points; i++)
        if (all->stops->grips[i] >= 0.0) {
            four moved = carry(all->embedding, i, moves);
            hand_to_nodes(all->embedding, i, opposed(all->stops, i, moved), found);
        }
    for (integer i = 0; i < all->nodes; i++)
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

/* Adds what stops a point to what opposes the piece it is of, or both that it is between. */
SMALL static void oppose_pieces(const solid_system *all, integer point, const real stiffness[9])
{
    const integer end = all->embedding->width * (point + 1);
    for (integer c = all->embedding->width * point; c < end;) {
        integer label = all->labels[all->embedding->nodes[c]];
        real share = 0.0, place[3] = {0.0, 0.0, 0.0};
        for (; c < end && all->labels[all->embedding->nodes[c]] == label; c++) {
            share += all->embedding->weights[c];
            for (int a = 0; a < 3; a++)
                place[a] += all->embedding->weights[c]
                            * all->places[a * all->nodes + all->embedding->nodes[c]];
        }
        for (int a = 0; a < 3; a++)
            place[a] = share < 0.0 ? -place[a] : place[a];
        if (label >= 0 && (share > 0.5 || share < -0.5))
            oppose(all->alone + label, place, stiffness);
    }
}

/* The inverted blocks on the diagonal, and of pieces as they move as one. */
static void find_blocks(const solid_system *all)
{
    const solid_stops *stops = all->stops;
    real stiffness[9];
    weigh_pieces(all->alone, all->pieces, all->labels, all->masses, all->places,
                 all->nodes);
    for (integer i = 0; i < all->nodes; i++)
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
            oppose_pieces(all, point, stiffness);
        }
    for (integer i = 0; i < all->nodes; i++)
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
    for (integer i = 0; i < all->nodes;) {
        integer label = all->labels[i];
        four pull = alike(0.0), spin = alike(0.0);
        for (; i < all->nodes && all->labels[i] == label; i++) {
            const four *block = all->blocks + 3 * i, rest = vector[i] - alike(share) * less[i];
            vector[i] = rest;
            all->ahead[i] = block[0] * alike(rest[0]) + block[1] * alike(rest[1])
                            + block[2] * alike(rest[2]);
            total += rest * all->ahead[i];
            pull += rest;
            spin += crossed(all->arms[i], rest);
        }
        if (label >= 0) {
            all->alone[label].along[0] += pull;
            all->alone[label].along[1] += spin;
        }
    }
    return sum(total) + answer(all->alone, all->pieces);
}

/* Solves for the moves, from those given. */
static void solve(const solid_system *all, real tolerance, real enough, real least, integer fewest)
{
    integer m = all->nodes;
    find_blocks(all);
    multiply_system(all, all->moves, all->along);
    copy((real *)all->residual, (const real *)all->pushed, 4 * m);
    real given = precondition(all, all->residual, 0.0, all->along);
    real small = larger(larger(tolerance * tolerance * given, enough), least);
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
                        real enough, real least, integer fewest)
{
    integer m = all->nodes;
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
        solve(all, tolerance, enough, least, fewest);
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
        carried(all->embedding, i, nodes, all->nodes, place);
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
