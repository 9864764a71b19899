/* Cosserat rods: the functions of kernels.py, which has formulas and sources. */
#include "../team/team.h"
#include "angle_limits.h"
#include "elimination.h"

/* Rotates a clamp of one lane to its pins, and its twist to the pin beside its line. */
SMALL static void turn_clamp(const rod_trees *of, integer node, integer lane_number)
{
    const rod_batch *rods = of->rods;
    integer at = of->first[lane_number] + node, n = of->n, beside = rods->references[at];
    integer end = rods->particles[at], start = rods->particles[rods->parents[at]];
    real at_rest[3], turned[3], along[3], arms[2][3], *rotation = rotation_of(of, node, lane_number);
    between(of->rest, n, start, end, at_rest);
    unit(at_rest);
    between(of->positions, n, start, end, along);
    unit(along);
    rotate(rotation, at_rest, turned);
    swing(turned, along, rotation);
    if (beside < 0)
        return;
    between(of->rest, n, start, beside, at_rest);
    rotate(rotation, at_rest, arms[0]);
    between(of->positions, n, start, beside, arms[1]);
    for (int i = 0; i < 2; i++) {
        remove_along(along, arms[i]);
        unit(arms[i]);
    }
    swing(arms[0], arms[1], rotation);
}

/* tan(θ/4) n of a joint. */
static inline void find_quarter(const rod_trees *of, integer node, lane found[3])
{
    lane back[4], own[4], joint[4], one = both(1.0);
    read_rotations(of, parent_in(of, node), back);
    read_rotations(of, node, own);
    for (int i = 1; i < 4; i++)
        back[i] = -back[i];
    multiply_both(back, own, joint);
    lane_mask turned = joint[0] < both(0.0);
    lane share = one / (one + choose(turned, -joint[0], joint[0]));
    share = choose(turned, -share, share);
    for (int i = 0; i < 3; i++)
        found[i] = joint[1 + i] * share;
}

/* Records bends, directions and predicted positions at the start of the step, then turns clamps. */
static void start_trees(const rod_trees *of)
{
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        read_places(of->positions, of, node, own->predicted);
        clear_both(own->start_angles, 3);
        own->is_limited = own->pressure = 0.0;
        if (is_root(of, node))
            continue;
        find_segments(of->rest, of, node, own->at_rest);
        unit_both(own->at_rest);
        if (!(of->rods->bends[of->first[0] + node] > 0.0))
            continue;
        find_quarter(of, node, own->start_angles);
        for (int i = 0; i < 3; i++)
            own->start_angles[i] *= 4.0;
    }
    for (integer node = 0; node < of->count; node++)
        for (integer number = 0; number < of->lanes && of->rods->clamped[of->first[0] + node]; number++)
            turn_clamp(of, node, number);
}

/* found = Gᵀ v, for the derivative G of σ at v = tan(θ/4) n. */
static inline void apply_slope(const lane v[3], lane square, const lane vector[3], lane found[3])
{
    lane around[3], along = 2.0 * dot_both(v, vector);
    cross_both(v, vector, around);
    for (int i = 0; i < 3; i++)
        found[i] = (both(1.0) - square) * vector[i] + along * v[i] + 2.0 * around[i];
}

/* The moment of a joint (3,) and its stiffness (3, 3), given the axis of twist at rest.

   Gᵀ G is (1 + tan²(θ/4))² times the unit matrix. */
static inline void find_joint_moment(const rod_trees *of, integer node, const lane axis[3],
                                     lane moment[3], lane stiffness[9])
{
    const rod_batch *rods = of->rods;
    const segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at[2];
    find_nodes(of, node, at);
    lane v[3], angles[3], pulled[3], sloped[3], twist[3];
    find_quarter(of, node, v);
    lane square = dot_both(v, v), bend = at_both(rods->bends, at), one = both(1.0);
    lane more = at_both(rods->twists, at) - bend, retardation = at_both(rods->retardations, at);
    for (int i = 0; i < 3; i++)
        angles[i] = own->start_angles[i] + (4.0 * v[i] - own->start_angles[i]) * retardation;
    lane twisted = more * dot_both(axis, angles);
    for (int i = 0; i < 3; i++)
        pulled[i] = bend * angles[i] + twisted * axis[i];
    apply_slope(v, square, pulled, sloped);
    apply_both(parent->rotation, sloped, moment);
    apply_slope(v, square, axis, sloped);
    apply_both(parent->rotation, sloped, twist);
    bend *= (one + square) * (one + square);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            stiffness[3 * i + j]
                = retardation * ((i == j ? bend : both(0.0)) + more * twist[i] * twist[j]);
}

