/* Trees of paths: the functions of kernels.py, which has formulas and sources. */
#include "../linear/inverses.h"
#include "../stretch/strips.h"
#include "../team/team.h"

/* W = (1 + w K)^-1 w of a junction. */
static void find_mobility(const tree *all, integer junction)
{
    real w = all->inverse_masses[junction], *mobility = all->mobility + 9 * junction;
    for (int i = 0; i < 9; i++)
        mobility[i] = w * all->stiffness[9 * junction + i] + (i % 4 ? 0.0 : 1.0);
    invert_positive(mobility, 3);
    for (int i = 0; i < 9; i++)
        mobility[i] *= w;
}

/* Adds a junction's displacement under the force of its branches to the violation of a link that
   ends there; returns the junction's addition to the diagonal. */
static real load_link(const tree *all, integer junction, const real *along, real sign,
                      real *violation)
{
    real pushed[3], w = all->inverse_masses[junction];
    const real *mobility = all->mobility + 9 * junction;
    apply(mobility, all->force + 3 * junction, pushed);
    *violation += sign * dot(along, pushed);
    apply(mobility, along, pushed);
    return dot(along, pushed) - w * dot(along, along);
}

/* Eliminates a path's links from the first to the last, for violations and the response.

   Values of the link before stay in local variables: loads from memory take a third longer. */
static void eliminate(const tree *all, const generation *of, integer path, integer begin,
                      integer links, path_work at)
{
    const strip_batch *batch = of->batch;
    real inverse = 0.0, former_right = 0.0, former_response = 0.0;
    for (integer k = 0; k < links; k++) {
        integer link = begin + k, before = of->junctions[link];
        integer after = of->junctions[link + 1];
        const real *along = of->along + 3 * link;
        real pivot = batch->diagonal[link], right = at.violation[k], response = 0.0;
        if (k == 0 && of->supports[path] >= 0) {
            pivot -= batch->inverse_masses[begin];
            response = 1.0;
        }
        if (after >= 0)
            pivot += load_link(all, after, along, 1.0, &right);
        if (before >= 0)
            pivot += load_link(all, before, along, -1.0, &right);
        if (k) {
            real pushed[3] = {along[0], along[1], along[2]}, w = batch->inverse_masses[link];
            if (before >= 0) {
                apply(all->mobility + 9 * before, along, pushed);
                w = 1.0;
            }
            real beside = -w * dot(along - 3, pushed);
            real factor = beside * inverse;
            pivot -= factor * beside;
            right -= factor * former_right;
            response -= factor * former_response;
            at.off_diagonal[k] = factor;
        }
        at.pivot[k] = inverse = 1.0 / pivot;
        of->steps[link] = former_right = right;
        of->response[link] = former_response = response;
    }
}

/* Elongations of a path's links by displacements `moved` (3, n), in place of violations. */
static void measure_stretch(const real *moved, integer n, const strip_batch *batch, integer begin,
                            integer links, path_work at)
{
    for (integer k = 0; k < links; k++) {
        integer a = batch->path[begin + k], b = batch->path[begin + k + 1];
        at.violation[k] = at.across_x[k] * (moved[b] - moved[a])
                          + at.across_y[k] * (moved[n + b] - moved[n + a])
                          + at.across_z[k] * (moved[2 * n + b] - moved[2 * n + a]);
    }
}

/* Solves a path with its support fixed, and adds its force and stiffness to the support's.

   Violations are elongations by the displacements `moved`, unless that is NULL. */
