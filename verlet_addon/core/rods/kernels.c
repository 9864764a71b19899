/* Cosserat rods: the functions of kernels.py, which has formulas and sources. */
#include "../team/team.h"
#include "angle_limits.h"
#include "elimination.h"

/* Rotates a clamp to its pins, and its twist to the pin beside its line. */
SMALL static void turn_clamp(const rod_tree *of, integer node)
{
    const rod_batch *rods = of->rods;
    integer at = of->first + node, n = of->n, beside = rods->references[at];
    integer end = rods->particles[at], start = rods->particles[rods->parents[at]];
    real at_rest[3], turned[3], along[3], arms[2][3], *rotation = rotation_of(of, node);
    between(of->positions, n, start, end, along);
    unit(along);
    rotate(rotation, of->segments[node].at_rest, turned);
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
static inline void find_quarter(const rod_tree *of, integer node, real found[3])
{
    const real *q = of->rods->rotations + 4 * of->rods->parents[of->first + node];
    real back[4] = {q[0], -q[1], -q[2], -q[3]}, joint[4];
    multiply_quaternions(back, rotation_of(of, node), joint);
    real share = 1.0 / (1.0 + (joint[0] < 0.0 ? -joint[0] : joint[0]));
    for (int i = 0; i < 3; i++)
        found[i] = joint[1 + i] * (joint[0] < 0.0 ? -share : share);
}

/* Records bends, directions and predicted positions at the start of the step, then turns clamps. */
static void start_tree(const rod_tree *of)
{
    const rod_batch *rods = of->rods;
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        integer at = of->first + node, parent = rods->parents[at];
        read(of->positions, of->n, rods->particles[at], own->predicted);
        clear(own->start_angles, 3);
        own->is_limited = own->pressure = 0.0;
        if (parent < 0)
            continue;
        between(of->rest, of->n, rods->particles[parent], rods->particles[at], own->at_rest);
        unit(own->at_rest);
        if (!(rods->bends[at] > 0.0))
            continue;
        find_quarter(of, node, own->start_angles);
        for (int i = 0; i < 3; i++)
            own->start_angles[i] *= 4.0;
    }
    for (integer node = 0; node < of->count; node++)
        if (rods->clamped[of->first + node])
            turn_clamp(of, node);
}

/* found = Gᵀ v, for the derivative G of σ at v = tan(θ/4) n. */
static inline void apply_slope(const real v[3], real square, const real vector[3], real found[3])
{
    real around[3], along = 2.0 * dot(v, vector);
    cross(v, vector, around);
    for (int i = 0; i < 3; i++)
        found[i] = (1.0 - square) * vector[i] + along * v[i] + 2.0 * around[i];
}

/* Linear interpolation, and beyond, from one number to another. */
static inline real at_share(real from, real to, real share)
{
    return from + (to - from) * share;
}

/* The moment of a joint (3,) and its stiffness (3, 3), given the axis of twist at rest.

   Gᵀ G is (1 + tan²(θ/4))² times the unit matrix. */
static inline void find_joint_moment(const rod_tree *of, integer node, const real axis[3], real moment[3],
                                     real stiffness[9])
{
    const rod_batch *rods = of->rods;
    const segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at = of->first + node;
    real v[3], angles[3], pulled[3], sloped[3], twist[3];
    find_quarter(of, node, v);
    real square = dot(v, v), bend = rods->bends[at], more = rods->twists[at] - bend;
    real retardation = rods->retardations[at];
    for (int i = 0; i < 3; i++)
        angles[i] = at_share(own->start_angles[i], 4.0 * v[i], retardation);
    real twisted = more * dot(axis, angles);
    for (int i = 0; i < 3; i++)
        pulled[i] = bend * angles[i] + twisted * axis[i];
    apply_slope(v, square, pulled, sloped);
    apply(parent->rotation, sloped, moment);
    apply_slope(v, square, axis, sloped);
    apply(parent->rotation, sloped, twist);
    bend *= (1.0 + square) * (1.0 + square);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            stiffness[3 * i + j] = retardation * ((i == j ? bend : 0.0) + more * twist[i] * twist[j]);
}

/* Adds stiffness and moments of the bend and twist at the start of a segment. */
static inline void add_joint(const rod_tree *of, integer node)
{
    const rod_batch *rods = of->rods;
    segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at = of->first + node;
    real axis[3], moment[3], stiffness[9];
    for (int i = 0; i < 3; i++)
        axis[i] = own->at_rest[i] + parent->at_rest[i];
    if (dot(axis, axis) > SHORTEST * SHORTEST)
        unit(axis);
    else
        copy(axis, own->at_rest, 3);
    find_joint_moment(of, node, axis, moment, stiffness);
    if (own->is_limited > 0.0)
        add_limit(of, node, moment, stiffness);
    int turns = !rods->clamped[at], parent_turns = !rods->clamped[rods->parents[at]];
    for (int i = 0; i < 9; i++) {
        own->tt[i] += turns ? stiffness[i] : 0.0;
        parent->tt[i] += parent_turns ? stiffness[i] : 0.0;
        own->tT[i] -= turns && parent_turns ? stiffness[i] : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        own->moment[i] -= turns ? moment[i] : 0.0;
        parent->moment[i] += parent_turns ? moment[i] : 0.0;
    }
}

