/* Cosserat rods: the functions of kernels.py, which has formulas and sources. */
#include "../linear/inverses.h"
#include "../linear/quaternions.h"

static inline void unit(real v[3])
{
    real share = 1.0 / distance(v[0], v[1], v[2]);
    for (int i = 0; i < 3; i++)
        v[i] *= share;
}

/* found = the vector from one particle to another. */
static inline void between(const real *rows, integer n, integer from, integer to, real found[3])
{
    for (int i = 0; i < 3; i++)
        found[i] = rows[i * n + to] - rows[i * n + from];
}

SMALL static void turn_clamps(const real *positions, integer n, const real *rest, const rod_batch *rods)
{
    for (integer node = 0; node < rods->count; node++) {
        if (!rods->clamped[node])
            continue;
        integer end = rods->particles[node], start = rods->particles[rods->parents[node]];
        integer beside = rods->references[node];
        real at_rest[3], turned[3], along[3], arms[2][3], *rotation = rods->rotations + 4 * node;
        between(rest, n, start, end, at_rest);
        unit(at_rest);
        between(positions, n, start, end, along);
        unit(along);
        rotate(rotation, at_rest, turned);
        swing(turned, along, rotation);
        if (beside < 0)
            continue;
        between(rest, n, start, beside, at_rest);
        rotate(rotation, at_rest, arms[0]);
        between(positions, n, start, beside, arms[1]);
        for (int i = 0; i < 2; i++) {
            remove_along(along, arms[i]);
            unit(arms[i]);
        }
        swing(arms[0], arms[1], rotation);
    }
}

/* Adds a block (3, 3) × factor at a row and column of a matrix (6, 6). */
static inline void add_block(real *matrix, int row, int column, const real block[9], real factor)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix[6 * (row + i) + column + j] += factor * block[3 * i + j];
}

/* Adds stiffness and forces of a segment that turns away from its rotation, or stretches, at a rest
   direction. */
static void add_shear(const real *positions, integer n, const rod_batch *rods, integer node,
                      const real at_rest[3], int parent_moves)
{
    integer parent = rods->parents[node];
    real *diagonal = rods->diagonal + 36 * node, *beside = rods->coupling + 36 * node;
    real *force = rods->moves + 6 * node, along[3], strain[3], moment[3];
    real inverse = 1.0 / rods->lengths[node], shear = rods->shears[node];
    real pull = shear * inverse, axial = rods->axials[node] * inverse;
    int moves = rods->inverse_masses[node] > 0.0;
    rotate(rods->rotations + 4 * node, at_rest, along);
    between(positions, n, rods->particles[parent], rods->particles[node], strain);
    for (int i = 0; i < 3; i++)
        strain[i] = strain[i] * inverse - along[i];
    real plane[9], all[9], forces[3], stretch = (axial - pull) * dot(along, strain);
    real turn[9] = {0, -along[2], along[1], along[2], 0, -along[0], -along[1], along[0], 0};
    for (int i = 0; i < 3; i++) {
        forces[i] = pull * strain[i] + stretch * along[i];
        for (int j = 0; j < 3; j++) {
            real straight = along[i] * along[j];
            plane[3 * i + j] = (i == j) - straight;
            all[3 * i + j] = (pull * plane[3 * i + j] + axial * straight) * inverse;
        }
    }
    cross(strain, along, moment);
    add_block(diagonal, 3, 3, plane, shear);
    for (int i = 0; i < 3; i++)
        force[3 + i] -= shear * moment[i];
    if (moves) {
        add_block(diagonal, 0, 0, all, 1.0);
        add_block(diagonal, 0, 3, turn, pull);
        add_block(diagonal, 3, 0, turn, -pull);
        for (int i = 0; i < 3; i++)
            force[i] -= forces[i];
    }
    if (parent_moves) {
        add_block(rods->diagonal + 36 * parent, 0, 0, all, 1.0);
        add_block(beside, 3, 0, turn, pull);
        if (moves)
            add_block(beside, 0, 0, all, -1.0);
        for (int i = 0; i < 3; i++)
            rods->moves[6 * parent + i] += forces[i];
    }
}

