/* Woven cloth, in one implicit step of all patches: project_weave of kernels.py.

   Vectors (n, 3) have the components of a particle side by side here, for faster access. */
#include "../linear/conjugate_gradients.h"

/* Strains of a patch and its tangent stiffness; see Strain. */
typedef struct {
    real along[2][2][3]; /* by side, then warp and weft */
    real shear_gradients[2][3];
    real axial_stiffnesses[2][2], geometric_stiffnesses[2][2];
} patch_strain;

_Static_assert(sizeof(patch_strain) == STRAIN_NUMBERS * sizeof(real), "kernels.py");

static patch_strain *strain_of(const weave_batch *all, integer t)
{
    return (patch_strain *)all->strains + t;
}

/* Sets w1, w2 and w3 of a patch for vectors (n, 3). */
static inline void gather(const weave_batch *all, integer t, const real *vectors, real w[3][3])
{
    const integer *corners = all->corners + 4 * t;
    const real *gradients = all->gradients + 12 * t;
    const real *a = vectors + 3 * corners[0], *b = vectors + 3 * corners[1];
    const real *c = vectors + 3 * corners[2], *d = vectors + 3 * corners[3];
    for (int k = 0; k < 3; k++)
        for (int axis = 0; axis < 3; axis++)
            w[k][axis] = gradients[k] * a[axis] + gradients[3 + k] * b[axis]
                            + gradients[6 + k] * c[axis] + gradients[9 + k] * d[axis];
}

/* Adds the forces on w1, w2 and w3 of a patch to its particles. */
static inline void scatter(const weave_batch *all, integer t, real forces[3][3], real *vectors)
{
    const integer *corners = all->corners + 4 * t;
    const real *gradients = all->gradients + 12 * t;
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * corners[i] + axis] += gradients[3 * i] * forces[0][axis]
                                              + gradients[3 * i + 1] * forces[1][axis]
                                              + gradients[3 * i + 2] * forces[2][axis];
}

/* Sets the vectors of pinned particles to 0. */
static void clear_pinned(const weave_batch *all, real *vectors)
{
    for (integer i = 0; i < all->particles; i++)
        for (int axis = 0; axis < 3; axis++)
            vectors[3 * i + axis] *= all->free[i];
}

/* Measures warp or weft (k) at one side of a patch, and adds its forces to those on w. */
static void measure_side(const weave_batch *all, integer t, int side, int k, real w[3][3],
                         real forces[3][3])
{
    patch_strain *at = strain_of(all, t);
    real *along = at->along[side][k], rest = all->rests[2 * t + k];
    real hourglass_gradient = all->hourglass_gradients[2 * t + k], hourglass_offset = side ? -hourglass_gradient : hourglass_gradient;
    for (int axis = 0; axis < 3; axis++)
        along[axis] = w[k][axis] + hourglass_offset * w[2][axis];
    real length = distance(along[0], along[1], along[2]);
    real folded = MAX_BUCKLING * rest, elongation = length - rest;
    real soft = all->compression_stiffnesses[2 * t + k], hard = all->stiffnesses[3 * t + k];
    real firm = elongation < 0.0 && elongation > -folded ? soft : hard;
    real tension = elongation > -folded ? firm * elongation : hard * (elongation + folded) - soft * folded;
    at->geometric_stiffnesses[side][k] = larger(tension, -tension) / length;
    at->axial_stiffnesses[side][k] = firm - at->geometric_stiffnesses[side][k];
    for (int axis = 0; axis < 3; axis++) {
        along[axis] /= length;
        forces[k][axis] -= tension * along[axis];
        forces[2][axis] -= hourglass_offset * tension * along[axis];
    }
}

/* Measures the strains of all patches at `points` and the residual there; returns its product with
   the displacements `moved`. */
