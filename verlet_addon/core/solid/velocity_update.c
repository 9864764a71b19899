/* Velocity update of a solid, with momentum conservation and rolling resistance. */
#include "../momentum/rotations.h"
#include "cells.h"

/* Weighted sums over nodes: of arms, displacements, arm × displacement (spin), and second moments. */
typedef struct {
    real weight, arms[3], moved[3], spin[3], second[6];
} moment_sums;

/* Contacts and rotation of a piece, a free component: normal force (load), centre and normal of the
   contact area, rotation vector (turn), rolling direction (ahead), sliding part of the load (slid), and
   share of the rotation to be removed (lost). */
typedef struct {
    real load, centre[3], width, height, turn[3], ahead[3], normal[3], friction, slid, lost;
    moment_sums by_mass, by_load; /* weighted by node masses, and by normal forces */
} rolling_piece;

/* The piece of point i, or NULL if the point has no normal force, or no free component. */
static rolling_piece *loaded_piece(const solid_system *all, integer i, const integer *labels, rolling_piece *pieces)
{
    integer label = labels[all->embedding->nodes[all->embedding->width * i]];
    return label >= 0 && all->contacts->normal_forces[i] > 0.0 ? pieces + label : NULL;
}

/* Load, contact centre, mean normal and friction coefficient of each piece. */
SMALL static void find_centres(const solid_system *all, const real *nodes, const integer *labels,
                         rolling_piece *pieces, integer count)
{
    const point_contacts *contacts = all->contacts;
    for (integer i = 0; i < contacts->points; i++) {
        rolling_piece *piece = loaded_piece(all, i, labels, pieces);
        real place[3];
        if (!piece)
            continue;
        interpolate_point(all->embedding, i, nodes, all->nodes, place);
        piece->load += contacts->normal_forces[i];
        piece->slid += contacts->friction_stiffnesses[i] < contacts->stiffnesses[i] ? contacts->normal_forces[i] : 0.0;
        piece->friction += contacts->normal_forces[i] * contacts->frictions[i];
        for (int a = 0; a < 3; a++) {
            piece->centre[a] += contacts->normal_forces[i] * place[a];
            piece->normal[a] += contacts->normal_forces[i] * contacts->normals[a * contacts->points + i];
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

/* Second moment of the load along the rolling direction of each piece. */
SMALL static void find_widths(const solid_system *all, const real *nodes, const integer *labels,
                        rolling_piece *pieces)
{
    for (integer i = 0; i < all->contacts->points; i++) {
        rolling_piece *piece = loaded_piece(all, i, labels, pieces);
        real place[3];
        if (!piece)
            continue;
        interpolate_point(all->embedding, i, nodes, all->nodes, place);
        for (int a = 0; a < 3; a++)
            place[a] -= piece->centre[a];
        real reach = dot(piece->ahead, place);
        piece->width += all->contacts->normal_forces[i] * reach * reach;
    }
}

/* Distributes normal forces of points to nodes, by |weight|. */
SMALL static void distribute_loads(const solid_system *all, real *pressing)
{
    const solid_embedding *embedding = all->embedding;
    const integer width = embedding->width;
    clear(pressing, all->nodes);
    for (integer i = 0; i < embedding->points; i++) {
        real load = all->contacts->normal_forces[i];
        for (integer c = width * i; load > 0.0 && c < width * (i + 1); c++) {
            real weight = embedding->weights[c];
            pressing[embedding->nodes[c]] += load * (weight < 0.0 ? -weight : weight);
        }
    }
}

static void add_node(const real arm[3], const real moved[3], real weight, moment_sums *found)
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

/* Moves the origin of arms by a share of the way to their mean. */
SMALL static void shift_centre(moment_sums *found, real share)
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

/* Rolling rotation of a piece, without the rotation about the normal, and its direction. A sticking piece
   rotates about the contact area, a sliding one about its centre of mass. If the cells in contact do
   not rotate with it, it tilts instead of rolling. */
SMALL static void find_rolling(rolling_piece *piece)
{
    real there[3], *spin = piece->by_mass.spin, *turn = piece->turn, slid = piece->slid / piece->load;
    shift_centre(&piece->by_mass, slid);
    shift_centre(&piece->by_load, 1.0);
    piece->height = dot(piece->normal, piece->by_mass.arms) / piece->by_mass.weight;
    for (int a = 0; a < 3; a++)
        piece->by_mass.arms[a] *= slid / piece->by_mass.weight;
    remove_along(piece->normal, spin);
    find_rotation_vector(piece->by_mass.second, spin, turn);
    find_rotation_vector(piece->by_load.second, piece->by_load.spin, there);
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

/* Share of a piece's rotation that rolling resistance removes. */
SMALL static real loss_share(const rolling_piece *piece)
{
    real lever = ROLLING_LEVER * __builtin_sqrt(piece->width / piece->load);
    lever = smaller(lever, piece->friction * larger(piece->height, 0.0));
    real spin = larger(__builtin_sqrt(dot(piece->by_mass.spin, piece->by_mass.spin)), NONZERO);
    return smaller(1.0, lever * piece->load / spin);
}

/* Applies rolling resistance to nodes (3, m). */
SMALL static void resist_rolling(const solid_system *all, const real *start, real *nodes)
{
    const integer m = all->nodes, count = all->pieces, *labels = all->components;
    rolling_piece *pieces = (rolling_piece *)all->rolling;
    real *pressing = (real *)all->along;
    clear(all->rolling, 50 * count);
    distribute_loads(all, pressing);
    find_centres(all, nodes, labels, pieces, count);
    for (integer i = 0; i < m; i++) {
        real arm[3], moved[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        for (int a = 0; a < 3; a++) {
            arm[a] = nodes[a * m + i] - pieces[labels[i]].centre[a];
            moved[a] = nodes[a * m + i] - start[a * m + i];
        }
        add_node(arm, moved, all->masses[i], &pieces[labels[i]].by_mass);
        if (pressing[i] > 0.0)
            add_node(arm, moved, pressing[i], &pieces[labels[i]].by_load);
    }
    for (integer k = 0; k < count; k++)
        if (pieces[k].load > 0.0)
            find_rolling(pieces + k);
    find_widths(all, nodes, labels, pieces);
    for (integer k = 0; k < count; k++)
        pieces[k].lost = pieces[k].load > 0.0 ? loss_share(pieces + k) : 0.0;
    for (integer i = 0; i < m; i++) {
        real arm[3], more[3];
        if (labels[i] < 0 || !(pieces[labels[i]].load > 0.0))
            continue;
        const rolling_piece *piece = pieces + labels[i];
        for (int a = 0; a < 3; a++)
            arm[a] = nodes[a * m + i] - piece->centre[a] - piece->by_mass.arms[a];
        cross(piece->turn, arm, more);
        for (int a = 0; a < 3; a++)
            nodes[a * m + i] -= piece->lost * more[a];
    }
}

/* Restores the momentum of pieces without contact forces or pins, which the solution changes a little. */
SMALL static void keep_momentum(const solid_system *all, const real *start, real *nodes)
{
    const integer m = all->nodes;
    real *is_loaded = (real *)all->along, *before = (real *)all->forces;
    clear(is_loaded, all->pieces);
    for (integer i = 0; i < all->contacts->points; i++) {
        integer label = all->components[all->embedding->nodes[all->embedding->width * i]];
        if (label >= 0 && all->contacts->normal_forces[i] > 0.0)
            is_loaded[label] = 1.0;
    }
    for (integer k = 0; k < all->pin_springs->count; k++) {
        integer label = all->components[all->embedding->nodes[all->embedding->width * all->pin_springs->points[k]]];
        if (label >= 0)
            is_loaded[label] = 1.0;
    }
    integer alone = 0;
    for (integer k = 0; k < all->pieces; k++)
        alone += is_loaded[k] == 0.0;
    if (!alone)
        return;
    for (integer i = 0; i < m; i++) {
        integer label = all->components[i];
        const real *from = label >= 0 && is_loaded[label] != 0.0 ? nodes : all->predicted_nodes;
        for (int a = 0; a < 3; a++)
            before[a * m + i] = from[a * m + i];
    }
    conserve_momentum(all->components, m, all->inverse_masses, before, nodes, start, nodes,
                      all->rolling);
}

_Static_assert(sizeof(rolling_piece) <= ROLLING * sizeof(real), "linear_system.py");

/* Writes nodes and previous nodes, all (3, m). */
EXPORT SMALL void update_velocities(const solid_system *all, const real *start, const real *moves,
                                    real *nodes, real *previous)
{
    const integer count = 3 * all->nodes;
    for (integer i = 0; i < count; i++)
        nodes[i] = all->predicted_nodes[i] + moves[i];
    keep_momentum(all, start, nodes);
    for (integer i = 0; i < count; i++)
        previous[i] = nodes[i];
    resist_rolling(all, start, previous);
    for (integer i = 0; i < count; i++)
        previous[i] = start[i] + (nodes[i] - previous[i]);
}