/* found = first (3, 3) × second (3, 3), or × its transpose. */
static SMALL void multiply_blocks(const real first[9], const real second[9], int transposed, real found[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            found[3 * i + j] = transposed ? dot(first + 3 * i, second + 3 * j)
                                          : first[3 * i] * second[j] + first[3 * i + 1] * second[3 + j]
                                                + first[3 * i + 2] * second[6 + j];
}

/* tan(θ/4) n of a joint. */
static SMALL void find_quarter(const rod_batch *rods, integer node, real found[3])
{
    const real *q = rods->rotations + 4 * rods->parents[node];
    real back[4] = {q[0], -q[1], -q[2], -q[3]}, joint[4];
    multiply_quaternions(back, rods->rotations + 4 * node, joint);
    real share = 1.0 / (1.0 + (joint[0] < 0.0 ? -joint[0] : joint[0]));
    for (int i = 0; i < 3; i++)
        found[i] = joint[1 + i] * (joint[0] < 0.0 ? -share : share);
}

/* Linear interpolation, and beyond, from one number to another. */
static inline real at_share(real from, real to, real share)
{
    return from + (to - from) * share;
}

/* The moment of a joint (3,) and its stiffness (3, 3), given the axis of twist at rest. */
static void find_joint_moment(const rod_batch *rods, integer node, const real axis[3], real moment[3],
                              real stiffness[9])
{
    real v[3], world[9];
    find_quarter(rods, node, v);
    real square = dot(v, v), bend = rods->bends[node], more = rods->twists[node] - bend;
    real crossed[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
    /* S_p Gᵀ, transposed: rows of G after the rotation of the parent. */
    real slope[9], turned[9], elastic[9], pulled[9], angles[3], pull[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            slope[3 * i + j] = (i == j ? 1.0 - square : 0.0) + 2.0 * v[i] * v[j] + 2.0 * crossed[3 * i + j];
            elastic[3 * i + j] = (i == j ? bend : 0.0) + more * axis[i] * axis[j];
        }
    quaternion_matrix(rods->rotations + 4 * rods->parents[node], world);
    multiply_blocks(world, slope, 0, turned); /* slope here is Gᵀ, for [v]× is antisymmetric */
    multiply_blocks(turned, elastic, 0, pulled);
    multiply_blocks(pulled, turned, 1, stiffness);
    for (int i = 0; i < 9; i++)
        stiffness[i] *= rods->retardations[node];
    for (int i = 0; i < 3; i++)
        angles[i] = at_share(rods->start_angles[3 * node + i], 4.0 * v[i],
                              rods->retardations[node]);
    apply(elastic, angles, pull);
    apply(turned, pull, moment);
}

/* The chord between the directions of a segment by two rotations; sets the axis from one to the other. */
static real find_chord(const real along[3], const real *parent, const real *own, real axis[3])
{
    real before[3], now[3], apart[3];
    rotate(parent, along, before);
    rotate(own, along, now);
    subtract(now, before, apart);
    cross(before, now, axis);
    unit(axis);
    return __builtin_sqrt(dot(apart, apart));
}

/* The derivative of a chord by the angle. */
static inline real find_slope(real chord)
{
    return __builtin_sqrt(larger(1.0 - chord * chord / 4.0, 0.0));
}

/* The moment of a spring that begins at an angle limit. */
static inline real find_pressure(const rod_batch *rods, integer node, real chord, real slope)
{
    return larger(rods->limit_stiffnesses[node] * slope * (chord - rods->limits[node]), 0.0);
}

/* Adds the moment and the stiffness of a joint at its angle limit.

   Without the second one, across the axis, steps along a narrow cone would leave it. */
static SMALL void add_limit(const rod_batch *rods, integer node, const real along[3], real moment[3],
                            real stiffness[9])
{
    real axis[3], now[3], beside[3], *rotations = rods->rotations;
    real chord = find_chord(along, rotations + 4 * rods->parents[node], rotations + 4 * node, axis);
    real slope = find_slope(chord), pull = rods->limit_stiffnesses[node] * slope;
    real cotangent = (1.0 - chord * chord / 2.0) / larger(chord * slope, LEAST_SWING);
    real turned = larger(rods->pressures[node] * cotangent, 0.0);
    rotate(rotations + 4 * node, along, now);
    cross(axis, now, beside);
    for (int i = 0; i < 3; i++) {
        moment[i] += pull * (chord - rods->limits[node]) * axis[i];
        for (int j = 0; j < 3; j++)
            stiffness[3 * i + j] += pull * slope * axis[i] * axis[j] + turned * beside[i] * beside[j];
    }
}

/* Adds stiffness and moments of the bend and twist at the start of a segment. */
static void add_joint(const real *rest, integer n, const rod_batch *rods, integer node, const real along[3])
{
    integer parent = rods->parents[node];
    real axis[3], before[3], moment[3], stiffness[9];
    between(rest, n, rods->particles[rods->parents[parent]], rods->particles[parent], before);
    unit(before);
    for (int i = 0; i < 3; i++)
        axis[i] = along[i] + before[i];
    if (dot(axis, axis) > SHORTEST * SHORTEST)
        unit(axis);
    else
        copy(axis, along, 3);
    find_joint_moment(rods, node, axis, moment, stiffness);
    if (rods->limited[node] > 0.0)
        add_limit(rods, node, along, moment, stiffness);
    int turns[2] = {!rods->clamped[node], !rods->clamped[parent]};
    if (turns[0] && turns[1])
        add_block(rods->coupling + 36 * node, 3, 3, stiffness, -1.0);
    for (int side = 0; side < 2; side++) {
        integer each = side ? parent : node;
        if (!turns[side])
            continue;
        add_block(rods->diagonal + 36 * each, 3, 3, stiffness, 1.0);
        for (int i = 0; i < 3; i++)
            rods->moves[6 * each + 3 + i] += side ? moment[i] : -moment[i];
    }
}

/* Writes the system: blocks of each node, those beside its parent, and forces. */
static void assemble(const real *positions, integer n, const real *rest, const rod_batch *rods)
{
    clear(rods->diagonal, 36 * rods->count);
    clear(rods->coupling, 36 * rods->count);
    clear(rods->moves, 6 * rods->count);
    for (integer node = 0; node < rods->count; node++) {
        integer parent = rods->parents[node];
        real w = rods->inverse_masses[node], *diagonal = rods->diagonal + 36 * node, along[3];
        int held = parent < 0 || rods->clamped[node];
        for (int i = 0; i < 3; i++) {
            real moved = positions[i * n + rods->particles[node]] - rods->predicted[3 * node + i];
            diagonal[7 * i] += w > 0.0 ? 1.0 / w : 1.0;
            rods->moves[6 * node + i] -= w > 0.0 ? moved / w : 0.0;
            diagonal[7 * (3 + i)] += held;
        }
        if (parent < 0)
            continue;
        between(rest, n, rods->particles[parent], rods->particles[node], along);
        unit(along);
        if (!held)
            add_shear(positions, n, rods, node, along, rods->inverse_masses[parent] > 0.0);
        if (rods->bends[node] > 0.0)
            add_joint(rest, n, rods, node, along);
    }
}

/* Whether neither the particle of a node nor its segment moves: its blocks are those of a unit matrix. */
static inline int is_fixed(const rod_batch *rods, integer node)
{
    return !(rods->inverse_masses[node] > 0.0) && (rods->parents[node] < 0 || rods->clamped[node]);
}

static inline void apply_block(const real *matrix, const real *vector, real *found)
{
    for (int i = 0; i < 6; i++) {
        found[i] = 0.0;
        for (int j = 0; j < 6; j++)
            found[i] += matrix[6 * i + j] * vector[j];
    }
}

/* Solves the system from the tips to the roots and back. */
static void solve(const rod_batch *rods)
{
    for (integer node = rods->count - 1; node >= 0; node--) {
        integer parent = rods->parents[node];
        real *own = rods->diagonal + 36 * node, *beside = rods->coupling + 36 * node, response[36];
        if (is_fixed(rods, node))
            continue;
        invert_positive(own, 6);
        if (parent < 0)
            continue;
        real *above = rods->diagonal + 36 * parent;
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) {
                real sum = 0.0;
                for (int j = 0; j < 6; j++)
                    sum += own[6 * i + j] * beside[6 * j + k];
                response[6 * i + k] = sum;
            }
        for (int i = 0; i < 6; i++) {
            real pulled = 0.0;
            for (int j = 0; j < 6; j++)
                pulled += response[6 * j + i] * rods->moves[6 * node + j];
            rods->moves[6 * parent + i] -= pulled;
            for (int k = 0; k < 6; k++) {
                real sum = 0.0;
                for (int j = 0; j < 6; j++)
                    sum += beside[6 * j + i] * response[6 * j + k];
                above[6 * i + k] -= sum;
            }
        }
    }
    for (integer node = 0; node < rods->count; node++) {
        real *own = rods->moves + 6 * node, pull[6];
        if (is_fixed(rods, node))
            continue;
        if (rods->parents[node] >= 0) {
            apply_block(rods->coupling + 36 * node, rods->moves + 6 * rods->parents[node], pull);
            for (int i = 0; i < 6; i++)
                own[i] -= pull[i];
        }
        apply_block(rods->diagonal + 36 * node, own, pull);
        copy(own, pull, 6);
    }
}

/* A segment's rotation after the displacements that were solved for. */
static void turned_rotation(const rod_batch *rods, integer node, real found[4])
{
    real half[3];
    for (int i = 0; i < 3; i++)
        half[i] = 0.5 * rods->moves[6 * node + 3 + i];
    real share = 1.0 / __builtin_sqrt(1.0 + dot(half, half));
    real q[4] = {share, half[0] * share, half[1] * share, half[2] * share};
    multiply_quaternions(q, rods->rotations + 4 * node, found);
}

/* Whether a joint is beyond its angle limit at the rotations of the step's start or, if `solved`, after
   the displacements. One that the limit acts on is let go where its spring would pull. */
static int is_beyond_limit(const rod_batch *rods, integer node, const real along[3], int solved)
{
    integer parent = rods->parents[node];
    const real *before = rods->rotations + 4 * parent, *own = rods->rotations + 4 * node;
    real axis[3], turned[2][4], relative[3];
    int acts = solved && rods->limited[node] > 0.0;
    if (solved && !acts) {
        turned_rotation(rods, parent, turned[0]);
        turned_rotation(rods, node, turned[1]);
        before = turned[0], own = turned[1];
    }
    real chord = find_chord(along, before, own, axis), slope = find_slope(chord);
    if (acts) {
        subtract(rods->moves + 6 * node + 3, rods->moves + 6 * parent + 3, relative);
        chord += slope * dot(axis, relative);
    }
    rods->pressures[node] = find_pressure(rods, node, chord, slope);
    return chord > rods->limits[node];
}

/* Marks the joints beyond their angle limits; returns whether any mark changes. */
static SMALL int mark_limits(const real *rest, integer n, const rod_batch *rods, int solved)
{
    int changed = 0;
    for (integer node = 0; node < rods->count; node++) {
        real along[3];
        if (!(rods->limits[node] < NO_LIMIT))
            continue;
        between(rest, n, rods->particles[rods->parents[node]], rods->particles[node], along);
        unit(along);
        real beyond = is_beyond_limit(rods, node, along, solved);
        changed |= beyond != rods->limited[node];
        rods->limited[node] = beyond;
    }
    return changed;
}

/* Moves particles and rotations by the displacements; returns the largest excess over an angle limit that
   acts, −1 if none does. */
static real apply_moves(real *positions, integer n, const real *rest, const rod_batch *rods)
{
    real excess = -1.0;
    for (integer node = 0; node < rods->count; node++) {
        real turned[4];
        for (int i = 0; i < 3; i++)
            positions[i * n + rods->particles[node]] += rods->moves[6 * node + i];
        turned_rotation(rods, node, turned);
        copy(rods->rotations + 4 * node, turned, 4);
        if (rods->limited[node] > 0.0) {
            integer parent = rods->parents[node];
            real along[3], axis[3];
            between(rest, n, rods->particles[parent], rods->particles[node], along);
            unit(along);
            real chord = find_chord(along, rods->rotations + 4 * parent, turned, axis);
            excess = larger(larger(excess, 0.0), chord - rods->limits[node]);
        }
    }
    return excess;
}

/* Records the angles of joints at the start of the step, and the predicted positions. */
static SMALL void start_rods(const real *positions, integer n, const rod_batch *rods)
{
    for (integer node = 0; node < rods->count; node++) {
        real *angles = rods->start_angles + 3 * node;
        read(positions, n, rods->particles[node], rods->predicted + 3 * node);
        clear(angles, 3);
        if (!(rods->bends[node] > 0.0))
            continue;
        find_quarter(rods, node, angles);
        for (int i = 0; i < 3; i++)
            angles[i] *= 4.0;
    }
}

/* The largest strain of inextensible segments, if any joint has an angle limit; else 0. */
static SMALL real limited_strain(const real *positions, integer n, const rod_batch *rods)
{
    real largest = 0.0;
    int any = 0;
    for (integer node = 0; node < rods->count; node++) {
        real along[3];
        any |= rods->limits[node] < NO_LIMIT;
        if (rods->parents[node] < 0 || rods->clamped[node] || rods->axials[node] < rods->shears[node])
            continue;
        between(positions, n, rods->particles[rods->parents[node]], rods->particles[node], along);
        real strain = distance(along[0], along[1], along[2]) / rods->lengths[node] - 1.0;
        largest = larger(largest, larger(strain, -strain));
    }
    return any ? largest : 0.0;
}

EXPORT void project_rods(real *positions, integer n, real *rest, const rod_batch *rods)
{
    start_rods(positions, n, rods);
    turn_clamps(positions, n, rest, rods);
    mark_limits(rest, n, rods, 0);
    for (integer round = 0; round < MAX_LIMIT_ROUNDS; round++) {
        assemble(positions, n, rest, rods);
        solve(rods);
        int changed = mark_limits(rest, n, rods, 1);
        real excess = apply_moves(positions, n, rest, rods);
        real strain = limited_strain(positions, n, rods);
        if (!changed && strain < LIMIT_TOLERANCE
            && (excess < 0.0 || (round && excess < LIMIT_TOLERANCE)))
            break;
    }
}
