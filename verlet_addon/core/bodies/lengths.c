/* All lengths of a surface body: weave, edges, seams, ropes, and joints of rigid pieces; the function
   of lengths.py. */
#include "../stretch/strips.h"
#include "lengths.h"

/* Transfers corrections of particles to their rigid pieces. */
static void apply_constraints_to_pieces(const piece_poses *rigid, real *x, integer n)
{
    if (rigid)
        transfer_momentum(rigid, x, n, (real *)rigid->pieces->constraint_masses, NEWTON_ROUNDS_BETWEEN);
}

void project_edges_of_pieces(const piece_poses *rigid, real *x, integer n)
{
    if (!rigid || !rigid->pieces->joints->count)
        return;
    integer left = MAX_LINEARIZATIONS - rigid->linearizations[0];
    integer most = left < JOINT_LINEARIZATIONS ? left : JOINT_LINEARIZATIONS;
    integer done = project_joints(rigid, rigid->pieces->joints, x, n, most < 1 ? 1 : most);
    rigid->linearizations[0] += done;
    rigid->linearizations[1] += done;
}

/* Projects all batches, the tautest first or last; returns the largest strain before. */
static real project_in_order(real *x, integer n, const strip_order *of, int backwards)
{
    real largest = 0.0;
    for (integer i = 0; i < of->batches_count; i++) {
        integer batch = of->order[backwards ? of->batches_count - 1 - i : i];
        largest = larger(largest, project_strips(x, n, of->batches + batch, 1));
    }
    return largest;
}

/* Sweeps over edges and tethers until no strain exceeds the tolerance, or sweeps stall; returns their
   number. */
static integer project_stretch(real *x, integer n, const surface *of, const piece_poses *rigid,
                               const goal_radii *limits, integer backwards, integer most)
{
    real least = __builtin_inf();
    sort_by_tension(of->edges);
    for (integer sweep = 0, stalled = 0; sweep < most; sweep++) {
        if (sweep)
            project_levels(x, n, of->levels, of->levels_count);
        project_tethers(x, n, of->tethers);
        project_goal_radii(x, n, limits);
        real largest = project_in_order(x, n, of->edges, backwards && !sweep);
        project_clusters(x, n, of->clusters);
        apply_constraints_to_pieces(rigid, x, n);
        if (largest < of->links->tolerance)
            return sweep + 1;
        stalled = largest < MIN_SWEEP_PROGRESS * least ? 0 : stalled + 1;
        least = stalled ? least : largest;
        if (sweep
            && (!limit_strain(x, of->links, MAX_STRAIN)
                || (stalled >= MAX_STALLED_SWEEPS && !of->levels_count)))
            return sweep + 1;
    }
    return most;
}

/* Projects lengths of ropes until they converge. */
static void project_ropes(real *x, integer n, const ropes *of)
{
    for (integer round = 0; of->strips_count && round < MAX_ROPE_ROUNDS; round++) {
        real range[2] = {0.0, 0.0};
        project_trees(x, n, of->trees);
        project_strips(x, n, of->rings, of->rings_count);
        strain_range(x, n, of->strips, of->strips_count, range);
        if (larger(-range[0], range[1]) < ROPE_STRAIN_TOLERANCE)
            return;
    }
}

EXPORT integer project_lengths(real *x, integer n, const body_lengths *of, const piece_poses *rigid,
                               const goal_radii *limits, integer backwards, integer single_sweep)
{
    integer sweeps = 0, most = single_sweep ? 1 : MAX_SWEEPS;
    project_weave(x, of->weave, of->weave_count);
    for (integer round = 0; round < of->seam_rounds; round++) {
        if (round)
            project_seams(x, n, of->seams, of->seams_count);
        sweeps += project_stretch(x, n, of->surface, rigid, limits, backwards, most);
    }
    integer rounds = !rigid && (!limits || single_sweep) ? 1 : ROPE_ROUNDS;
    for (integer round = 0; round < rounds; round++) {
        project_goal_radii(x, n, limits);
        project_ropes(x, n, of->ropes);
        project_seams(x, n, of->seams, of->seams_count);
        apply_constraints_to_pieces(rigid, x, n);
    }
    project_edges_of_pieces(rigid, x, n);
    return of->surface->edges->links ? sweeps : 0;
}
