/* Tension warm start of strips: the function of tension_warm_start.py, which has the
   formulas.

   Vectors (n, 3) have the components of a particle side by side here, for faster access. */
#include "../linear/conjugate_gradients.h"

/* Sets the vector along link k; returns its length. */
static real link_vector(const real *positions, const strip_system *strip_system, integer k, real along[3])
{
    integer n = strip_system->particles, a = strip_system->path[k], b = strip_system->path[k + 1];
    for (int axis = 0; axis < 3; axis++)
        along[axis] = positions[axis * n + b] - positions[axis * n + a];
    return distance(along[0], along[1], along[2]);
}

static void clear_pinned(const strip_system *strip_system, real *vectors)
{
    for (integer i = 0; i < strip_system->pins; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * strip_system->pinned[i] + axis] = 0.0;
}

/* Sets h² T/l of all links and, as the first residual, h² times the force of tension and gas on each particle; returns whether any is not 0. */
static int find_force_densities(const real *positions, const strip_system *strip_system, real kept_share, real min_tautness)
{
    integer n = strip_system->particles;
    int any = 0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            real gas_force = strip_system->gas_forces[axis * n + i];
            strip_system->residual[3 * i + axis] = gas_force;
            any |= gas_force != 0.0;
        }
    for (integer k = 0; k + 1 < strip_system->entries; k++) {
        integer a = strip_system->path[k], b = strip_system->path[k + 1];
        strip_system->force_densities[k] = 0.0;
        if (strip_system->multipliers[k] >= 0.0 || !strip_system->warm_started[k])
            continue;
        real along[3], length = link_vector(positions, strip_system, k, along);
        real force_density = -strip_system->multipliers[k] / length;
        real tautness = force_density * strip_system->max_inverse_masses[k];
        force_density *= kept_share + (larger(TAUT_KEPT_SHARE, kept_share) - kept_share) * tautness / (tautness + min_tautness + NONZERO);
        force_density = smaller(force_density, MAX_LINK_TAUTNESS / strip_system->max_inverse_masses[k]);
        strip_system->force_densities[k] = force_density;
        any |= force_density > 0.0;
        for (int axis = 0; axis < 3; axis++) {
            strip_system->residual[3 * a + axis] += force_density * along[axis];
            strip_system->residual[3 * b + axis] -= force_density * along[axis];
        }
    }
    clear_pinned(strip_system, strip_system->residual);
    return any;
}

/* Sets the multipliers to the tension at the new positions. */
static void write_multipliers(const real *positions, const strip_system *strip_system)
{
    for (integer k = 0; k + 1 < strip_system->entries; k++) {
        real along[3], force_density = strip_system->force_densities[k];
        strip_system->multipliers[k] = 0.0;
        if (force_density != 0.0)
            strip_system->multipliers[k] = -(force_density * link_vector(positions, strip_system, k, along));
    }
}

/* Factorizes the tridiagonal matrix of a strip, whose particles its stiff links couple. */
static void factorize(const strip_system *strip_system, integer begin, integer end, real stiff_tautness)
{
    real inverse = 0.0;
    for (integer k = begin; k < end; k++) {
        real pivot = strip_system->diagonal[strip_system->path[k]], factor = 0.0;
        if (k > begin) {
            int is_stiff = strip_system->force_densities[k - 1] * strip_system->max_inverse_masses[k - 1] > stiff_tautness;
            real beside = strip_system->both_free[k - 1] && is_stiff ? -strip_system->force_densities[k - 1] : 0.0;
            factor = beside * inverse;
            pivot -= factor * beside;
        }
        strip_system->factor[k] = factor;
        strip_system->inverse[k] = inverse = 1.0 / pivot;
    }
}

/* Lists the stiff links, up to -1, assembles the diagonal, and factorizes the taut strips. */
static void assemble_system(const strip_system *strip_system, real min_tautness)
{
    integer n = strip_system->particles, *stiff = strip_system->stiff;
    for (integer i = 0; i < n; i++) {
        strip_system->diagonal[i] = strip_system->masses[i];
        strip_system->shares[i] = 0.0;
    }
    for (integer p = 0, begin = 0; p < strip_system->paths; begin = strip_system->ends[p++]) {
        strip_system->is_taut[p] = 0;
        for (integer k = begin; k + 1 < strip_system->ends[p]; k++) {
            real tautness = strip_system->force_densities[k] * strip_system->max_inverse_masses[k];
            strip_system->is_taut[p] |= tautness > min_tautness;
            *stiff = k;
            stiff += tautness > STIFF_LINK_SHARE * min_tautness;
        }
    }
    *stiff = -1;
    for (integer i = 0, k; (k = strip_system->stiff[i]) >= 0; i++) {
        strip_system->diagonal[strip_system->path[k]] += strip_system->force_densities[k];
        strip_system->diagonal[strip_system->path[k + 1]] += strip_system->force_densities[k];
    }
    for (integer p = 0, begin = 0; p < strip_system->paths; begin = strip_system->ends[p++])
        if (strip_system->is_taut[p]) {
            factorize(strip_system, begin, strip_system->ends[p], STIFF_LINK_SHARE * min_tautness);
            for (integer k = begin; k < strip_system->ends[p]; k++)
                strip_system->shares[strip_system->path[k]] += 1.0;
        }
    for (integer i = 0; i < n; i++) {
        strip_system->shares[i] = strip_system->shares[i] > 0.0 ? 1.0 / strip_system->shares[i] : 0.0;
        strip_system->diagonal[i] = 1.0 / strip_system->diagonal[i];
    }
}

