/* The laws of force fields, and accelerations by them: the functions of fields.py and
   accelerations.py, which have the formulas. */
#include "../team/team.h"
#include "forces.h"

/* Kinds and shapes in the order of field.py. */
enum { WIND, FORCE, VORTEX, HARMONIC, CHARGE, TURBULENCE, DRAG };
enum { POINT, LINE, PLANE };

/* A particle relative to a field. */
typedef struct {
    real position[3], velocity[3], arm[3], span[3], distance, falloff;
} field_point;

static real magnitude(const real *vector) { return __builtin_sqrt(dot(vector, vector)); }

/* Unit vector; 0 for one of length 0. */
static void find_direction(const real *vector, real *found)
{
    real length = larger(magnitude(vector), SHORTEST);
    for (int axis = 0; axis < 3; axis++)
        found[axis] = vector[axis] / length;
}

static real reach(real distance, real power, real nearest, real farthest)
{
    real base = 1.0 + larger(distance - nearest, 0.0), product = 1.0;
    for (integer i = 0; i < (integer)power; i++)
        product *= base;
    return distance > farthest ? 0.0 : 1.0 / product;
}

static real find_falloff(const field *of, const real *arm, real height, real distance)
{
    if (height * of->side < 0.0)
        return 0.0;
    if (!of->in_tube)
        return reach(distance, of->power, of->nearest, of->farthest);
    real across[3], left = reach(__builtin_fabs(height), of->power, of->nearest, of->farthest);
    for (int axis = 0; axis < 3; axis++)
        across[axis] = arm[axis] - of->axis[axis] * height;
    return left * reach(magnitude(across), of->radial_power, of->radial_nearest, of->radial_farthest);
}

static void relate(const field *of, field_point *point)
{
    subtract(point->position, of->origin, point->arm);
    real height = dot(of->axis, point->arm);
    int lies = of->shape == PLANE && of->kind != VORTEX;
    for (int axis = 0; axis < 3; axis++) {
        real along = of->axis[axis] * height;
        point->span[axis] = of->shape == POINT ? point->arm[axis] : lies ? along : point->arm[axis] - along;
    }
    point->distance = magnitude(point->span);
    point->falloff = find_falloff(of, point->arm, height, point->distance);
}

static void find_vortex(const field *of, const field_point *point, real strength, real *push)
{
    real around[3], inwards[3];
    cross(of->axis, point->arm, around);
    if (of->shape == POINT) {
        find_direction(around, push);
        for (int axis = 0; axis < 3; axis++)
            push[axis] *= strength * point->distance;
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        around[axis] *= strength;
    cross(of->axis, around, inwards);
    for (int axis = 0; axis < 3; axis++)
        push[axis] = around[axis] + inwards[axis] * strength;
}

static void find_turbulence(const field *of, const field_point *point, real *push)
{
    real at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = of->in_world ? point->position[axis] : point->arm[axis] + of->axis[axis];
    turbulence_at(at, of->size, of->table, of->slopes, push);
}

/* Acceleration of a particle at rest. */
static void find_push(const field *of, const field_point *point, real *push)
{
    real strength = of->strength * point->falloff;
    if (of->kind == FORCE && of->inverse_square) {
        real distance = larger(point->distance, SHORTEST);
        strength /= distance * distance;
    }
    if (of->kind == HARMONIC)
        strength = -of->strength * point->falloff * (point->distance - of->size);
    if (of->kind == VORTEX) {
        find_vortex(of, point, strength, push);
        return;
    }
    if (of->kind == TURBULENCE)
        find_turbulence(of, point, push);
    if (of->kind == FORCE || of->kind == HARMONIC)
        find_direction(point->span, push);
    for (int axis = 0; axis < 3; axis++)
        push[axis] = of->kind == WIND     ? of->axis[axis] * strength
                     : of->kind == CHARGE ? point->span[axis] * strength
                     : of->kind == DRAG   ? 0.0
                                          : push[axis] * strength;
}

/* Drag rate. */
static real find_rate(const field *of, const field_point *point)
{
    real most = MAX_DRAG_STRENGTH;
    if (of->kind == HARMONIC)
        return 2.0 * of->damping * __builtin_sqrt(__builtin_fabs(of->strength));
    if (of->kind == DRAG)
        return point->falloff
               * (smaller(of->strength, most) * magnitude(point->velocity) + smaller(of->damping, most));
    real flow = of->flow * point->falloff;
    return of->kind == VORTEX && of->shape != POINT ? flow + 1.0 : flow;
}

/* Interpolation of what is finite; else the later value. */
static real between(real before, real after, real share)
{
    real sum = before + after;
    return sum - sum == 0.0 ? before + (after - before) * share : after;
}

void find_field(const field_path *of, integer done, integer steps, real *origin, real *axis, field *now)
{
    const field *before = of->before, *after = of->after;
    real by = (real)done / (real)steps;
    for (int x = 0; x < 3; x++) {
        origin[x] = before->origin[x] + (after->origin[x] - before->origin[x]) * by;
        axis[x] = before->axis[x] + (after->axis[x] - before->axis[x]) * by;
    }
    real length = magnitude(axis);
    for (int x = 0; x < 3; x++)
        axis[x] = length > 0.0 ? axis[x] / length : after->axis[x];
    now->origin = origin;
    now->axis = axis;
    now->kind = after->kind;
    now->shape = after->shape;
    now->in_tube = after->in_tube;
    now->side = after->side;
    now->table = after->table;
    now->slopes = after->slopes;
    now->inverse_square = after->inverse_square;
    now->in_world = after->in_world;
    now->power = after->power;
    now->radial_power = after->radial_power;
    now->strength = between(before->strength, after->strength, by);
    now->flow = between(before->flow, after->flow, by);
    now->wind_factor = between(before->wind_factor, after->wind_factor, by);
    now->damping = between(before->damping, after->damping, by);
    now->size = between(before->size, after->size, by);
    now->nearest = between(before->nearest, after->nearest, by);
    now->farthest = between(before->farthest, after->farthest, by);
    now->radial_nearest = between(before->radial_nearest, after->radial_nearest, by);
    now->radial_farthest = between(before->radial_farthest, after->radial_farthest, by);
}

typedef struct {
    const field *of;
    real share;
    const real *positions, *velocities;
    integer n;
    real *effect;
} field_loop;

static void add_to_part(const void *loop, integer part, real *scratch)
{
    const field_loop *its = loop;
    const field *of = its->of;
    integer n = its->n, last = end_of(part, PARTICLE_PART, n);
    real air = smaller(larger(of->wind_factor, 0.0), 1.0);
    real as_force = its->share * (1.0 - air), as_air = its->share * air;
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        field_point point;
        real push[3] = {0.0, 0.0, 0.0};
        read(its->positions, n, i, point.position);
        read(its->velocities, n, i, point.velocity);
        relate(of, &point);
        if (!(point.falloff > 0.0))
            continue;
        find_push(of, &point, push);
        real rate = find_rate(of, &point), *effect = its->effect + i;
        for (int axis = 0; axis < 3; axis++) {
            effect[axis * n] += push[axis] * as_force;
            effect[(4 + axis) * n] += push[axis] * as_air;
        }
        effect[3 * n] += rate * as_force;
        effect[7 * n] += rate * as_air;
    }
}

