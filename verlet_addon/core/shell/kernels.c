/* Shells: the same as the functions of kernels.py. */
#include "../bending/hinges.h"
#include "../linear/nested_dissection.h"

/* vector = Σ coefficient × point over the members of a spring; strides are distances in the arrays. */
static inline void gather(const real *points, const integer *members, integer members_stride,
                          const real *coefficients, integer stride, real vector[3])
{
    clear(vector, 3);
    for (int k = 0; k < MEMBERS; k++) {
        const real *point = points + 3 * members[k * members_stride];
        for (int axis = 0; axis < 3; axis++)
            vector[axis] += coefficients[k * stride] * point[axis];
    }
}

/* Linearizes one spring: gradient, isotropic stiffness and forces; returns its energy. */
static real linearize_spring(const shell *system, const real *points, real *pulls, integer i)
{
    integer s = system->springs, every = s + system->angles;
    real vector[3], direction[3], rest = system->rests[i], stiffness = system->stiffnesses[i];
    gather(points, system->members + i, every, system->coefficients + i, s, vector);
    if (i < system->hinges) {
        const real *at[MEMBERS];
        for (int k = 0; k < MEMBERS; k++)
            at[k] = points + 3 * system->members[k * every + i];
        hinge_direction(at[0], at[1], at[2], at[3], vector, rest, direction);
    } else {
        real size = distance(vector[0], vector[1], vector[2]);
        for (int axis = 0; axis < 3; axis++)
            direction[axis] = vector[axis] / size;
    }
    real along = dot(vector, direction);
    real tension_share = 1.0 - rest / (along == 0.0 ? NONZERO : along);
    tension_share = rest == 0.0 ? 1.0 : smaller(larger(tension_share, 0.0), 1.0);
    real root = __builtin_sqrt(stiffness * (1.0 - tension_share)), energy = 0.0;
    system->isotropic_stiffnesses[i] = stiffness * tension_share;
    for (int axis = 0; axis < 3; axis++) {
        real violation = vector[axis] - rest * direction[axis];
        energy += violation * violation;
        vector[axis] = stiffness * violation;
        direction[axis] *= root;
    }
    for (int k = 0; k < MEMBERS; k++) {
        real c = system->coefficients[k * s + i];
        real *pull = pulls + 3 * system->members[k * every + i];
        for (int axis = 0; axis < 3; axis++) {
            system->gradients[(3 * k + axis) * every + i] = c * direction[axis];
            pull[axis] -= c * vector[axis];
        }
    }
    return 0.5 * stiffness * energy;
}

/* Linearizes one angle: gradient and forces; returns its energy. */
static real linearize_angle(const shell *system, const real *points, real *pulls, integer i)
{
    integer s = system->springs, a = system->angles, every = s + a;
    const integer *members = system->members + s + i;
    real one[3], other[3], by_one[3], by_other[3];
    gather(points, members, every, system->first + i, a, one);
    gather(points, members, every, system->second + i, a, other);
    real size = larger(__builtin_sqrt(dot(one, one)), NONZERO);
    real other_size = larger(__builtin_sqrt(dot(other, other)), NONZERO);
    for (int axis = 0; axis < 3; axis++) {
        one[axis] /= size;
        other[axis] /= other_size;
    }
    real cosine = dot(one, other), root = __builtin_sqrt(system->angle_stiffnesses[i]);
    for (int axis = 0; axis < 3; axis++) {
        by_one[axis] = (other[axis] - cosine * one[axis]) / size;
        by_other[axis] = (one[axis] - cosine * other[axis]) / other_size;
    }
    real turned = root * (cosine - system->angle_rests[i]);
    for (int k = 0; k < MEMBERS; k++) {
        real *pull = pulls + 3 * members[k * every];
        for (int axis = 0; axis < 3; axis++) {
            real slope = (system->first[k * a + i] * by_one[axis]
                          + system->second[k * a + i] * by_other[axis]) * root;
            system->gradients[(3 * k + axis) * every + s + i] = slope;
            pull[axis] -= slope * turned;
        }
    }
    return 0.5 * turned * turned;
}

/* Linearizes springs and angles at positions (3, n), writes forces to pull (3, n); returns the energy. */
EXPORT real linearize_shell(const shell *system, const real *positions, real *pull)
{
    integer n = system->particles;
    real *points = system->interleaved, *pulls = points + 3 * n, energy = 0.0;
    interleave(positions, n, points);
    clear(pulls, 3 * n);
    for (integer i = 0; i < system->springs; i++)
        energy += linearize_spring(system, points, pulls, i);
    for (integer i = 0; i < system->angles; i++)
        energy += linearize_angle(system, points, pulls, i);
    deinterleave(pulls, n, pull);
    return energy;
}

/* found = (M + h² K) moves, both (3, n). */
EXPORT void multiply_shell(const shell *system, const real *moves, real *found)
{
    integer n = system->particles, s = system->springs, every = s + system->angles;
    real *points = system->interleaved, *pulls = points + 3 * n;
    interleave(moves, n, points);
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            pulls[3 * i + axis] = system->masses[i] * points[3 * i + axis];
    for (integer i = 0; i < every; i++) {
        const integer *members = system->members + i;
        const real *gradients = system->gradients + i;
        real product = 0.0, vector[3] = {0.0, 0.0, 0.0};
        if (i < s)
            gather(points, members, every, system->coefficients + i, s, vector);
        for (int k = 0; k < MEMBERS; k++)
            for (int axis = 0; axis < 3; axis++)
                product += gradients[(3 * k + axis) * every] * points[3 * members[k * every] + axis];
        real isotropic_stiffnesses = i < s ? system->isotropic_stiffnesses[i] : 0.0;
        for (int k = 0; k < MEMBERS; k++) {
            real c = i < s ? system->coefficients[k * s + i] * isotropic_stiffnesses : 0.0;
            for (int axis = 0; axis < 3; axis++)
                pulls[3 * members[k * every] + axis] += gradients[(3 * k + axis) * every] * product
                                                        + c * vector[axis];
        }
    }
    deinterleave(pulls, n, found);
}

/* Rotates the vector of free particle i by the rotation (c, 3, 3) of its component, or by its inverse. */
static void rotate(const factored_shell *of, const real *rotations, integer i, const real from[3],
                 real to[3], int back)
{
    const real *r = rotations + 9 * of->components[of->free[i]];
    for (int axis = 0; axis < 3; axis++) {
        real sum = 0.0;
        for (int other = 0; other < 3; other++)
            sum += (back ? r[3 * other + axis] : r[3 * axis + other]) * from[other];
        to[axis] = sum;
    }
}

/* found = R A⁻¹ Rᵀ right, both (3, n): the matrix A factorized earlier, and rotations R since. */
EXPORT void precondition_shell(const factored_shell *of, const real *rotations, const real *right, integer n,
                               real *found)
{
    real *values = of->system->values, given[3], turned[3];
    for (integer i = 0; i < of->free_count; i++) {
        for (int axis = 0; axis < 3; axis++)
            given[axis] = right[axis * n + of->free[i]];
        rotate(of, rotations, i, given, values + 3 * i, 1);
    }
    solve_dissected_system(of->system);
    clear(found, 3 * n);
    for (integer i = 0; i < of->free_count; i++) {
        rotate(of, rotations, i, values + 3 * i, turned, 0);
        for (int axis = 0; axis < 3; axis++)
            found[axis * n + of->free[i]] = turned[axis];
    }
}
