/* Flesh: the same as posing.py and kernels.py, which have the formulas. */
#include "../solid/cells.h"

/* Unit normal of vertex i of a posing, for vertices of the skin at (3, n). */
static void find_normal(const posing *all, integer i, const real *skin, integer n, real normal[3])
{
    clear(normal, 3);
    for (integer t = all->starts[i]; t < all->starts[i + 1]; t++) {
        const integer *corners = all->triangles + 3 * t;
        real sides[2][3], area[3];
        for (int side = 0; side < 2; side++)
            for (int a = 0; a < 3; a++)
                sides[side][a] = skin[a * n + corners[side + 1]] - skin[a * n + corners[0]];
        cross(sides[0], sides[1], area);
        for (int a = 0; a < 3; a++)
            normal[a] += area[a];
    }
    real length = __builtin_sqrt(dot(normal, normal));
    for (int a = 0; a < 3; a++)
        normal[a] /= length > 0.0 ? length : 1.0;
}

/* Writes places (3, m) of nodes; `work` is (count, 6): place and normal of each vertex. */
EXPORT void pose_nodes(const posing *all, const real *skin, integer n, real *nodes, real *work)
{
    const integer m = all->nodes, width = all->width;
    for (integer i = 0; i < all->count; i++) {
        for (int a = 0; a < 3; a++)
            work[6 * i + a] = skin[a * n + all->vertices[i]];
        find_normal(all, i, skin, n, work + 6 * i + 3);
    }
    for (integer i = 0; i < m; i++) {
        real place[3] = {0.0, 0.0, 0.0};
        for (integer k = width * i; k < width * (i + 1); k++) {
            const real *followed = work + 6 * all->followed[k];
            for (int a = 0; a < 3; a++)
                place[a] += all->place_weights[k] * followed[a] + all->normal_weights[k] * followed[3 + a];
        }
        for (int a = 0; a < 3; a++)
            nodes[a * m + i] = place[a];
    }
}

/* r = a b, of 3 × 3 matrices, a as it is or transposed. */
static void multiply_three(const real a[9], int transposed, const real b[9], real r[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            real total = 0.0;
            for (int k = 0; k < 3; k++)
                total += (transposed ? a[3 * k + i] : a[3 * i + k]) * b[3 * k + j];
            r[3 * i + j] = total;
        }
}

/* Stretch (3, 3) at rest by the stretch of a pose: a part of it, and not too much of that. */
static void limit_stretch(const real stretch[9], real follow, real rest[9])
{
    real square = 0.0;
    for (int k = 0; k < 9; k++) {
        rest[k] = stretch[k] - (k % 4 == 0 ? 1.0 : 0.0);
        square += rest[k] * rest[k];
    }
    real share = follow * smaller(1.0, MAX_POSE_STRAIN / larger(__builtin_sqrt(square), NONZERO));
    for (int k = 0; k < 9; k++)
        rest[k] = (k % 4 == 0 ? 1.0 : 0.0) + share * rest[k];
}

/* The change (3, 3) of a rest shape by a muscle with a fibre (3,), M − 1. */
static void muscle_change(const real fibre[3], real muscle_length, real change[9])
{
    real square = dot(fibre, fibre);
    real along = 1.0 + (muscle_length - 1.0) * __builtin_sqrt(square), across = 1.0 / __builtin_sqrt(along);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            change[3 * i + j] = (along - across) / larger(square, NONZERO) * fibre[i] * fibre[j]
                                + (i == j ? across - 1.0 : 0.0);
}

/* Sets the rest shape of cell e, for nodes (3, m) at their poses. */
static void pose_cell(const solid_lattice *lattice, const solid_cells *cells, const cell_pose *pose, const real *fibre,
                      const real *nodes, real keep_volume, real muscle_length, integer e)
{
    const integer width = cells->width, m = lattice->nodes, *own = cells->nodes + width * e;
    const real *gradients = cells->gradients + 3 * width * cells->kinds[e], follow = 1.0 - keep_volume;
    real f[9], stretch[9], rest[9], change[9], taken_out[9], *r = pose->rotations + 9 * e, cofactor[3];
    clear(f, 9);
    for (integer c = 0; c < width; c++)
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                f[3 * a + k] += (nodes[a * m + own[c]] - nodes[a * m + own[0]]) * gradients[3 * c + k];
    fit_rotation(pose->quaternions + 4 * e, f, r);
    multiply_three(r, 1, f, stretch);
    limit_stretch(stretch, follow, rest);
    muscle_change(fibre, muscle_length, change);
    multiply_three(change, 0, rest, taken_out);
    for (int k = 0; k < 9; k++)
        taken_out[k] += rest[k] - follow * stretch[k];
    for (integer c = 0; c < width; c++)
        for (int a = 0; a < 3; a++) {
            real place = 0.0;
            for (int k = 0; k < 3; k++)
                place += follow * r[3 * k + a] * (nodes[k * m + own[c]] - nodes[k * m + own[0]])
                         + taken_out[3 * a + k] * (lattice->rest[own[c]][k] - lattice->rest[own[0]][k]);
            pose->rests[3 * (width * e + c) + a] = place;
        }
    cross(rest + 3, rest + 6, cofactor);
    pose->ratios[e] = dot(rest, cofactor);
}

EXPORT void pose_cells(const solid_lattice *lattice, real *nodes, const cell_pose *const *poses, integer count,
                       const muscle *const *muscles, integer muscles_count, real keep_volume, real muscle_length)
{
    (void)muscles_count;
    for (integer i = 0; i < count; i++)
        for (integer e = 0; e < lattice->groups[i]->count; e++)
            pose_cell(lattice, lattice->groups[i], poses[i], muscles[i]->fibres + 3 * e, nodes, keep_volume,
                      muscle_length, e);
}
