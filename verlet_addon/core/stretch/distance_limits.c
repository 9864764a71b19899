/* Distance limits of coarse levels and of tethers: the functions of kernels.py, which has
   formulas and sources. */
#include "../team/team.h"
#include "strips.h"

/* Projects the pairs of a batch that are further apart than their length. */
static void project_distance_limits(real *positions, integer n, const distance_limit_batch *batch)
{
    const integer *first = batch->particles, *second = batch->particles + batch->count;
    const real *px = positions, *py = positions + n, *pz = positions + 2 * n;
    for (integer i = 0; i < batch->count; i++) {
        integer a = first[i], b = second[i];
        real x = px[b] - px[a], y = py[b] - py[a], z = pz[b] - pz[a];
        real length = distance(x, y, z), excess = length - batch->rest_lengths[i];
        if (excess <= 0.0)
            continue;
        real share = excess * batch->gains[i] / length;
        real to = batch->first_masses[i] * share, fro = batch->second_masses[i] * share;
        real there[3] = {px[b] - fro * x, py[b] - fro * y, pz[b] - fro * z};
        put(positions, n, a, px[a] + to * x, py[a] + to * y, pz[a] + to * z);
        put(positions, n, b, there[0], there[1], there[2]);
    }
}

typedef struct {
    real *positions;
    integer n;
    const tethers *tethers;
} tethered;

static void project_some_tethers(const void *loop, integer part, real *scratch)
{
    const tethers *of = ((const tethered *)loop)->tethers;
    real *positions = ((const tethered *)loop)->positions;
    const real *lengths = of->lengths;
    integer n = ((const tethered *)loop)->n, last = end_of(part, PARTICLE_PART, of->count);
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        real *x = positions + of->particles[i], *y = x + n, *z = y + n;
        const real *pin = positions + of->pins[i];
        real arm_x = *x - pin[0], arm_y = *y - pin[n], arm_z = *z - pin[2 * n];
        real reach = distance(arm_x, arm_y, arm_z);
        if (reach > lengths[i]) {
            real excess = lengths[i] / reach - 1.0;
            *x += arm_x * excess;
            *y += arm_y * excess;
            *z += arm_z * excess;
        }
    }
}

/* Moves particles that are further from their pins than the lengths of their tethers. */
EXPORT void project_tethers(real *positions, integer n, const tethers *of)
{
    tethered loop = {positions, n, of};
    share(parts_of(of->count, PARTICLE_PART), project_some_tethers, &loop, 0, NULL);
}

void project_goal_radii(real *positions, integer n, const goal_radii *limits)
{
    for (integer i = 0; limits && i < limits->count; i++) {
        real arm[3], goal[3];
        integer particle = limits->particles[i];
        read(positions, n, particle, arm);
        read(limits->goals, limits->count, i, goal);
        subtract(arm, goal, arm);
        real reach = distance(arm[0], arm[1], arm[2]);
        if (reach > limits->radii[i])
            for (int axis = 0; axis < 3; axis++)
                positions[axis * n + particle] += arm[axis] * (limits->radii[i] / reach - 1.0);
    }
}

_Static_assert(MAX_PARENTS == 4, "prolong_corrections");

/* Projects the distance limits of a level, and sets the displacements `moved` of its particles;
   returns whether any is not 0. */
static int solve_level(const real *positions, integer n, const coarse_level *level)
{
    integer k = level->count;
    int any = 0;
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < k; i++)
            level->points[axis * k + i] = positions[axis * n + level->particles[i]];
    for (integer i = 0; i < level->limits_count; i++)
        project_distance_limits(level->points, k, level->limits[i]);
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < k; i++) {
            real moved = level->points[axis * k + i] - positions[axis * n + level->particles[i]];
            level->moved[axis * k + i] = moved;
            any |= moved != 0.0;
        }
    return any;
}

/* Moves the children by the weighted mean displacement of their parents. */
static void prolong_corrections(real *positions, integer n, const coarse_level *level)
{
    for (int axis = 0; axis < 3; axis++)
        for (integer i = 0; i < level->child_count; i++) {
            const integer *from = level->parents + 4 * i;
            const real *share = level->weights + 4 * i, *moved = level->moved + axis * level->count;
            positions[axis * n + level->children[i]] += share[0] * moved[from[0]]
                                                        + share[1] * moved[from[1]]
                                                        + share[2] * moved[from[2]]
                                                        + share[3] * moved[from[3]];
        }
}

/* Projects each coarse level, and interpolates its corrections to the next finer one. */
EXPORT void project_levels(real *positions, integer n, const coarse_level *const *levels,
                           integer count)
{
    for (integer i = 0; i < count; i++)
        if (solve_level(positions, n, levels[i]))
            prolong_corrections(positions, n, levels[i]);
}
