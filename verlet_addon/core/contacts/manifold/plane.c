/* Projection and velocity update of contacts with a plane, one by one: the functions of plane.py. */
#include "../../team/team.h"

typedef struct {
    real *positions;
    integer n;
    const plane_contact *contact;
    const real *inverse_masses;
} particles_on_plane;

static void project_some_particles(const void *loop, integer part, real *scratch)
{
    const particles_on_plane *of = loop;
    const plane_contact *contact = of->contact;
    real *positions = of->positions;
    const real *inverse_masses = of->inverse_masses;
    integer n = of->n, first = part * PARTICLE_PART, last = end_of(part, PARTICLE_PART, n);
    (void)scratch;
    const real *normal = contact->normal, *start = contact->start;
    real *normal_corrections = contact->normal_corrections;
    real *friction_corrections = contact->friction_corrections;
    for (integer i = first; i < last; i++) {
        real place[3], former[3], slid[3], before = normal_corrections[i];
        read(positions, n, i, place);
        real depth = contact->floors[i] - (dot(normal, place) - contact->level);
        if (!(depth > 0.0 || before > 0.0) || !(inverse_masses[i] > 0.0))
            continue;
        real push = larger(before + depth, 0.0);
        read(friction_corrections, n, i, former);
        for (int axis = 0; axis < 3; axis++) {
            place[axis] += normal[axis] * (push - before);
            slid[axis] = place[axis] + former[axis] - start[axis * n + i];
        }
        remove_along(normal, slid);
        real length = __builtin_sqrt(dot(slid, slid));
        real share = smaller(1.0, contact->friction * push / larger(length, NONZERO));
        for (int axis = 0; axis < 3; axis++) {
            real held = slid[axis] * share;
            positions[axis * n + i] = place[axis] - (held - former[axis]);
            friction_corrections[axis * n + i] = held;
        }
        normal_corrections[i] = push;
    }
}

/* Projects contact with the plane normal · x = level, and its friction.

   inverse_masses: (n,). */
EXPORT void project_plane(real *positions, integer n, const plane_contact *contact,
                          real *inverse_masses)
{
    particles_on_plane loop = {positions, n, contact, inverse_masses};
    share(parts_of(n, PARTICLE_PART), project_some_particles, &loop, 0, NULL);
}

/* Velocity update of particles with a correction along the plane's normal: they stop, or bounce. */
SMALL EXPORT void rebound_plane(real *positions, integer n, real *previous_positions,
                                const plane_contact *contact)
{
    const real *normal = contact->normal;
    real dt = contact->dt;
    for (integer i = 0; i < n; i++) {
        real place[3], former[3], begin[3], pull[3];
        if (!(contact->normal_corrections[i] > 0.0))
            continue;
        read(contact->predicted, n, i, place);
        read(contact->start, n, i, begin);
        read(contact->accelerations, n, i, pull);
        real overshoot = dot(normal, place) - contact->level - contact->former_floors[i];
        for (int axis = 0; axis < 3; axis++)
            place[axis] -= begin[axis];
        real fall = dot(normal, place), gravity = dot(normal, pull);
        real speed = fall / dt + 0.5 * gravity * dt;
        real impact = __builtin_sqrt(larger(speed * speed - 2.0 * gravity * overshoot, 0.0));
        real rebound = contact->restitution * impact, rise = 0.0, climbed = contact->climb;
        if (rebound > 2.0 * __builtin_fabs(gravity) * dt && fall < 0.0 && overshoot < 0.0) {
            real late = -2.0 * overshoot / (impact - speed);
            rise = larger(rebound * late + 0.5 * gravity * late * late, 0.0);
            speed = rebound + gravity * late;
            climbed += speed > 0.0 ? speed * contact->drift - gravity * contact->bend : 0.0;
        }
        read(previous_positions, n, i, former);
        for (int axis = 0; axis < 3; axis++) {
            place[axis] = positions[axis * n + i] + normal[axis] * rise;
            positions[axis * n + i] = place[axis];
            place[axis] -= former[axis];
        }
        real back = dot(normal, place) - climbed;
        for (int axis = 0; axis < 3; axis++)
            previous_positions[axis * n + i] += normal[axis] * back;
    }
}