static real measure(const weave_batch *all)
{
    real product = 0.0;
    clear(all->residual, 3 * all->particles);
    for (integer t = 0; t < all->count; t++) {
        real w[3][3], mean[2][3], lengths[2], forces[3][3] = {{0}};
        gather(all, t, all->points, w);
        for (int k = 0; k < 2; k++) {
            lengths[k] = distance(w[k][0], w[k][1], w[k][2]);
            for (int axis = 0; axis < 3; axis++)
                mean[k][axis] = w[k][axis] / lengths[k];
        }
        real shear = dot(mean[0], mean[1]);
        for (int k = 0; k < 2; k++) {
            for (int axis = 0; axis < 3; axis++) {
                real skew = (mean[1 - k][axis] - shear * mean[k][axis]) / lengths[k];
                strain_of(all, t)->shear_gradients[k][axis] = skew;
                forces[k][axis] = -all->stiffnesses[3 * t + 2] * shear * skew;
            }
            for (int side = 0; side < 2; side++)
                measure_side(all, t, side, k, w, forces);
        }
        scatter(all, t, forces, all->residual);
    }
    clear_pinned(all, all->residual);
    for (integer i = 0; i < 3 * all->particles; i++) {
        all->residual[i] -= all->multipliers[i % 3 * all->particles + i / 3];
        product += all->residual[i] * all->moved[i];
    }
    return product;
}

/* Adds the stiffness of a patch between two of its corners to a block of the matrix. */
static inline void add_block(const real sides[4][6], const real gradients[4][4],
                             const real skews[4][3], real shear, int a, int b, real *block)
{
    real firm[6] = {0.0};
    for (int side = 0; side < 4; side++) {
        real both = gradients[side][a] * gradients[side][b];
        for (int k = 0; k < 6; k++)
            firm[k] += both * sides[side][k];
    }
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            block[3 * row + column] += firm[row == column ? row : 6 - row - column]
                                       + shear * skews[a][row] * skews[b][column];
}

/* Adds the stiffness of a patch to the matrix. */
static void add_patch(const weave_batch *all, integer t)
{
    const patch_strain *at = strain_of(all, t);
    const integer *corners = all->corners + 4 * t, *pair_blocks = all->pairs->numbers + 6 * t;
    real sides[4][6], gradients[4][4], skews[4][3], shear = all->stiffnesses[3 * t + 2];
    for (int i = 0; i < 4; i++) {
        const real *slope = all->gradients + 12 * t + 3 * i;
        for (int axis = 0; axis < 3; axis++)
            skews[i][axis] = slope[0] * at->shear_gradients[0][axis] + slope[1] * at->shear_gradients[1][axis];
        for (int side = 0; side < 4; side++) {
            real hourglass_gradient = all->hourglass_gradients[2 * t + side % 2];
            gradients[side][i] = slope[side % 2] + (side / 2 ? -hourglass_gradient : hourglass_gradient) * slope[2];
        }
    }
    for (int side = 0; side < 4; side++) {
        const real *along = at->along[side / 2][side % 2];
        real axial = at->axial_stiffnesses[side / 2][side % 2], geometric = at->geometric_stiffnesses[side / 2][side % 2];
        for (int a = 0; a < 3; a++) {
            sides[side][a] = geometric + axial * along[a] * along[a];
            sides[side][3 + a] = axial * along[(a + 1) % 3] * along[(a + 2) % 3];
        }
    }
    for (int a = 0, pair = 0; a < 4; a++) {
        add_block(sides, gradients, skews, shear, a, a, all->diagonal + 9 * corners[a]);
        for (int b = a + 1; b < 4; b++, pair++)
            if (pair_blocks[pair] >= 0 && corners[a] < corners[b])
                add_block(sides, gradients, skews, shear, a, b, all->pairs->blocks + 9 * pair_blocks[pair]);
            else if (pair_blocks[pair] >= 0)
                add_block(sides, gradients, skews, shear, b, a, all->pairs->blocks + 9 * pair_blocks[pair]);
    }
}

/* Assembles the matrix of masses and patches, and inverts its diagonal blocks; those of pinned
   particles become 0. */
static void assemble(const weave_batch *all)
{
    clear(all->pairs->blocks, 9 * all->pairs->count);
    for (integer i = 0; i < 9 * all->particles; i++)
        all->diagonal[i] = i % 9 % 4 ? 0.0 : all->masses[i / 9];
    for (integer t = 0; t < all->count; t++)
        add_patch(all, t);
    for (integer i = 0; i < all->particles; i++) {
        real *block = all->diagonal + 9 * i, cofactors[9];
        for (int a = 0; a < 3; a++)
            cross(block + 3 * ((a + 1) % 3), block + 3 * ((a + 2) % 3), cofactors + 3 * a);
        real size = dot(block, cofactors);
        for (int k = 0; k < 9; k++)
            all->blocks[9 * i + k] = cofactors[k] * (all->free[i] / size);
    }
}

