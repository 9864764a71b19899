/* Near pairs, as in near_pairs.py. */
#include "pairs.h"

/* Reads the features and particles of a near pair. */
static void read_near(const surfaces *all, const near_pairs *near, integer at, pair *p)
{
    integer first = near->features[near->capacity + at];
    integer second = near->features[2 * near->capacity + at];
    p->kind = near->features[at];
    p->features[0] = p->particles[0] = first, p->features[1] = second;
    for (int k = 0; k < (p->kind ? 2 : 3); k++)
        if (p->kind) {
            p->particles[k] = all->edges[k * all->edge_count + first];
            p->particles[2 + k] = all->edges[k * all->edge_count + second];
        } else
            p->particles[1 + k] = all->triangles[k * all->triangle_count + second];
}

/* Whether a pair has an active particle. */
static int is_active(const pair *p, const uint8_t *active)
{
    return active[p->particles[0]] | active[p->particles[1]] | active[p->particles[2]]
           | active[p->particles[3]];
}

/* Upper bound of the deviation of a pair, where its particles deviate by this much (n,) [m]. */
static real deviation_of(const pair *p, const real *deviations)
{
    real most[2] = {0.0, 0.0};
    int split = p->kind ? 2 : 1;
    for (int k = 0; k < 4; k++)
        most[k >= split] = larger(most[k >= split], deviations[p->particles[k]]);
    return most[0] + most[1];
}

EXPORT void pair_deviations(const surfaces *all, const near_pairs *near, const real *deviations,
                            real *found)
{
    pair p;
    for (integer at = 0; at < near->capacity; at++) {
        read_near(all, near, at, &p);
        found[at] = deviation_of(&p, deviations);
    }
}

EXPORT void are_active(const surfaces *all, const near_pairs *near, const uint8_t *active,
                       uint8_t *found)
{
    pair p;
    for (integer at = 0; at < near->capacity; at++) {
        read_near(all, near, at, &p);
        found[at] = is_active(&p, active);
    }
}

EXPORT integer find_rows_of_near(const surfaces *all, const near_pairs *near,
                                 const search_criteria *criteria, real *deviations,
                                 const rows *found, integer *tests)
{
    pair_criteria own;
    traversal job = {.all = all, .criteria = &own, .found = found};
    pair p; /* not zeroed as a whole: by memset, which the library for Windows has not */
    p.is_near = p.is_flush = 0, p.skin = 0.0;
    for (integer at = 0; at < near->capacity; at++) {
        read_near(all, near, at, &p);
        if (near->clearances[at] > deviation_of(&p, deviations) || !is_active(&p, all->active))
            continue;
        own = criteria_for(all, criteria, all->owners[p.particles[0]], all->owners[p.particles[3]]);
        test_pair(&job, &p);
    }
    *tests += job.pair_tests;
    return job.count;
}
