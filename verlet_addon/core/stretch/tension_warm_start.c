/* Tension warm start of strips: the function of tension_warm_start.py, which has the
   formulas.

   Vectors (n, 3) have the components of a particle side by side here, for faster access. Loops go over
   particles or, one colour after the other, over strips: those of one colour share no particle. */
#include "../team/team.h"

/* The system, and what its loops share. */
typedef struct {
    const strip_system *system;
    real *positions, kept_share, min_tautness;
    integer first, last;     /* entries of the strips of a loop, in parts of PATH_PART */
    real factor;             /* of the search direction */
    int acts;                /* whether gas or any tension acts */
} warm_start;

/* The strips in a part of a loop. */
static path_range strips_in(const warm_start *of, integer part)
{
    const strip_system *system = of->system;
    integer from = of->first + part * PATH_PART, to = from + PATH_PART;
    return (path_range){first_path(system->ends, system->paths, from),
                        first_path(system->ends, system->paths, to < of->last ? to : of->last)};
}

static integer begin_of(const strip_system *system, integer strip)
{
    return strip ? system->ends[strip - 1] : 0;
}

static void over_particles(const warm_start *of, part_function *run)
{
    share(parts_of(of->system->particles, PARTICLE_PART), run, of, 0, NULL);
}

static void over_strips(warm_start *of, part_function *run, integer first, integer last)
{
    of->first = first, of->last = last;
    share(parts_of(last - first, PATH_PART), run, of, of->system->reals, of->system->right);
}

static void over_colors(warm_start *of, part_function *run)
{
    for (integer color = 0; color < of->system->colors; color++)
        over_strips(of, run, of->system->starts[color], of->system->starts[color + 1]);
}

/* An inner product, the first or the second that the parts of the particles have summed. */
static real total(const warm_start *of, int which)
{
    real sums[3] = {0.0, 0.0, 0.0};
    for (integer part = 0; part < parts_of(of->system->particles, PARTICLE_PART); part++)
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += of->system->sums[6 * part + 3 * which + axis];
    return sums[0] + sums[1] + sums[2];
}

/* Sets the vector along link k; returns its length. */
static inline real link_vector(const real *positions, const strip_system *system, integer k,
                               real along[3])
{
    integer n = system->particles, a = system->path[k], b = system->path[k + 1];
    for (int axis = 0; axis < 3; axis++)
        along[axis] = positions[axis * n + b] - positions[axis * n + a];
    return distance(along[0], along[1], along[2]);
}

/* The forces of gas as the first residual, and the masses as the first diagonal. */
static void begin(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer n = system->particles, last = end_of(part, PARTICLE_PART, n);
    real most = 0.0;
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        for (int axis = 0; axis < 3; axis++) {
            real force = system->gas_forces[axis * n + i];
            system->residual[3 * i + axis] = force;
            most = larger(most, __builtin_fabs(force));
        }
        system->diagonal[i] = system->masses[i];
        system->shares[i] = 0.0;
    }
    system->sums[6 * part] = most;
}

/* h² T/l of link k, from the share of the previous tension that it keeps. */
static real previous_force_density(const warm_start *of, integer k, real along[3])
{
    const strip_system *system = of->system;
    real length = link_vector(of->positions, system, k, along);
    real force_density = -system->multipliers[k] / length;
    real tautness = force_density * system->max_inverse_masses[k], kept = of->kept_share;
    kept += (larger(TAUT_KEPT_SHARE, kept) - kept) * tautness / (tautness + of->min_tautness + NONZERO);
    return smaller(force_density * kept, MAX_LINK_TAUTNESS / system->max_inverse_masses[k]);
}

/* Adds the tension of a strip to the residual, and lists its stiff links, up to -1; returns whether it
   is taut. */
static int add_tension(const warm_start *of, integer begin, integer end)
{
    const strip_system *system = of->system;
    integer *stiff = system->stiff + begin;
    int is_taut = 0;
    for (integer k = begin; k + 1 < end; k++) {
        integer a = system->path[k], b = system->path[k + 1];
        system->force_densities[k] = 0.0;
        if (system->multipliers[k] >= 0.0 || !system->warm_started[k])
            continue;
        real along[3], force_density = previous_force_density(of, k, along);
        real tautness = force_density * system->max_inverse_masses[k];
        system->force_densities[k] = force_density;
        for (int axis = 0; axis < 3; axis++) {
            system->residual[3 * a + axis] += force_density * along[axis];
            system->residual[3 * b + axis] -= force_density * along[axis];
        }
        is_taut |= tautness > of->min_tautness;
        if (tautness > STIFF_LINK_SHARE * of->min_tautness) {
            *stiff++ = k;
            system->diagonal[a] += force_density;
            system->diagonal[b] += force_density;
        }
    }
    if (end < system->entries)
        system->force_densities[end - 1] = 0.0; /* in the gap to the next strip */
    *stiff = -1;
    return is_taut;
}