/* Adds stiffness and forces of a segment that turns away from its rotation, or stretches. */
static inline void add_shear(const rod_tree *of, integer node)
{
    const rod_batch *rods = of->rods;
    segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at = of->first + node, above = rods->parents[at];
    real along[3], strain[3], moment[3], forces[3], all[9];
    real inverse = 1.0 / rods->lengths[at], shear = rods->shears[at];
    real pull = shear * inverse, axial = rods->axials[at] * inverse;
    real spin = rods->bends[at] > 0.0 ? 0.0 : SPIN_SHARE;
    int moves = rods->inverse_masses[at] > 0.0, parent_moves = rods->inverse_masses[above] > 0.0;
    apply(own->rotation, own->at_rest, along);
    between(of->positions, of->n, rods->particles[above], rods->particles[at], strain);
    for (int i = 0; i < 3; i++)
        strain[i] = strain[i] * inverse - along[i];
    real stretch = (axial - pull) * dot(along, strain);
    real turn[9] = {0, -along[2], along[1], along[2], 0, -along[0], -along[1], along[0], 0};
    cross(strain, along, moment);
    for (int i = 0; i < 3; i++) {
        forces[i] = pull * strain[i] + stretch * along[i];
        own->moment[i] -= shear * moment[i];
        for (int j = 0; j < 3; j++) {
            real straight = along[i] * along[j], plane = (i == j) - straight;
            own->tt[3 * i + j] += shear * (plane + spin * straight);
            all[3 * i + j] = (pull * plane + axial * straight) * inverse;
        }
    }
    for (int i = 0; i < 9; i++) {
        own->xx[i] += moves ? all[i] : 0.0;
        own->tx[i] -= moves ? pull * turn[i] : 0.0;
        parent->xx[i] += parent_moves ? all[i] : 0.0;
        own->tX[i] += parent_moves ? pull * turn[i] : 0.0;
        own->xX[i] -= moves && parent_moves ? all[i] : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        own->force[i] -= moves ? forces[i] : 0.0;
        parent->force[i] += parent_moves ? forces[i] : 0.0;
    }
}

/* Adds what holds a node to its predicted position, and the unit matrix where it is held. */
static inline void add_inertia(const rod_tree *of, integer node)
{
    segment *own = of->segments + node;
    integer at = of->first + node, particle = of->rods->particles[at];
    real w = of->rods->inverse_masses[at], mass = w > 0.0 ? 1.0 / w : 0.0;
    int held = of->rods->parents[at] < 0 || of->rods->clamped[at];
    for (int i = 0; i < 3; i++) {
        real moved = of->positions[i * of->n + particle] - own->predicted[i];
        own->xx[4 * i] += w > 0.0 ? mass : 1.0;
        own->force[i] -= mass * moved;
        own->tt[4 * i] += held;
    }
}

/* Sets up the system and eliminates its unknowns, from the tips to the root. */
static void eliminate_tree(const rod_tree *of)
{
    const rod_batch *rods = of->rods;
    for (integer node = 0; node < of->count; node++) {
        segment *own = of->segments + node;
        quaternion_matrix(rotation_of(of, node), own->rotation);
        clear(own->xx, 6 * 9);
        clear(own->force, 2 * 3);
    }
    for (integer node = of->count - 1; node >= 0; node--) {
        integer at = of->first + node;
        int is_root = rods->parents[at] < 0;
        add_inertia(of, node);
        if (!is_root && !rods->clamped[at])
            add_shear(of, node);
        if (!is_root && rods->bends[at] > 0.0)
            add_joint(of, node);
        if (!is_fixed(rods, at))
            eliminate(of->segments + node, is_root ? NULL : parent_of(of, node));
    }
}

/* Moves particles and rotations by the displacements. */
static void apply_moves(const rod_tree *of)
{
    for (integer node = 0; node < of->count; node++) {
        real turned[4];
        integer particle = of->rods->particles[of->first + node];
        for (int i = 0; i < 3; i++)
            of->positions[i * of->n + particle] += of->segments[node].move[i];
        turned_rotation(of, node, turned);
        copy(rotation_of(of, node), turned, 4);
    }
}

/* Moves a tree by one Newton step or, where it has angle limits, by some. */
static void project_tree(const rod_tree *of)
{
    int has_limits = 0;
    for (integer node = 0; node < of->count; node++)
        has_limits |= of->rods->limits[of->first + node] < NO_LIMIT;
    start_tree(of);
    mark_limits(of, 0);
    for (integer round = 0; round < MAX_LIMIT_ROUNDS; round++) {
        eliminate_tree(of);
        substitute_tree(of);
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
        rod_tree of = {its->rest, its->positions, its->n, first, rods->ends[tree] - first, rods,
                       (segment *)(void *)scratch};
        project_tree(&of);
    }
}

EXPORT void project_rods(real *positions, integer n, real *rest, const rod_batch *rods)
{
    all_rods loop = {positions, rest, n, rods};
    share(parts_of(rods->count, ROD_PART), project_some_trees, &loop, rods->reals, rods->work);
}
