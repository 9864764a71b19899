/* Tension warm start of strips: the function of tension_warm_start.py, which has the
   formulas.

   Vectors (n, 3) have the components of a particle side by side here, for faster access. */
#include "../kernels.h"

static void clear_pinned(const strip_system *strip_system, real *vectors)
{
    for (integer i = 0; i < strip_system->pins; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * strip_system->pinned[i] + axis] = 0.0;
}

/* Sets h² T/l of all links and, as the first residual, h² times the force of tension and gas on
   each
   particle; returns whether any is not 0. */
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
        real x = positions[b] - positions[a], y = positions[n + b] - positions[n + a];
        real z = positions[2 * n + b] - positions[2 * n + a];
        real length = distance(x, y, z);
        real force_density = -strip_system->multipliers[k] / length;
        real tautness = force_density * strip_system->max_inverse_masses[k];
        force_density *= kept_share + (larger(TAUT_KEPT_SHARE, kept_share) - kept_share) * tautness / (tautness + min_tautness + NONZERO);
        force_density = smaller(force_density, MAX_LINK_TAUTNESS / strip_system->max_inverse_masses[k]);
        strip_system->force_densities[k] = force_density;
        any |= force_density > 0.0;
        strip_system->residual[3 * a] += force_density * x;
        strip_system->residual[3 * a + 1] += force_density * y;
        strip_system->residual[3 * a + 2] += force_density * z;
        strip_system->residual[3 * b] -= force_density * x;
        strip_system->residual[3 * b + 1] -= force_density * y;
        strip_system->residual[3 * b + 2] -= force_density * z;
    }
    clear_pinned(strip_system, strip_system->residual);
    return any;
}