/* Sets h² T/l of all links and, as the first residual, h² times the force of tension and gas on each
   particle. */
static void find_force_densities(const void *loop, integer part, real *scratch)
{
    const strip_system *system = ((const warm_start *)loop)->system;
    path_range own = strips_in(loop, part);
    (void)scratch;
    for (integer p = own.first; p < own.last; p++) {
        integer first = begin_of(system, p), end = system->ends[p];
        system->is_taut[p] = (uint8_t)add_tension(loop, first, end);
        for (integer k = first; system->is_taut[p] && k < end; k++)
            system->shares[system->path[k]] += 1.0;
    }
}

/* Whether any gas or tension acts. */
static int find_any(const warm_start *of)
{
    for (integer part = 0; part < parts_of(of->system->particles, PARTICLE_PART); part++)
        if (of->system->sums[6 * part] != 0.0)
            return 1;
    for (integer k = 0; k + 1 < of->system->entries; k++)
        if (of->system->force_densities[k] > 0.0)
            return 1;
    return 0;
}

/* Factorizes the tridiagonal matrices of taut strips, whose particles their stiff links couple. */
static void factorize(const void *loop, integer part, real *scratch)
{
    const strip_system *system = ((const warm_start *)loop)->system;
    real stiff_tautness = STIFF_LINK_SHARE * ((const warm_start *)loop)->min_tautness;
    path_range own = strips_in(loop, part);
    (void)scratch;
    for (integer p = own.first; p < own.last; p++) {
        integer first = begin_of(system, p);
        real inverse = 0.0;
        for (integer k = first; system->is_taut[p] && k < system->ends[p]; k++) {
            real pivot = system->diagonal[system->path[k]], factor = 0.0;
            if (k > first) {
                real density = system->force_densities[k - 1];
                int is_stiff = density * system->max_inverse_masses[k - 1] > stiff_tautness;
                real beside = system->both_free[k - 1] && is_stiff ? -density : 0.0;
                factor = beside * inverse;
                pivot -= factor * beside;
            }
            system->factor[k] = factor;
            system->inverse[k] = inverse = 1.0 / pivot;
        }
    }
}

/* Inverts the diagonal; the displacement of the step before is the first direction. */
static void prepare(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer n = system->particles, last = end_of(part, PARTICLE_PART, n);
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        system->shares[i] = system->shares[i] > 0.0 ? 1.0 / system->shares[i] : 0.0;
        system->diagonal[i] = 1.0 / system->diagonal[i];
        for (int axis = 0; axis < 3; axis++) {
            integer at = 3 * i + axis;
            system->direction[at] = system->displacement[axis * n + i];
            system->image[at] = system->direction[at] * system->masses[i];
            system->solution[at] = 0.0;
            if (!system->free[i])
                system->residual[at] = 0.0;
        }
    }
}

/* image += sum over stiff links of h² T/l (u - u of the neighbour), for u = direction. */
static void multiply(const void *loop, integer part, real *scratch)
{
    const strip_system *system = ((const warm_start *)loop)->system;
    path_range own = strips_in(loop, part);
    (void)scratch;
    for (integer p = own.first; p < own.last; p++)
        for (const integer *k = system->stiff + begin_of(system, p); *k >= 0; k++) {
            integer a = 3 * system->path[*k], b = 3 * system->path[*k + 1];
            for (int axis = 0; axis < 3; axis++) {
                real across = system->direction[a + axis] - system->direction[b + axis];
                across *= system->force_densities[*k];
                system->image[a + axis] += across;
                system->image[b + axis] -= across;
            }
        }
}

/* Sums direction · image and direction · residual. */
static void measure_direction(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer last = end_of(part, PARTICLE_PART, system->particles);
    real *sums = system->sums + 6 * part;
    (void)scratch;
    clear(sums, 6);
    for (integer i = part * PARTICLE_PART; i < last; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer at = 3 * i + axis;
            if (!system->free[i])
                system->image[at] = 0.0;
            sums[axis] += system->direction[at] * system->image[at];
            sums[3 + axis] += system->direction[at] * system->residual[at];
        }
}

/* Sums residual · preconditioned. */
static void measure_residual(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer last = end_of(part, PARTICLE_PART, system->particles);
    real *sums = system->sums + 6 * part;
    (void)scratch;
    clear(sums, 3);
    for (integer i = part * PARTICLE_PART; i < last; i++)
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += system->residual[3 * i + axis] * system->preconditioned[3 * i + axis];
}

/* Goes `factor` along the direction, and preconditions the residual of particles on no taut strip. */
static void advance(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer last = end_of(part, PARTICLE_PART, system->particles);
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++) {
        real alone = system->shares[i] > 0.0 ? 0.0 : system->diagonal[i];
        for (integer at = 3 * i; at < 3 * i + 3; at++) {
            system->solution[at] += system->direction[at] * of->factor;
            system->residual[at] -= system->image[at] * of->factor;
            system->preconditioned[at] = system->residual[at] * alone;
        }
    }
}

