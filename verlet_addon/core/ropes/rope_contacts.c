/* Contacts coupled by ropes: the function of rope_contacts.py, which has formulas and source. */
#include "../contacts/manifold/contact_rows.h"

/* Adds to `moved` (3, n) the displacements by changes (3, k) of impulses, without stretching ropes.

   `work` (3, n) is 0 before and after. */
static void add_displacements(const real *positions, integer n, const contact_rows *rows,
                              const rope_slice *const *ropes, integer count, const real *changes,
                              real *work, real *moved)
{
    integer k = rows->count;
    for (integer row = 0; row < k; row++) {
        real change[3] = {changes[row], changes[k + row], changes[2 * k + row]};
        add_impulse(work, n, rows, row, change);
    }
    for (integer s = 0; s < count; s++) {
        const rope_slice *rope = ropes[s];
        remove_stretching(work + rope->start, (real *)positions + rope->start, n, rope->trees);
        for (integer axis = 0; axis < 3; axis++)
            for (integer i = axis * n + rope->start; i < axis * n + rope->start + rope->count; i++) {
                moved[i] += work[i];
                work[i] = 0.0;
            }
    }
    for (integer i = 0; i < 4 * k; i++)
        for (integer axis = 0; axis < 3; axis++) {
            integer at = axis * n + rows->particles[i];
            moved[at] += work[at];
            work[at] = 0.0;
        }
}

/* Moves an impulse to normal parts >= 0 and tangential parts within Coulomb's cone. */
static void project_on_cone(const real *normal, real friction, real *impulse)
{
    real kept = larger(remove_along(normal, impulse), 0.0);
    real length = __builtin_sqrt(dot(impulse, impulse));
    real share = smaller(1.0, friction * kept / larger(length, NONZERO));
    for (int axis = 0; axis < 3; axis++)
        impulse[axis] = normal[axis] * kept + impulse[axis] * share;
}

/* Accelerated projected gradient descent; see solve_impulses in rope_contacts.py.

   violations, given, impulses: (3, k). bounds, regularization: (k,). moved: (3, n), the result, 0
   before. work: (3, n) for displacements, 0 before, and (4, 3, k) for the descent. */
EXPORT void solve_impulses(const real *positions, integer n, const contact_rows *rows,
                           const rope_slice *const *ropes, integer count, real tolerance,
                           const real *violations, const real *bounds, const real *regularization, const real *given,
                           real *moved, real *impulses, real *work)
{
    integer k = rows->count;
    real *start = work + 3 * n, *next = start + 3 * k, *ahead = next + 3 * k, *changes = ahead + 3 * k;
    real momentum = 1.0;
    for (integer i = 0; i < 3 * k; i++)
        start[i] = ahead[i] = impulses[i] = given[i];
    for (integer round = 0; round < MAX_DESCENT_ROUNDS; round++) {
        real largest = 0.0, alignment = 0.0;
        for (integer row = 0; row < k; row++) {
            real apart[3], impulse[3], step[3], normal[3];
            read(rows->normals, k, row, normal);
            find_apart(moved, n, rows, row, apart);
            for (int axis = 0; axis < 3; axis++) {
                integer at = axis * k + row;
                real slope = violations[at] + apart[axis] + regularization[row] * (ahead[at] - start[at]);
                impulse[axis] = ahead[at] - slope / bounds[row];
            }
            project_on_cone(normal, rows->friction[row], impulse);
            for (int axis = 0; axis < 3; axis++) {
                integer at = axis * k + row;
                next[at] = impulse[axis];
                step[axis] = impulse[axis] - ahead[at];
                alignment += bounds[row] * step[axis] * (impulse[axis] - impulses[at]);
            }
            largest = larger(largest, bounds[row] * __builtin_sqrt(dot(step, step)));
        }
        if (alignment < 0.0)
            momentum = 1.0;
        real following = (1.0 + __builtin_sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0;
        real share = (momentum - 1.0) / following;
        int last = largest < tolerance || round + 1 == MAX_DESCENT_ROUNDS;
        for (integer i = 0; i < 3 * k; i++) {
            real before = ahead[i];
            ahead[i] = last ? next[i] : next[i] + share * (next[i] - impulses[i]);
            changes[i] = ahead[i] - before;
            impulses[i] = next[i];
        }
        momentum = following;
        add_displacements(positions, n, rows, ropes, count, changes, work, moved);
        if (last)
            break;
    }
}