static real inner_product(const real *first, const real *second, integer n)
{
    real sums[3] = {0.0, 0.0, 0.0};
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += first[3 * i + axis] * second[3 * i + axis];
    return sums[0] + sums[1] + sums[2];
}

/* image = m u + sum over stiff links of h² T/l (u - u of the neighbour), for u = direction. */
static real multiply_system(const void *of, const real *direction, real *image)
{
    const strip_system *strip_system = of;
    for (integer i = 0; i < strip_system->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            image[3 * i + axis] = direction[3 * i + axis] * strip_system->masses[i];
    for (integer i = 0, k; (k = strip_system->stiff[i]) >= 0; i++) {
        integer a = 3 * strip_system->path[k], b = 3 * strip_system->path[k + 1];
        for (int axis = 0; axis < 3; axis++) {
            real across = (direction[a + axis] - direction[b + axis]) * strip_system->force_densities[k];
            image[a + axis] += across;
            image[b + axis] -= across;
        }
    }
    clear_pinned(strip_system, image);
    return inner_product(direction, image, strip_system->particles);
}

/* Adds to `preconditioned` the solution of a taut strip for the residual, times `shares`. */
static void precondition_strip(const strip_system *strip_system, integer begin, integer end,
                               const real *residual, real *preconditioned)
{
    real *right = strip_system->right, last[3] = {0.0, 0.0, 0.0};
    for (integer k = begin; k < end; k++)
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = residual[3 * strip_system->path[k] + axis] - strip_system->factor[k] * last[axis];
            right[3 * (k - begin) + axis] = last[axis];
        }
    for (integer k = end - 1; k >= begin; k--) {
        integer particle = strip_system->path[k];
        real factor = k + 1 < end ? strip_system->factor[k + 1] : 0.0;
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = right[3 * (k - begin) + axis] * strip_system->inverse[k] - factor * last[axis];
            preconditioned[3 * particle + axis] += last[axis] * strip_system->shares[particle];
        }
    }
}

/* Sets `preconditioned` to the solutions of single taut strips, and of particles on none, for the
   residual. */
static real precondition(const void *of, const real *residual, real *preconditioned)
{
    const strip_system *strip_system = of;
    for (integer i = 0; i < strip_system->particles; i++) {
        real alone = strip_system->shares[i] > 0.0 ? 0.0 : strip_system->diagonal[i];
        for (integer at = 3 * i; at < 3 * i + 3; at++)
            preconditioned[at] = residual[at] * alone;
    }
    for (integer p = 0, begin = 0; p < strip_system->paths; begin = strip_system->ends[p++])
        if (strip_system->is_taut[p])
            precondition_strip(strip_system, begin, strip_system->ends[p], residual, preconditioned);
    return inner_product(residual, preconditioned, strip_system->particles);
}

/* Solves for the displacement that balances the forces. The first search direction is the
   displacement of the step before. Without rounds, the preconditioner alone is exact. */
static void solve(const strip_system *strip_system, integer rounds)
{
    integer n = strip_system->particles;
    real *direction = strip_system->direction, *image = strip_system->image, *residual = strip_system->residual;
    conjugate_gradients state = {strip_system, multiply_system, precondition, 3 * n, strip_system->solution,
                                 residual, direction, image, strip_system->preconditioned, 0.0};
    interleave(strip_system->displacement, n, direction);
    clear(strip_system->solution, 3 * n);
    if (rounds) {
        real curvature = multiply_system(strip_system, direction, image);
        real step = curvature > 0.0 ? inner_product(direction, residual, n) / curvature : 0.0;
        add_scaled(strip_system->solution, direction, 3 * n, step);
        add_scaled(residual, image, 3 * n, -step);
    }
    begin_conjugate_gradients(&state);
    iterate_conjugate_gradients(&state, rounds - 1, 0.0);
}

/* Starts a step from the share `kept_share` of the previous tension, in the new directions. */
EXPORT void warm_start_tension(real *positions, const strip_system *strip_system, real kept_share, real min_tautness,
                                   integer rounds)
{
    integer n = strip_system->particles;
    int any = find_force_densities(positions, strip_system, kept_share, min_tautness);
    if (any) {
        assemble_system(strip_system, min_tautness);
        solve(strip_system, rounds);
    }
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            integer at = 3 * i + axis;
            real moved = any ? strip_system->solution[at] + strip_system->preconditioned[at] : 0.0;
            strip_system->displacement[axis * n + i] = moved;
            if (any)
                positions[axis * n + i] += moved;
        }
    write_multipliers(positions, strip_system);
}