static void solve_path(const real *positions, const real *moved, integer n, const tree *all,
                       const generation *of, integer path, integer begin, integer links, real *scratch)
{
    integer support = of->supports[path];
    path_work at = lay_out(scratch, links + 1);
    measure(positions, n, of->batch, begin, links, at);
    if (moved)
        measure_stretch(moved, n, of->batch, begin, links, at);
    for (integer k = 0; k < links; k++) {
        of->along[3 * (begin + k)] = at.across_x[k];
        of->along[3 * (begin + k) + 1] = at.across_y[k];
        of->along[3 * (begin + k) + 2] = at.across_z[k];
    }
    for (integer entry = begin; entry <= begin + links; entry++)
        if (of->junctions[entry] >= 0)
            find_mobility(all, of->junctions[entry]);
    eliminate(all, of, path, begin, links, at);
    real step = 0.0, response = 0.0;
    for (integer k = links - 1; k >= 0; k--) {
        integer link = begin + k;
        real factor = k + 1 < links ? at.off_diagonal[k + 1] : 0.0;
        of->steps[link] = step = of->steps[link] * at.pivot[k] - factor * step;
        of->response[link] = response = of->response[link] * at.pivot[k] - factor * response;
    }
    if (support >= 0) {
        const real *along = of->along + 3 * begin;
        for (int i = 0; i < 3; i++) {
            all->force[3 * support + i] += of->steps[begin] * along[i];
            for (int j = 0; j < 3; j++)
                all->stiffness[9 * support + 3 * i + j] += of->response[begin] * along[i]
                                                           * along[j];
        }
    }
}

/* Moves a path's particles, given the displacement of the junction that it hangs on. */
static void move_path(real *positions, integer n, const tree *all, const generation *of,
                      integer path, integer begin, integer links)
{
    const strip_batch *batch = of->batch;
    integer support = of->supports[path];
    real pulled = 0.0, before[3] = {0.0, 0.0, 0.0};
    if (support >= 0)
        pulled = dot(of->along + 3 * begin, all->displacement + 3 * support);
    for (integer k = 0; k <= links; k++) {
        integer entry = begin + k, junction = of->junctions[entry];
        real total[3] = {-before[0], -before[1], -before[2]}, moved[3];
        if (k < links) {
            real step = of->steps[entry] - of->response[entry] * pulled;
            batch->multipliers[entry] -= step;
            for (int axis = 0; axis < 3; axis++) {
                before[axis] = of->along[3 * entry + axis] * step;
                total[axis] += before[axis];
            }
        }
        for (int axis = 0; axis < 3; axis++)
            moved[axis] = total[axis] * batch->inverse_masses[entry];
        if (junction >= 0) {
            for (int axis = 0; axis < 3; axis++)
                total[axis] += all->force[3 * junction + axis];
            apply(all->mobility + 9 * junction, total, moved);
            for (int axis = 0; axis < 3; axis++)
                all->displacement[3 * junction + axis] = moved[axis];
        }
        if (k || support < 0)
            for (int axis = 0; axis < 3; axis++)
                positions[axis * n + batch->path[entry]] += moved[axis];
    }
}

/* Paths of one generation. */
typedef struct {
    real *positions, *moved;
    integer n;
    const tree *all;
    const generation *of;
} tree_paths;

static void solve_some_paths(const void *loop, integer part, real *scratch)
{
    const tree_paths *its = loop;
    const strip_batch *batch = its->of->batch;
    path_range own = paths_in(batch->ends, batch->paths, part, PATH_PART);
    for (integer p = own.first; p < own.last; p++) {
        integer begin = p ? batch->ends[p - 1] : 0, links = batch->ends[p] - begin - 1;
        solve_path(its->positions, its->moved, its->n, its->all, its->of, p, begin, links, scratch);
    }
}

static void move_some_paths(const void *loop, integer part, real *scratch)
{
    const tree_paths *its = loop;
    const strip_batch *batch = its->of->batch;
    real *moved = its->moved ? its->moved : its->positions;
    path_range own = paths_in(batch->ends, batch->paths, part, PATH_PART);
    (void)scratch;
    for (integer p = own.first; p < own.last; p++) {
        integer begin = p ? batch->ends[p - 1] : 0, links = batch->ends[p] - begin - 1;
        move_path(moved, its->n, its->all, its->of, p, begin, links);
    }
}

/* Solves the paths of a generation; those on supports may add to the same one, so they go in turn. */
static void solve_generation(const tree_paths *loop)
{
    const strip_batch *batch = loop->of->batch;
    integer parts = parts_of(batch->entries, PATH_PART);
    if (!loop->of->is_hung)
        share(parts, solve_some_paths, loop, batch->reals, batch->work);
    for (integer part = 0; loop->of->is_hung && part < parts; part++)
        solve_some_paths(loop, part, batch->work);
}

/* Solves all links of trees at once, and changes the displacements `moved`, or the positions if
   that is NULL. */
