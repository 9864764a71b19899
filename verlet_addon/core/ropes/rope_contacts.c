/* Contacts coupled by ropes: the functions of numpy_rope_contacts.py, which has the formulas. */
#include "../kernels.h"

/* Sets the responses (3 k, k, 3) of k contacts to displacements `fields` (3 k, 3, n), one by the
   unit impulse of each contact and direction. */
EXPORT void gather_responses(integer k, integer n, const real *fields, const integer *particles,
                           const real *shares, const real *directions, real *responses)
{
    for (integer f = 0; f < 3 * k; f++)
        for (integer row = 0; row < k; row++) {
            real moved[3], *response = responses + 3 * (f * k + row);
            for (integer axis = 0; axis < 3; axis++) {
                const real *field = fields + 3 * n * f + n * axis;
                moved[axis] = 0.0;
                for (integer corner = 0; corner < 4; corner++)
                    moved[axis] += shares[corner * k + row] * field[particles[corner * k + row]];
            }
            for (integer e = 0; e < 3; e++)
                response[e] = moved[0] * directions[(3 * e) * k + row]
                           + moved[1] * directions[(3 * e + 1) * k + row]
                           + moved[2] * directions[(3 * e + 2) * k + row];
        }
}

static real absolute(real value) { return value < 0.0 ? -value : value; }

/* Adds an impulse times the responses (3 k,) to a unit impulse to all separations (3 k,). */
static void apply_impulse(integer size, const real *responses, real impulse, real *separations)
{
    if (impulse != 0.0)
        for (integer i = 0; i < size; i++)
            separations[i] += responses[i] * impulse;
}

/* Solves one contact; returns its largest displacement by the changes of its own impulses [m]. */
static real solve_contact(integer row, integer size, const real *responses, real *separations, real target,
                      real friction, real *impulse)
{
    const real *normal = responses + 3 * row * size, *first = normal + size, *second = first + size;
    const real *here = separations + 3 * row;
    integer own = 3 * row;
    real before[3] = {impulse[0], impulse[1], impulse[2]};
    impulse[0] = larger(before[0] + (target - here[0]) / normal[own], 0.0);
    apply_impulse(size, normal, impulse[0] - before[0], separations);
    real a = first[own + 1], b = first[own + 2], c = second[own + 1], d = second[own + 2];
    real determinant = larger(a * d - b * c, NONZERO);
    real tangential[2] = {before[1] - (d * here[1] - c * here[2]) / determinant,
                      before[2] - (a * here[2] - b * here[1]) / determinant};
    real length = __builtin_sqrt(tangential[0] * tangential[0] + tangential[1] * tangential[1]);
    real share = smaller(1.0, friction * impulse[0] / larger(length, NONZERO));
    impulse[1] = tangential[0] * share;
    impulse[2] = tangential[1] * share;
    apply_impulse(size, first, impulse[1] - before[1], separations);
    apply_impulse(size, second, impulse[2] - before[2], separations);
    real change = absolute(impulse[0] - before[0]) * normal[own];
    change = larger(change, absolute(impulse[1] - before[1]) * a);
    return larger(change, absolute(impulse[2] - before[2]) * d);
}

/* Finds the impulses of k contacts with responses (k, 3, k, 3), in at most so many sweeps. */
EXPORT void solve_contact_system(integer k, const real *responses, real *separations, const real *targets,
                          const real *friction, real *impulses, integer sweeps, real exact)
{
    for (integer sweep = 0; sweep < sweeps; sweep++) {
        real largest = 0.0;
        for (integer row = 0; row < k; row++)
            largest = larger(largest, solve_contact(row, 3 * k, responses, separations, targets[row],
                                                friction[row], impulses + 3 * row));
        if (largest < exact)
            break;
    }
}