/* Adds stiffness and moments of the bend and twist at the start of a segment. */
static inline void add_joint(const rod_trees *of, integer node)
{
    segment *own = of->segments + node, *parent = parent_of(of, node);
    lane axis[3], moment[3], stiffness[9];
    for (int i = 0; i < 3; i++)
        axis[i] = own->at_rest[i] + parent->at_rest[i];
    lane_mask folded = dot_both(axis, axis) <= both(SHORTEST * SHORTEST);
    unit_both(axis);
    for (int i = 0; i < 3; i++)
        axis[i] = choose(folded, own->at_rest[i], axis[i]);
    find_joint_moment(of, node, axis, moment, stiffness);
    if (own->is_limited > 0.0)
        add_limit(of, node, moment, stiffness);
    int own_turns = turns(of, node), parent_turns = turns(of, parent_in(of, node));
    for (int i = 0; i < 9; i++) {
        own->tt[i] += own_turns ? stiffness[i] : both(0.0);
        parent->tt[i] += parent_turns ? stiffness[i] : both(0.0);
        own->tT[i] -= own_turns && parent_turns ? stiffness[i] : both(0.0);
    }
    for (int i = 0; i < 3; i++) {
        own->moment[i] -= own_turns ? moment[i] : both(0.0);
        parent->moment[i] += parent_turns ? moment[i] : both(0.0);
    }
}

/* Adds stiffness and forces of a segment that turns away from its rotation, or stretches. */
static inline void add_shear(const rod_trees *of, integer node)
{
    const rod_batch *rods = of->rods;
    segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at[2];
    find_nodes(of, node, at);
    lane along[3], strain[3], moment[3], forces[3], all[9], zero = both(0.0);
    lane inverse = both(1.0) / at_both(rods->lengths, at), shear = at_both(rods->shears, at);
    lane pull = shear * inverse, axial = at_both(rods->axials, at) * inverse;
    lane spin = both(rods->bends[at[0]] > 0.0 ? 0.0 : SPIN_SHARE);
    int own_moves = moves(of, node), parent_moves = moves(of, parent_in(of, node));
    apply_both(own->rotation, own->at_rest, along);
    find_segments(of->positions, of, node, strain);
    for (int i = 0; i < 3; i++)
        strain[i] = strain[i] * inverse - along[i];
    lane stretch = (axial - pull) * dot_both(along, strain);
    lane turn[9] = {zero, -along[2], along[1], along[2], zero, -along[0], -along[1], along[0], zero};
    cross_both(strain, along, moment);
    for (int i = 0; i < 3; i++) {
        forces[i] = pull * strain[i] + stretch * along[i];
        own->moment[i] -= shear * moment[i];
        for (int j = 0; j < 3; j++) {
            lane straight = along[i] * along[j], plane = both(i == j) - straight;
            own->tt[3 * i + j] += shear * (plane + spin * straight);
            all[3 * i + j] = (pull * plane + axial * straight) * inverse;
        }
    }
    for (int i = 0; i < 9; i++) {
        own->xx[i] += own_moves ? all[i] : zero;
        own->tx[i] -= own_moves ? pull * turn[i] : zero;
        parent->xx[i] += parent_moves ? all[i] : zero;
        own->tX[i] += parent_moves ? pull * turn[i] : zero;
        own->xX[i] -= own_moves && parent_moves ? all[i] : zero;
    }
    for (int i = 0; i < 3; i++) {
        own->force[i] -= own_moves ? forces[i] : zero;
        parent->force[i] += parent_moves ? forces[i] : zero;
    }
}