static void solve_trees(real *positions, real *moved, integer n, const tree *all)
{
    clear(all->stiffness, 9 * all->junctions);
    clear(all->force, 3 * all->junctions);
    for (integer i = all->generations_count - 1; i >= 0; i--) {
        tree_paths loop = {positions, moved, n, all, all->generations[i]};
        solve_generation(&loop);
    }
    for (integer i = 0; i < all->generations_count; i++) {
        tree_paths loop = {positions, moved, n, all, all->generations[i]};
        share(parts_of(loop.of->batch->entries, PATH_PART), move_some_paths, &loop, 0, NULL);
    }
}

/* One Newton step for all links of trees at once. */
EXPORT void project_trees(real *positions, integer n, const tree *all)
{
    solve_trees(positions, NULL, n, all);
}

/* Removes from displacements (3, n) the part that stretches links. */
EXPORT void remove_stretching(real *displacements, real *positions, integer n, const tree *all)
{
    solve_trees(positions, displacements, n, all);
}

/* Sets the unit vector from one particle to another; returns their distance. */
static inline real unit_vector(const real *positions, integer n, integer from, integer to, real along[3])
{
    for (int axis = 0; axis < 3; axis++)
        along[axis] = positions[axis * n + to] - positions[axis * n + from];
    real length = distance(along[0], along[1], along[2]), share = 1.0 / length;
    for (int axis = 0; axis < 3; axis++)
        along[axis] *= share;
    return length;
}

/* Adds the displacements of a link's ends by a pull (3,) between them. */
static inline void add_along(real *moved, integer n, const strip_batch *batch, integer link,
                             const real pull[3])
{
    integer a = batch->path[link], b = batch->path[link + 1];
    for (int axis = 0; axis < 3; axis++) {
        moved[axis * n + a] += batch->inverse_masses[link] * pull[axis];
        moved[axis * n + b] -= batch->inverse_masses[link + 1] * pull[axis];
    }
}

/* Adds displacements (3, n) by the forces of soft links at the start of a step. */
static void add_spring_forces(real *moved, const real *positions, integer n,
                              const strip_batch *batch)
{
    for (integer p = 0, begin = 0; batch->start_stiffnesses && p < batch->paths; begin = batch->ends[p++])
        for (integer link = begin; link + 1 < batch->ends[p]; link++) {
            real pull[3];
            real length = unit_vector(positions, n, batch->path[link], batch->path[link + 1], pull);
            for (int axis = 0; axis < 3; axis++)
                pull[axis] *= batch->start_stiffnesses[link] * (length - batch->rest_lengths[link]);
            add_along(moved, n, batch, link, pull);
        }
}

/* Restores the speed lost by projecting along the new directions of edges. */
static void undo_damping(real *previous, const real *start, const real *positions, integer n,
                         const strip_batch *batch)
{
    for (integer p = 0, begin = 0; p < batch->paths; begin = batch->ends[p++])
        for (integer link = begin; link + 1 < batch->ends[p]; link++) {
            real tension = larger(-batch->multipliers[link], 0.0);
            real mobility = batch->inverse_masses[link] + batch->inverse_masses[link + 1];
            real tautness = tension * mobility / (batch->reference_lengths[link] * RESOLVED_VIBRATION);
            integer a = batch->path[link], b = batch->path[link + 1];
            real turn[3], start_direction[3];
            unit_vector(positions, n, a, b, turn);
            unit_vector(start, n, a, b, start_direction);
            for (int axis = 0; axis < 3; axis++)
                turn[axis] = (turn[axis] - start_direction[axis]) * (tension / (1.0 + tautness * tautness));
            add_along(previous, n, batch, link, turn);
        }
}

EXPORT void add_start_spring_forces(real *moved, real *positions, integer n,
                                    const strip_batch *const *batches, integer count)
{
    for (integer i = 0; i < count; i++)
        add_spring_forces(moved, positions, n, batches[i]);
}

EXPORT void undo_implicit_damping(real *previous, real *start, real *positions, integer n,
                                  const strip_batch *const *batches, integer count)
{
    for (integer i = 0; i < count; i++)
        undo_damping(previous, start, positions, n, batches[i]);
}
