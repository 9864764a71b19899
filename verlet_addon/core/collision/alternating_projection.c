/* Alternating projection of contacts and lengths, with the same bits as alternating_projection.py. */
#include "../stretch/strips.h"

struct contact_rows;

/* Functions of contact/ and stretch/. */
void project_rows(real *positions, integer n, const struct contact_rows *rows);
void project_plane(real *positions, integer n, const real *inverse_masses, const real *normal,
                   real level, const real *start, const real *floors, real friction, real *normal_corrections,
                   real *friction_corrections);
real project_strips(real *positions, integer n, const strip_batch *const *batches, integer count);
void project_tethers(real *positions, integer n, integer t, const integer *particles,
                     const integer *pins, const real *lengths);

/* Contact of a body with the ground plane; see project_plane. */
typedef struct {
    const real *inverse_masses, *normal;
    real level;
    const real *start, *floors;
    real friction;
    real *normal_corrections, *friction_corrections;
} ground;

/* A body with positions (3, n); `count` of its particles are in the world, from index `first`. */
typedef struct {
    real *positions;
    integer n, first, count;
    const strip_order *strips; /* NULL where contacts alone are solved */
    integer tether_count;
    const integer *particles, *pins; /* (tether_count,) of tethers, with lengths below */
    const real *lengths;
    const ground *under; /* or NULL */
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
    project_tethers(body->positions, body->n, body->tether_count, body->particles, body->pins,
                    body->lengths);
    project_strips(body->positions, body->n, body->strips->order, body->strips->count);
}

/* Projects contacts once; returns whether any particle moved by more than the tolerance. */
SMALL static int project_body_contacts(real *world_positions, const struct contact_rows *rows, const island *all)
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
SMALL EXPORT integer project_alternately(real *world_positions, const struct contact_rows *rows, const island *all, integer max_rounds)
{
    for (integer number = 0; number < max_rounds; number++) {
        if (!project_body_contacts(world_positions, rows, all))
            return number;
        for (integer i = 0; i < all->count && number + 1 < max_rounds; i++) {
            const island_body *body = all->members[i];
            const ground *under = body->under;
            if (body->strips)
                sweep(body, number % 2);
            if (under)
                project_plane(body->positions, body->n, under->inverse_masses, under->normal,
                              under->level, under->start, under->floors, under->friction,
                              under->normal_corrections, under->friction_corrections);
        }
    }
    return max_rounds;
}
