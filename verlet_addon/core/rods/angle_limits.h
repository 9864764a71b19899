/* Angle limits of the rods of one tree, in the first lane: the functions of angle_limits.py. */
#ifndef VERLET_ANGLE_LIMITS_H
#define VERLET_ANGLE_LIMITS_H

#include "rods.h"

/* Reads the first lane of vectors. */
static inline void first_lane(const lane *vectors, int count, real *found)
{
    for (int i = 0; i < count; i++)
        found[i] = vectors[i][0];
}

/* The chord between the directions of a segment by two rotations; sets the axis from one to the other. */
static real find_chord(const segment *of, const real *parent, const real *own, real axis[3])
{
    real along[3], before[3], now[3], apart[3];
    first_lane(of->at_rest, 3, along);
    rotate(parent, along, before);
    rotate(own, along, now);
    subtract(now, before, apart);
    cross(before, now, axis);
    unit(axis);
    return __builtin_sqrt(dot(apart, apart));
}

/* The same at the rotations as they are. */
static inline real find_chord_now(const rod_trees *of, integer node, real axis[3])
{
    const real *parent = rotation_of(of, parent_in(of, node), 0);
    return find_chord(of->segments + node, parent, rotation_of(of, node, 0), axis);
}

/* The derivative of a chord by the angle. */
static inline real find_slope(real chord)
{
    return __builtin_sqrt(larger(1.0 - chord * chord / 4.0, 0.0));
}

/* Adds the moment and the stiffness of a joint at its angle limit.

   Without the second one, across the axis, steps along a narrow cone would leave it. */
static SMALL void add_limit(const rod_trees *of, integer node, lane moment[3], lane stiffness[9])
{
    const rod_batch *rods = of->rods;
    integer at = of->first[0] + node;
    segment *own = of->segments + node;
    real axis[3], along[3], now[3], beside[3];
    real chord = find_chord_now(of, node, axis), slope = find_slope(chord);
    real pull = rods->limit_stiffnesses[at] * slope;
    real cotangent = (1.0 - chord * chord / 2.0) / larger(chord * slope, LEAST_SWING);
    real turned = larger(own->pressure * cotangent, 0.0);
    first_lane(own->at_rest, 3, along);
    rotate(rotation_of(of, node, 0), along, now);
    cross(axis, now, beside);
    for (int i = 0; i < 3; i++) {
        moment[i] += both(pull * (chord - rods->limits[at]) * axis[i]);
        for (int j = 0; j < 3; j++)
            stiffness[3 * i + j]
                += both(pull * slope * axis[i] * axis[j] + turned * beside[i] * beside[j]);
    }
}

/* The rotation of a segment after the displacements. */
static inline void turned_rotation(const rod_trees *of, integer node, real found[4])
{
    lane both[4];
    turned_rotations(of, node, both);
    first_lane(both, 4, found);
}

/* Whether a joint is beyond its angle limit at the rotations of the step's start or, if `solved`, after
   the displacements. One that the limit acts on is let go where its spring would pull. */
static int is_beyond_limit(const rod_trees *of, integer node, int solved)
{
    const rod_batch *rods = of->rods;
    segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at = of->first[0] + node;
    real axis[3], turned[2][4], relative[3], chord;
    int acts = solved && own->is_limited > 0.0;
    if (solved && !acts) {
        turned_rotation(of, parent_in(of, node), turned[0]);
        turned_rotation(of, node, turned[1]);
        chord = find_chord(own, turned[0], turned[1], axis);
    } else
        chord = find_chord_now(of, node, axis);
    real slope = find_slope(chord);
    if (acts) {
        for (int i = 0; i < 3; i++)
            relative[i] = own->turn[i][0] - parent->turn[i][0];
        chord += slope * dot(axis, relative);
    }
    own->pressure = larger(rods->limit_stiffnesses[at] * slope * (chord - rods->limits[at]), 0.0);
    return chord > rods->limits[at];
}

/* Marks the joints beyond their angle limits; returns whether any mark changes. */
static SMALL int mark_limits(const rod_trees *of, int solved)
{
    int changed = 0;
    for (integer node = 0; node < of->count; node++) {
        if (!(of->rods->limits[of->first[0] + node] < NO_LIMIT))
            continue;
        real beyond = is_beyond_limit(of, node, solved);
        changed |= beyond != of->segments[node].is_limited;
        of->segments[node].is_limited = beyond;
    }
    return changed;
}

/* The largest excess over an angle limit that acts, −1 if none does. */
static SMALL real largest_excess(const rod_trees *of)
{
    real excess = -1.0, axis[3];
    for (integer node = 0; node < of->count; node++)
        if (of->segments[node].is_limited > 0.0) {
            real chord = find_chord_now(of, node, axis);
            excess = larger(larger(excess, 0.0), chord - of->rods->limits[of->first[0] + node]);
        }
    return excess;
}

/* The largest strain of inextensible segments. */
static SMALL real largest_strain(const rod_trees *of)
{
    const rod_batch *rods = of->rods;
    real largest = 0.0;
    for (integer node = 0; node < of->count; node++) {
        real along[3];
        integer at = of->first[0] + node, parent = rods->parents[at];
        if (parent < 0 || rods->clamped[at] || rods->axials[at] < rods->shears[at])
            continue;
        between(of->positions, of->n, rods->particles[parent], rods->particles[at], along);
        real strain = distance(along[0], along[1], along[2]) / rods->lengths[at] - 1.0;
        largest = larger(largest, larger(strain, -strain));
    }
    return largest;
}

#endif