/* Adds what holds a node to its predicted position, and the unit matrix where it is held. */
static inline void add_inertia(const rod_trees *of, integer node)
{
    segment *own = of->segments + node;
    integer at[2];
    find_nodes(of, node, at);
    int free = moves(of, node), held = !turns(of, node);
    lane mass = free ? both(1.0) / at_both(of->rods->inverse_masses, at) : both(0.0), place[3];
    read_places(of->positions, of, node, place);
    for (int i = 0; i < 3; i++) {
        own->xx[4 * i] += free ? mass : both(1.0);
        own->force[i] -= mass * (place[i] - own->predicted[i]);
        own->tt[4 * i] += both(held);
    }
}

/* Sets up the system and eliminates its unknowns, from the tips to the root. */
static void eliminate_trees(const rod_trees *of)
{
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        lane rotation[4];
        read_rotations(of, node, rotation);
        matrix_both(rotation, own->rotation);
        clear_both(own->xx, 6 * 9);
        clear_both(own->force, 2 * 3);
    }
    for (integer node = of->count - 1; node >= 0; node--) {
        add_inertia(of, node);
        if (turns(of, node))
            add_shear(of, node);
        if (!is_root(of, node) && of->rods->bends[of->first[0] + node] > 0.0)
            add_joint(of, node);
        if (moves(of, node) || turns(of, node))
            eliminate(of->segments + node, is_root(of, node) ? NULL : parent_of(of, node));
    }
}

/* Moves particles and rotations by the displacements. */
static void apply_moves(const rod_trees *of)
{
    for (integer node = 0; node < of->count; node++) {
        lane turned[4];
        turned_rotations(of, node, turned);
        for (integer number = 0; number < of->lanes; number++) {
            integer particle = of->rods->particles[of->first[number] + node];
            real *rotation = rotation_of(of, node, number);
            for (int i = 0; i < 3; i++)
                of->positions[i * of->n + particle] += of->segments[node].move[i][number];
            for (int i = 0; i < 4; i++)
                rotation[i] = turned[i][number];
        }
    }
}

/* Moves trees by one Newton step or, where one has angle limits, by some. */
static void project_trees_of_rods(const rod_trees *of)
{
    int has_limits = 0;
    for (integer node = 0; node < of->count; node++)
        has_limits |= of->rods->limits[of->first[0] + node] < NO_LIMIT;
    start_trees(of);
    mark_limits(of, 0);
    for (integer round = 0; round < MAX_LIMIT_ROUNDS; round++) {
        eliminate_trees(of);
        substitute_trees(of);
        int changed = mark_limits(of, 1);
        apply_moves(of);
        if (!has_limits)
            return;
        real excess = largest_excess(of);
        if (!changed && largest_strain(of) < LIMIT_TOLERANCE
            && (excess < 0.0 || (round && excess < LIMIT_TOLERANCE)))
            return;
    }
}

typedef struct {
    real *positions;
    const real *rest;
    integer n;
    const rod_batch *rods;
} all_rods;

static void project_some_trees(const void *loop, integer part, real *scratch)
{
    const all_rods *its = loop;
    const rod_batch *rods = its->rods;
    path_range own = paths_in(rods->ends, rods->trees, part, ROD_PART);
    for (integer tree = own.first; tree < own.last; tree++) {
        integer first = tree ? rods->ends[tree - 1] : 0;
        int is_pair = tree + 1 < own.last && rods->twins[tree];
        rod_trees of = {its->rest, its->positions, its->n, {first, is_pair ? rods->ends[tree] : first},
                        rods->ends[tree] - first, 1 + is_pair, rods, (segment *)(void *)scratch};
        project_trees_of_rods(&of);
        tree += is_pair;
    }
}

EXPORT void project_rods(real *positions, integer n, real *rest, const rod_batch *rods)
{
    all_rods loop = {positions, rest, n, rods};
    share(parts_of(rods->count, ROD_PART), project_some_trees, &loop, rods->reals, rods->work);
}
