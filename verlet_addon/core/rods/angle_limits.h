/* Angle limits of rods: the functions of angle_limits.py. */
#ifndef VERLET_ANGLE_LIMITS_H
#define VERLET_ANGLE_LIMITS_H

#include "rods.h"

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

/* Adds the moment and the stiffness of a joint at its angle limit.

   Without the second one, across the axis, steps along a narrow cone would leave it. */
static SMALL void add_limit(const rod_tree *of, integer node, real moment[3], real stiffness[9])
{
    const rod_batch *rods = of->rods;
    integer at = of->first + node;
    segment *own = of->segments + node;
    real axis[3], now[3], beside[3];
    const real *rotations = rods->rotations;
    real chord = find_chord(own->at_rest, rotations + 4 * rods->parents[at], rotations + 4 * at, axis);
    real slope = find_slope(chord), pull = rods->limit_stiffnesses[at] * slope;
    real cotangent = (1.0 - chord * chord / 2.0) / larger(chord * slope, LEAST_SWING);
    real turned = larger(own->pressure * cotangent, 0.0);
    rotate(rotations + 4 * at, own->at_rest, now);
    cross(axis, now, beside);
    for (int i = 0; i < 3; i++) {
        moment[i] += pull * (chord - rods->limits[at]) * axis[i];
        for (int j = 0; j < 3; j++)
            stiffness[3 * i + j] += pull * slope * axis[i] * axis[j] + turned * beside[i] * beside[j];
    }
}

/* Whether a joint is beyond its angle limit at the rotations of the step's start or, if `solved`, after
   the displacements. One that the limit acts on is let go where its spring would pull. */
static int is_beyond_limit(const rod_tree *of, integer node, int solved)
{
    const rod_batch *rods = of->rods;
    segment *own = of->segments + node, *parent = parent_of(of, node);
    integer at = of->first + node, above = rods->parents[at];
    const real *before = rods->rotations + 4 * above, *now = rods->rotations + 4 * at;
    real axis[3], turned[2][4], relative[3];
    int acts = solved && own->is_limited > 0.0;
    if (solved && !acts) {
        turned_rotation(of, above - of->first, turned[0]);
        turned_rotation(of, node, turned[1]);
        before = turned[0], now = turned[1];
    }
    real chord = find_chord(own->at_rest, before, now, axis), slope = find_slope(chord);
    if (acts) {
        subtract(own->turn, parent->turn, relative);
        chord += slope * dot(axis, relative);
    }
    own->pressure = larger(rods->limit_stiffnesses[at] * slope * (chord - rods->limits[at]), 0.0);
    return chord > rods->limits[at];
}

/* Marks the joints beyond their angle limits; returns whether any mark changes. */
static SMALL int mark_limits(const rod_tree *of, int solved)
{
    int changed = 0;
    for (integer node = 0; node < of->count; node++) {
        if (!(of->rods->limits[of->first + node] < NO_LIMIT))
            continue;
        real beyond = is_beyond_limit(of, node, solved);
        changed |= beyond != of->segments[node].is_limited;
        of->segments[node].is_limited = beyond;
    }
    return changed;
}

/* The largest excess over an angle limit that acts, −1 if none does. */
static SMALL real largest_excess(const rod_tree *of)
{
    const rod_batch *rods = of->rods;
    real excess = -1.0;
    for (integer node = 0; node < of->count; node++) {
        real axis[3];
        integer at = of->first + node;
        if (!(of->segments[node].is_limited > 0.0))
            continue;
        real chord = find_chord(of->segments[node].at_rest, rods->rotations + 4 * rods->parents[at],
                                rods->rotations + 4 * at, axis);
        excess = larger(larger(excess, 0.0), chord - rods->limits[at]);
    }
    return excess;
}

/* The largest strain of inextensible segments. */
static SMALL real largest_strain(const rod_tree *of)
{
    const rod_batch *rods = of->rods;
    real largest = 0.0;
    for (integer node = 0; node < of->count; node++) {
        real along[3];
        integer at = of->first + node, parent = rods->parents[at];
        if (parent < 0 || rods->clamped[at] || rods->axials[at] < rods->shears[at])
            continue;
        between(of->positions, of->n, rods->particles[parent], rods->particles[at], along);
        real strain = distance(along[0], along[1], along[2]) / rods->lengths[at] - 1.0;
        largest = larger(largest, larger(strain, -strain));
    }
    return largest;
}

#endif