/* The matrix times a vector that is 0 at pinned particles; the product there is not used. */
static real multiply(const void *of, const real *vector, real *result)
{
    const weave_batch *all = of;
    real product = 0.0;
    for (integer i = 0; i < all->particles; i++)
        for (int a = 0; a < 3; a++)
            result[3 * i + a] = dot(all->diagonal + 9 * i + 3 * a, vector + 3 * i);
    for (integer i = 0; i < all->particles; i++) {
        const real *own = vector + 3 * i;
        real total[3] = {0.0, 0.0, 0.0};
        for (integer pair = all->pairs->starts[i]; pair < all->pairs->starts[i + 1]; pair++) {
            const real *block = all->pairs->blocks + 9 * pair, *other = vector + 3 * all->pairs->others[pair];
            real *answer = result + 3 * all->pairs->others[pair];
            for (int a = 0; a < 3; a++) {
                total[a] += dot(block + 3 * a, other);
                answer[a] += block[a] * own[0] + block[3 + a] * own[1] + block[6 + a] * own[2];
            }
        }
        for (int a = 0; a < 3; a++)
            result[3 * i + a] += total[a];
    }
    for (integer i = 0; i < 3 * all->particles; i++)
        product += vector[i] * result[i];
    return product;
}

/* The inverted diagonal blocks times a vector. */
static real precondition(const void *of, const real *vector, real *result)
{
    const weave_batch *all = of;
    real total = 0.0;
    for (integer i = 0; i < all->particles; i++)
        for (int a = 0; a < 3; a++) {
            real value = dot(all->blocks + 9 * i + 3 * a, vector + 3 * i);
            result[3 * i + a] = value;
            total += vector[3 * i + a] * value;
        }
    return total;
}

/* Solves for the displacements `moved` by conjugate gradients; returns their inner product with the
   first residual. */
static real solve(const weave_batch *all)
{
    conjugate_gradients state = {all, multiply, precondition, 3 * all->particles, all->moved,
                                 all->residual, all->search, all->along, all->ahead, 0.0};
    clear(all->moved, 3 * all->particles);
    interleave(all->multipliers, all->particles, all->along);
    real small = WEAVE_RESIDUAL * WEAVE_RESIDUAL * precondition(all, all->along, all->ahead);
    small = larger(small, NEGLIGIBLE_RESIDUAL * begin_conjugate_gradients(&state));
    return iterate_conjugate_gradients(&state, MAX_WEAVE_CG_ROUNDS, small);
}

/* Moves all particles by a share of `moved`; returns the product of the residual there with it. */
static real advance(const weave_batch *all, real share)
{
    for (integer i = 0; i < 3 * all->particles; i++) {
        real move = share * all->moved[i];
        all->points[i] += move;
        all->multipliers[i % 3 * all->particles + i / 3] += all->masses[i / 3] * move;
    }
    return measure(all);
}

/* Line search along `moved`; `before` is the residual's product with it: see `_line_search`. */
static void line_search(const weave_batch *all, real before)
{
    if (before <= 0.0)
        return;
    real curvature = WOLFE_CURVATURE * before, low = 0.0, high = 1.0, at = 1.0;
    real after = advance(all, 1.0);
    if (after > -curvature)
        return;
    for (integer k = 0; k < LINE_SEARCH_ROUNDS; k++) {
        real share = low + (high - low) * larger(before / (before - after), WOLFE_CURVATURE);
        real product = advance(all, share - at);
        at = share;
        if (product > curvature)
            low = at, before = product;
        else if (product < -curvature)
            high = at, after = product;
        else
            return;
    }
}

/* One Newton step for all patches at once. */
static void project_batch(real *positions, const weave_batch *all)
{
    integer n = all->particles;
    for (integer i = 0; i < 3 * n; i++) {
        integer row = i % 3 * n + i / 3;
        all->points[i] = positions[row];
        all->moved[i] = all->displacement[row] - all->multipliers[row] / all->masses[i / 3];
        all->moved[i] *= all->free[i / 3];
    }
    line_search(all, measure(all));
    assemble(all);
    line_search(all, solve(all));
    for (integer i = 0; i < 3 * n; i++) {
        integer row = i % 3 * n + i / 3;
        positions[row] = all->points[i];
        all->displacement[row] = all->multipliers[row] / all->masses[i / 3];
    }
}

EXPORT void project_weave(real *positions, const weave_batch *const *batches, integer count)
{
    for (integer i = 0; i < count; i++)
        project_batch(positions, batches[i]);
}
