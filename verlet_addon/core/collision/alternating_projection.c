/* Alternating projection of contacts and lengths, with the same bits as alternating_projection.py. */
#include "../stretch/strips.h"

/* A body with positions (3, n); `count` of its particles are in the world, from index `first`. */
typedef struct {
    real *positions;
    integer n, first, count;
    const strip_order *strips; /* NULL where contacts alone are solved */
    const tethers *tethers;
    const plane_contact *ground; /* or NULL */
    real *inverse_masses;
} island_body;

/* Bodies in contact with each other, in a world of n particles, and the displacement below which
   contacts count as converged [m]. */
typedef struct {
    integer n, count;
    const island_body *const *members;
    real tolerance;
} island;

/* Projects tethers and strips once, strips from the tautest on, or in reverse. */
SMALL static void sweep(const island_body *body, integer backwards)
{
    sort_by_tension(body->strips);
    if (backwards)
        reverse_order(body->strips);
    project_tethers(body->positions, body->n, body->tethers);
    project_strips(body->positions, body->n, body->strips->order, body->strips->batches_count);
}

/* Projects contacts once; returns whether any particle moved by more than the tolerance. */
SMALL static int project_body_contacts(real *world_positions, const contact_rows *rows, const island *all)
{
    int moved = 0;
    for (integer i = 0; i < all->count; i++) {
        const island_body *body = all->members[i];
        for (int axis = 0; axis < 3; axis++)
            copy(world_positions + axis * all->n + body->first, body->positions + axis * body->n,
                 body->count);
    }
    project_rows(world_positions, all->n, rows);
    for (integer i = 0; i < all->count; i++) {
        const island_body *body = all->members[i];
        for (int axis = 0; axis < 3; axis++) {
            const real *here = world_positions + axis * all->n + body->first;
            real *there = body->positions + axis * body->n;
            for (integer k = 0; k < body->count; k++) {
                moved |= __builtin_fabs(here[k] - there[k]) > all->tolerance;
                there[k] = here[k];
            }
        }
    }
    return moved;
}

/* Projects contacts up to max_rounds times, until they converge, with a sweep over lengths and the
   ground between; returns the number of rounds in which contacts moved particles. */
SMALL EXPORT integer project_alternately(real *world_positions, const contact_rows *rows, const island *all, integer max_rounds)
{
    for (integer number = 0; number < max_rounds; number++) {
        if (!project_body_contacts(world_positions, rows, all))
            return number;
        for (integer i = 0; i < all->count && number + 1 < max_rounds; i++) {
            const island_body *body = all->members[i];
            if (body->strips)
                sweep(body, number % 2);
            if (body->ground)
                project_plane(body->positions, body->n, body->ground, body->inverse_masses);
        }
    }
    return max_rounds;
}
