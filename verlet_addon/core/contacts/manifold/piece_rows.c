/* Projection of contact rows with rigid pieces: the function of piece_rows.py. */
#include "contact_rows.h"

/* Writes pieces of a row's corners, −1 for none, sums of their weights and of weighted lever arms,
   both at the first corner of each piece alone; returns whether there are any. */
static int find_pieces(const contact_rows *rows, integer row, const piece_responses *responses,
                       integer n, integer pieces[4], real weights[4], real arms[4][3])
{
    int any = 0;
    for (integer corner = 0; corner < 4; corner++) {
        integer particle = rows->particles[corner * rows->count + row], first = 0;
        real weight = rows->weights[corner * rows->count + row];
        pieces[corner] = responses->pieces[particle];
        weights[corner] = arms[corner][0] = arms[corner][1] = arms[corner][2] = 0.0;
        if (pieces[corner] < 0)
            continue;
        any = 1;
        while (pieces[first] != pieces[corner])
            first++;
        weights[first] += weight;
        for (int axis = 0; axis < 3; axis++)
            arms[first][axis] += weight * responses->arms[axis * n + particle];
    }
    return any;
}

/* Adds to `apart` what pieces have moved, and to the mobility K (3, 3) theirs, w²/M + [r]ᵀ I⁻¹ [r]. */
SMALL static void add_pieces(const piece_responses *responses, const integer pieces[4],
                             const real weights[4], real arms[4][3], real apart[3], real mobility[9])
{
    for (integer corner = 0; corner < 4; corner++) {
        const real *arm = arms[corner], *moved = responses->motions + 6 * pieces[corner];
        if (weights[corner] == 0.0 && dot(arm, arm) == 0.0)
            continue;
        real turned[3], response[3], back[3];
        cross(moved + 3, arm, turned);
        for (int axis = 0; axis < 3; axis++) {
            real unit[3] = {axis == 0, axis == 1, axis == 2}, moment[3];
            apart[axis] += weights[corner] * moved[axis] + turned[axis];
            mobility[4 * axis] += weights[corner] * weights[corner] * responses->inverse_masses[pieces[corner]];
            cross(arm, unit, moment);
            apply(responses->inverse_inertias + 9 * pieces[corner], moment, response);
            cross(response, arm, back);
            for (int other = 0; other < 3; other++)
                mobility[3 * other + axis] += back[other];
        }
    }
}

/* The largest eigenvalue of a symmetric matrix across a unit normal. */
SMALL static real largest_across(const real matrix[9], const real normal[3], real along)
{
    real half = 0.5 * (matrix[0] + matrix[4] + matrix[8] - along), across[9], product[3];
    for (int x = 0; x < 3; x++)
        cross(matrix + 3 * ((x + 1) % 3), matrix + 3 * ((x + 2) % 3), across + 3 * x);
    apply(across, normal, product);
    return half + __builtin_sqrt(larger(half * half - dot(normal, product), 0.0));
}

/* The same as project_rows, where rigid pieces answer as wholes: their particles stay, and the pieces'
   motions and impulses are summed up. */
EXPORT void project_rows_of_pieces(real *positions, integer n, const contact_rows *rows,
                                   const piece_responses *responses)
{
    for (integer row = 0; row < rows->count; row++) {
        real apart[3], impulse[3], normal[3], mobility[9] = {0.0}, weights[4], arms[4][3], moved[3];
        integer pieces[4];
        if (rows->on_ropes[row])
            continue;
        find_apart(positions, n, rows, row, apart);
        if (!find_pieces(rows, row, responses, n, pieces, weights, arms)) {
            if (solve_row(rows, row, apart, rows->mobilities[row], rows->mobilities[row], impulse))
                add_impulse(positions, n, rows, row, impulse);
            continue;
        }
        for (integer corner = 0; corner < 4; corner++)
            for (int axis = 0; axis < 3 && pieces[corner] < 0; axis++)
                mobility[4 * axis] += rows->weights[corner * rows->count + row]
                                      * rows->impulse_responses[corner * rows->count + row];
        add_pieces(responses, pieces, weights, arms, apart, mobility);
        read(rows->normals, rows->count, row, normal);
        apply(mobility, normal, moved);
        real along = dot(normal, moved);
        /* Rows within one piece cannot be met. */
        if (!(along > LEAST_MOBILITY * rows->mobilities[row])
            || !solve_row(rows, row, apart, along, largest_across(mobility, normal, along), impulse))
            continue;
        for (integer corner = 0; corner < 4; corner++) {
            integer at = corner * rows->count + row;
            real *motion = responses->motions + 6 * pieces[corner], turn[3], moment[3];
            real *wrench = responses->wrenches + 6 * pieces[corner];
            if (pieces[corner] < 0) {
                for (int axis = 0; axis < 3 && rows->impulse_responses[at] != 0.0; axis++)
                    positions[axis * n + rows->particles[at]] += rows->impulse_responses[at] * impulse[axis];
                continue;
            }
            cross(arms[corner], impulse, moment);
            apply(responses->inverse_inertias + 9 * pieces[corner], moment, turn);
            for (int axis = 0; axis < 3; axis++) {
                real push = weights[corner] * impulse[axis];
                motion[axis] += push * responses->inverse_masses[pieces[corner]];
                motion[3 + axis] += turn[axis];
                wrench[axis] += push;
                wrench[3 + axis] += moment[axis];
            }
        }
    }
}