/* Sets the multipliers to the tension at the new positions. */
static void write_multipliers(const real *positions, const strip_system *strip_system)
{
    integer n = strip_system->particles;
    for (integer k = 0; k + 1 < strip_system->entries; k++) {
        integer a = strip_system->path[k], b = strip_system->path[k + 1];
        strip_system->multipliers[k] = 0.0;
        if (strip_system->force_densities[k] == 0.0)
            continue;
        real x = positions[b] - positions[a], y = positions[n + b] - positions[n + a];
        real z = positions[2 * n + b] - positions[2 * n + a];
        strip_system->multipliers[k] = -(strip_system->force_densities[k] * distance(x, y, z));
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

/* Lists the stiff links, assembles the diagonal, and factorizes the taut strips; returns the number
   of stiff links. */
static integer assemble_system(const strip_system *strip_system, real min_tautness)
{
    integer n = strip_system->particles, stiff = 0;
    for (integer i = 0; i < n; i++) {
        strip_system->diagonal[i] = strip_system->masses[i];
        strip_system->shares[i] = 0.0;
    }
    for (integer p = 0, begin = 0; p < strip_system->paths; begin = strip_system->ends[p++]) {
        strip_system->is_taut[p] = 0;
        for (integer k = begin; k + 1 < strip_system->ends[p]; k++) {
            real tautness = strip_system->force_densities[k] * strip_system->max_inverse_masses[k];
            strip_system->is_taut[p] |= tautness > min_tautness;
            strip_system->stiff[stiff] = k;
            stiff += tautness > STIFF_LINK_SHARE * min_tautness;
        }
    }
    for (integer i = 0; i < stiff; i++) {
        integer k = strip_system->stiff[i];
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
    return stiff;
}

/* image = m u + sum over stiff links of h² T/l (u - u of the neighbour), for u = direction. */
static void multiply_system(const strip_system *strip_system, integer stiff)
{
    for (integer i = 0; i < strip_system->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            strip_system->image[3 * i + axis] = strip_system->direction[3 * i + axis] * strip_system->masses[i];
    for (integer i = 0; i < stiff; i++) {
        integer k = strip_system->stiff[i], a = 3 * strip_system->path[k], b = 3 * strip_system->path[k + 1];
        for (int axis = 0; axis < 3; axis++) {
            real across = (strip_system->direction[a + axis] - strip_system->direction[b + axis]) * strip_system->force_densities[k];
            strip_system->image[a + axis] += across;
            strip_system->image[b + axis] -= across;
        }
    }
    clear_pinned(strip_system, strip_system->image);
}

/* Adds to `preconditioned` the solution of a taut strip for the residual, times `shares`. */
static void precondition_strip(const strip_system *strip_system, integer begin, integer end)
{
    real *right = strip_system->right, last[3] = {0.0, 0.0, 0.0};
    for (integer k = begin; k < end; k++)
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = strip_system->residual[3 * strip_system->path[k] + axis] - strip_system->factor[k] * last[axis];
            right[3 * (k - begin) + axis] = last[axis];
        }
    for (integer k = end - 1; k >= begin; k--) {
        integer particle = strip_system->path[k];
        real factor = k + 1 < end ? strip_system->factor[k + 1] : 0.0;
        for (int axis = 0; axis < 3; axis++) {
            last[axis] = right[3 * (k - begin) + axis] * strip_system->inverse[k] - factor * last[axis];
            strip_system->preconditioned[3 * particle + axis] += last[axis] * strip_system->shares[particle];
        }
    }
}

/* Adds a step along the direction to the solution, and updates the residual. */
static void take_step(const strip_system *strip_system, real step)
{
    WIDE for (integer i = 0; i < 3 * strip_system->particles; i++) {
        strip_system->solution[i] += step * strip_system->direction[i];
        strip_system->residual[i] -= step * strip_system->image[i];
    }
}

/* Sets `preconditioned` to the solutions of single taut strips, and of particles on none, for the
   residual. */
static void precondition(const strip_system *strip_system)
{
    for (integer i = 0; i < strip_system->particles; i++) {
        real alone = strip_system->shares[i] > 0.0 ? 0.0 : strip_system->diagonal[i];
        for (integer at = 3 * i; at < 3 * i + 3; at++)
            strip_system->preconditioned[at] = strip_system->residual[at] * alone;
    }
    for (integer p = 0, begin = 0; p < strip_system->paths; begin = strip_system->ends[p++])
        if (strip_system->is_taut[p])
            precondition_strip(strip_system, begin, strip_system->ends[p]);
}

static real inner_product(const real *first, const real *second, integer n)
{
    real sums[3] = {0.0, 0.0, 0.0};
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            sums[axis] += first[3 * i + axis] * second[3 * i + axis];
    return sums[0] + sums[1] + sums[2];
}

/* Solves for the displacement that balances the forces. The first search direction is the
   displacement of the step before. Without rounds, the preconditioner alone is exact. */
static void conjugate_gradients(const strip_system *strip_system, integer stiff, integer rounds)
{
    integer n = strip_system->particles;
    real size = 0.0;
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            strip_system->direction[3 * i + axis] = strip_system->displacement[axis * n + i];
            strip_system->solution[3 * i + axis] = 0.0;
        }
    if (!rounds)
        precondition(strip_system);
    for (integer round = 0; round < rounds; round++) {
        if (round) {
            /* Conjugate directions start after the first one, which is not a gradient. */
            real previous = size;
            size = inner_product(strip_system->residual, strip_system->preconditioned, n);
            real share = round > 1 && previous > 0.0 ? size / previous : 0.0;
            WIDE for (integer i = 0; i < 3 * n; i++)
                strip_system->direction[i] = strip_system->preconditioned[i] + strip_system->direction[i] * share;
        }
        multiply_system(strip_system, stiff);
        real curvature = inner_product(strip_system->direction, strip_system->image, n);
        real slope = inner_product(strip_system->direction, strip_system->residual, n);
        take_step(strip_system, curvature > 0.0 ? slope / curvature : 0.0);
        precondition(strip_system);
    }
}

/* Starts a step from the share `kept_share` of the previous tension, in the new directions. */
EXPORT void warm_start_tension(real *positions, const strip_system *strip_system, real kept_share, real min_tautness,
                                   integer rounds)
{
    integer n = strip_system->particles;
    int any = find_force_densities(positions, strip_system, kept_share, min_tautness);
    if (any)
        conjugate_gradients(strip_system, assemble_system(strip_system, min_tautness), rounds);
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
