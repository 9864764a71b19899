/* Steps of solids that touch no other one: the function of solid_problems.py. */
#include "../team/team.h"
#include "cells.h"

static void solve_solid(const void *loop, integer number, real *scratch)
{
    const solid_problem *of = ((const solid_problem *const *)loop)[number];
    const solid_system *all = of->system;
    const solid_part *part = all->parts[0];
    integer count = 3 * all->nodes;
    (void)scratch;
    if (!of->is_stressed) {
        real *opposed = of->nodes;
        stress_of(part->lattice, of->start, part->corotations, NULL, of->modulus,
                  of->displacement, of->right, opposed, all->ahead, all->search);
        for (integer i = 0; i < count; i++)
            of->right[i] = of->h_squared * of->right[i] - opposed[i];
    }
    solve_contacts(all, of->right, of->moves, of->tolerance);
    update_velocities(all, of->start, of->moves, of->nodes, of->previous_nodes);
    for (integer i = 0; i < count; i++)
        of->moves[i] = of->nodes[i] - all->predicted_nodes[i];
    clamp_points(all, of->moves, of->points);
}

EXPORT void solve_solids(const solid_problem *const *problems, integer count)
{
    share(count, solve_solid, problems, 0, NULL);
}