void add_effect(const field *of, real share_of_it, const real *positions, integer n,
                const real *velocities, real *effect)
{
    field_loop loop = {of, share_of_it, positions, velocities, n, effect};
    share(parts_of(n, PARTICLE_PART), add_to_part, &loop, 0, NULL);
}

void limit_slip(real *effect, integer n)
{
    for (integer i = 7 * n; i < 8 * n; i++)
        effect[i] = smaller(larger(effect[i], 0.0), 1.0);
}

/* Sums the effects of fields (count,), each scaled by its share. */
EXPORT void field_effects(const field *const *fields, integer count, const real *shares,
                          const real *positions, integer n, const real *velocities, real *effect)
{
    for (integer i = 0; i < count; i++)
        add_effect(fields[i], shares[i], positions, n, velocities, effect);
    limit_slip(effect, n);
}

typedef struct {
    const real *inverse_masses, *velocities, *gravity, *effect, *forces;
    real dt;
    integer n;
    real *found;
} motion_loop;

/* Sums pushes, drag and air of a part, within limits. */
static void sum_part(const void *loop, integer part, real *scratch)
{
    const motion_loop *its = loop;
    integer n = its->n, last = end_of(part, PARTICLE_PART, n);
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        real total[3], mass = its->inverse_masses[i], rate = its->effect[3 * n + i];
        real limit = larger((larger(rate, 0.0) + its->forces[3 * n + i] * mass) * its->dt, 1.0);
        for (int axis = 0; axis < 3; axis++) {
            integer at = axis * n + i;
            total[axis] = its->gravity[axis] + its->effect[at] - rate * its->velocities[at]
                          + its->forces[at] * mass;
            total[axis] /= limit;
        }
        real fast = larger(magnitude(total) * its->dt / MAX_SPEED_CHANGE, 1.0);
        for (int axis = 0; axis < 3; axis++)
            its->found[axis * n + i] = total[axis] / fast;
    }
}

void accelerate(const exposed_surface *of, const real *inverse_masses, const real *positions,
                integer n, const real *velocities, const real *gravity, real dt, real *effect,
                real *forces, real *found)
{
    real *air = effect + 4 * n, *slip = effect + 7 * n;
    clear(forces, 4 * n);
    for (integer at = 0; at < 3 * n; at++)
        air[at] -= slip[at % n] * velocities[at];
    plate_forces(of, positions, n, air, forces);
    add_rope_forces(of, positions, n, air, forces);
    motion_loop loop = {inverse_masses, velocities, gravity, effect, forces, dt, n, found};
    share(parts_of(n, PARTICLE_PART), sum_part, &loop, 0, NULL);
}

EXPORT void blown_accelerations(const exposed_surface *of, const real *inverse_masses,
                                const real *positions, integer n, const real *velocities,
                                const field *const *fields, integer count, const real *shares,
                                const real *gravity, real dt, real *found, real *work)
{
    field_effects(fields, count, shares, positions, n, velocities, work);
    accelerate(of, inverse_masses, positions, n, velocities, gravity, dt, work, work + 8 * n, found);
}
