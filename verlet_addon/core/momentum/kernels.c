/* Conservation of momentum of free bodies: the function of kernels.py. */
#include "rotations.h"

/* Sums over a body: mass, centre of mass, mean displacement, angular momentum times dt, and
   Σ m a aᵀ (xx yy zz yz zx xy). */
typedef struct {
    real mass, centre[3], drift[3], spin[3], second[6];
} body_sums;

/* Sets the corrected positions `kept` (3, n), which may be those `after` the change themselves;
   `work` holds the sums of all bodies. */
EXPORT void conserve_momentum(const integer *labels, integer n, const real *inverse_masses,
                              const real *before, const real *after, const real *about, real *kept,
                              real *work)
{
    body_sums *bodies = (body_sums *)work;
    integer count = 0;
    for (integer i = 0; i < n; i++)
        count = labels[i] < count ? count : labels[i] + 1;
    if (kept != after)
        copy(kept, after, 3 * n);
    clear(work, 16 * count);
    for (integer i = 0; i < n; i++) {
        if (labels[i] < 0)
            continue;
        body_sums *body = bodies + labels[i];
        real mass = 1.0 / inverse_masses[i];
        body->mass += mass;
        for (int x = 0; x < 3; x++) {
            body->centre[x] += about[x * n + i] * mass;
            body->drift[x] += (kept[x * n + i] - before[x * n + i]) * mass;
        }
    }
    for (integer k = 0; k < count; k++)
        for (int x = 0; x < 3; x++) {
            bodies[k].centre[x] /= bodies[k].mass;
            bodies[k].drift[x] /= bodies[k].mass;
        }
    for (integer i = 0; i < n; i++) {
        if (labels[i] < 0)
            continue;
        body_sums *body = bodies + labels[i];
        real mass = 1.0 / inverse_masses[i], arm[3], change[3];
        for (int x = 0; x < 3; x++) {
            arm[x] = about[x * n + i] - body->centre[x];
            change[x] = kept[x * n + i] - before[x * n + i];
        }
        for (int x = 0; x < 3; x++) {
            int y = (x + 1) % 3, z = (x + 2) % 3;
            body->spin[x] += (arm[y] * change[z] - arm[z] * change[y]) * mass;
            body->second[x] += arm[x] * arm[x] * mass;
            body->second[3 + x] += arm[y] * arm[z] * mass;
        }
    }
    for (integer k = 0; k < count; k++) {
        real total = 0.0, rotation[3];
        for (int x = 0; x < 6; x++)
            total += bodies[k].second[x];
        if (total - total != 0.0)
            return; /* the frame's check will say which body broke */
        find_rotation_vector(bodies[k].second, bodies[k].spin, rotation);
        for (int x = 0; x < 3; x++)
            bodies[k].spin[x] = rotation[x];
    }
    for (integer i = 0; i < n; i++) {
        if (labels[i] < 0)
            continue;
        const body_sums *body = bodies + labels[i];
        real arm[3];
        for (int x = 0; x < 3; x++)
            arm[x] = about[x * n + i] - body->centre[x];
        for (int x = 0; x < 3; x++) {
            int y = (x + 1) % 3, z = (x + 2) % 3;
            kept[x * n + i] -= body->drift[x] + (body->spin[y] * arm[z] - body->spin[z] * arm[y]);
        }
    }
}
