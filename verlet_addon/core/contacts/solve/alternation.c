/* Rounds of contacts and lengths in turn: the function of alternation.py. */
#include "../../stretch/strips.h"

/* One sweep over the lengths of a body, and its contacts with the ground. */
static void move_between(const touching_body *of, integer backwards)
{
    integer n = of->particles;
    if (of->lengths)
        of->sweeps[0] += project_lengths(of->positions, n, of->lengths, NULL, of->limits, backwards, 1);
    project_goal_radii(of->positions, n, of->limits);
    for (integer i = 0; i < of->grounds_count; i++)
        project_plane(of->positions, n, of->grounds[i], (real *)of->inverse_masses);
}

/* Copies positions of a body to those of the world (3, n). */
static void gather(const touching_body *of, real *world, integer n)
{
    for (int axis = 0; axis < 3; axis++)
        copy(world + axis * n + of->first, of->positions + axis * of->particles, of->last - of->first);
}

EXPORT integer alternate(const touching_body *const *bodies, integer count, real *world, integer n,
                         const contact_rows *rows, real allowed, integer most, integer with_motion)
{
    for (integer number = 0; number < most; number++) {
        real farthest = 0.0;
        for (integer i = 0; with_motion && number && i < count; i++)
            move_between(bodies[i], number % 2 == 0);
        for (integer i = 0; i < count; i++)
            gather(bodies[i], world, n);
        project_rows(world, n, rows);
        for (integer i = 0; i < count; i++) {
            const touching_body *of = bodies[i];
            real moved = move_back(of->positions, of->particles, world, n, of->first, of->last);
            farthest = i && !(moved > farthest) ? farthest : moved;
        }
        if (!(farthest > allowed))
            return number;
    }
    return most;
}