/* Adds to `preconditioned` the solutions of taut strips for the residual, times `shares`. */
static void precondition(const void *loop, integer part, real *scratch)
{
    const strip_system *system = ((const warm_start *)loop)->system;
    path_range own = strips_in(loop, part);
    for (integer p = own.first; p < own.last; p++) {
        integer first = begin_of(system, p), end = system->is_taut[p] ? system->ends[p] : first;
        real before[3] = {0.0, 0.0, 0.0};
        for (integer k = first; k < end; k++)
            for (int axis = 0; axis < 3; axis++) {
                real here = system->residual[3 * system->path[k] + axis];
                scratch[3 * (k - first) + axis] = before[axis] = here - system->factor[k] * before[axis];
            }
        for (integer k = end - 1; k >= first; k--) {
            integer particle = system->path[k];
            real factor = k + 1 < end ? system->factor[k + 1] : 0.0;
            for (int axis = 0; axis < 3; axis++) {
                before[axis] = scratch[3 * (k - first) + axis] * system->inverse[k] - factor * before[axis];
                system->preconditioned[3 * particle + axis] += before[axis] * system->shares[particle];
            }
        }
    }
}

/* The next direction is `preconditioned` + `factor` times the former one. */
static void turn(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer last = end_of(part, PARTICLE_PART, system->particles);
    (void)scratch;
    for (integer i = part * PARTICLE_PART; i < last; i++)
        for (integer at = 3 * i; at < 3 * i + 3; at++) {
            real ahead = system->preconditioned[at];
            system->direction[at] = of->factor == 0.0 ? ahead : ahead + of->factor * system->direction[at];
            system->image[at] = system->direction[at] * system->masses[i];
        }
}

/* Solves for the displacement that balances the forces. The first search direction is the
   displacement of the step before. The preconditioner alone balances what is left, and without
   rounds it is exact. */
static void solve(warm_start *of, integer rounds)
{
    real size = 0.0;
    for (integer round = 0; round < rounds; round++) {
        if (round) {
            real former = size;
            over_particles(of, measure_residual);
            size = total(of, 0);
            if (!(size > 0.0))
                return;
            of->factor = round > 1 ? size / former : 0.0;
            over_particles(of, turn);
        }
        over_colors(of, multiply);
        over_particles(of, measure_direction);
        real curvature = total(of, 0), along = round ? size : total(of, 1);
        of->factor = round || curvature > 0.0 ? along / curvature : 0.0;
        over_particles(of, advance);
        over_colors(of, precondition);
    }
    if (!rounds) {
        of->factor = 0.0;
        over_particles(of, advance);
        over_colors(of, precondition);
    }
}

/* Moves particles by the solution. */
static void move(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    integer n = system->particles, last = end_of(part, PARTICLE_PART, n);
    (void)scratch;
    for (int axis = 0; axis < 3; axis++)
        for (integer i = part * PARTICLE_PART; i < last; i++) {
            integer at = 3 * i + axis;
            real moved = of->acts ? system->solution[at] + system->preconditioned[at] : 0.0;
            system->displacement[axis * n + i] = moved;
            if (of->acts)
                of->positions[axis * n + i] += moved;
        }
}

/* Sets the multipliers to the tension at the new positions. */
static void write_multipliers(const void *loop, integer part, real *scratch)
{
    const warm_start *of = loop;
    const strip_system *system = of->system;
    path_range own = strips_in(of, part);
    (void)scratch;
    for (integer p = own.first; p < own.last; p++) {
        integer end = system->ends[p];
        if (end < system->entries)
            system->multipliers[end - 1] = 0.0;
        for (integer k = begin_of(system, p); k + 1 < end; k++) {
            real along[3], force_density = system->force_densities[k];
            system->multipliers[k] = 0.0;
            if (force_density != 0.0)
                system->multipliers[k] = -(force_density * link_vector(of->positions, system, k, along));
        }
    }
}

/* Whether gas acts on any particle. */
static int has_gas(const strip_system *system)
{
    for (integer i = 0; i < 3 * system->particles; i++)
        if (system->gas_forces[i] != 0.0)
            return 1;
    return 0;
}

/* Starts a step from the share `kept_share` of the previous tension, in the new directions. */
EXPORT void warm_start_tension(real *positions, const strip_system *system, real kept_share,
                               real min_tautness, integer rounds)
{
    warm_start of = {.system = system, .positions = positions, .kept_share = kept_share,
                     .min_tautness = min_tautness};
    if (!system->keeps_tension && !has_gas(system)) {
        clear(system->multipliers, system->entries - 1);
        clear(system->displacement, 3 * system->particles);
        return;
    }
    over_particles(&of, begin);
    over_colors(&of, find_force_densities);
    of.acts = find_any(&of);
    if (of.acts) {
        over_strips(&of, factorize, 0, system->entries);
        over_particles(&of, prepare);
        solve(&of, rounds);
    }
    over_particles(&of, move);
    over_strips(&of, write_multipliers, 0, system->entries);
}
