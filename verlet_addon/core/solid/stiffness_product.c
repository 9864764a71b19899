/* Tangent stiffness of cells times moves, for E = 1; see stiffness_product in kernels.py. */
#include "../team/team.h"
#include "cells.h"

/* Replaces two values by their sum and their difference. */
ALWAYS_INLINE void butterfly(four *low, four *high)
{
    four former = *low;
    *low = former + *high;
    *high = former - *high;
}

/* Hadamard transform of corner values: sums and differences along each axis. Its square is 8. */
ALWAYS_INLINE void hadamard_transform(four v[3][8])
{
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < 4; i++)
            butterfly(v[a] + i, v[a] + i + 4);
        for (int i = 0; i < 4; i++)
            butterfly(v[a] + i + (i & 2), v[a] + i + (i & 2) + 2);
        for (int i = 0; i < 4; i++)
            butterfly(v[a] + 2 * i, v[a] + 2 * i + 1);
    }
}

/* Rotates all modes but 0, the mean, by r[down * i + along * k]: by rotations, or by their inverses. */
ALWAYS_INLINE void rotate_modes(const four r[9], int down, int along, four v[3][8])
{
    for (int i = 1; i < 8; i++) {
        four x = v[0][i], y = v[1][i], z = v[2][i];
        for (int a = 0; a < 3; a++)
            v[a][i] = r[down * a] * x + r[down * a + along] * y + r[down * a + 2 * along] * z;
    }
}

/* Block i of the stiffness couples x of mode i ^ 4, y of mode i ^ 2 and z of mode i ^ 1, where the bits of
   a mode are the axes along which it is odd. Mode 0 is a translation, without stiffness. */
ALWAYS_INLINE void multiply_modes(const real *modes, four v[3][8])
{
    for (int a = 0; a < 3; a++)
        v[a][0] = broadcast(0.0);
    for (int i = 0; i < 8; i++) {
        four x = v[0][i ^ 4], y = v[1][i ^ 2], z = v[2][i ^ 1];
        for (int a = 0; a < 3; a++)
            v[a][i ^ 4 >> a] = broadcast(modes[24 * a + i]) * x + broadcast(modes[24 * a + 8 + i]) * y
                               + broadcast(modes[24 * a + 16 + i]) * z;
    }
    for (int a = 0; a < 3; a++)
        v[a][0] = broadcast(0.0);
}

/* Gathers values at the corners (8, 4) of four cells; if `strained`, relative to the first corner. */
ALWAYS_INLINE void gather(const integer *corners, int strained, const four *moves, four v[3][8])
{
    for (int c = 0; c < 8; c++) {
        four rows[4], columns[4];
        for (int k = 0; k < 4; k++)
            rows[k] = moves[corners[4 * c + k]];
        transpose(rows, columns);
        for (int a = 0; a < 3; a++)
            v[a][c] = columns[a];
    }
    if (strained)
        for (int a = 0; a < 3; a++) {
            for (int c = 1; c < 8; c++)
                v[a][c] -= v[a][0];
            v[a][0] = broadcast(0.0);
        }
}

/* Adds values at the corners (8, 4) of four cells to `found`. */
ALWAYS_INLINE void scatter(const integer *corners, four v[3][8], four *found)
{
    for (int c = 0; c < 8; c++) {
        four rows[4], columns[4] = {v[0][c], v[1][c], v[2][c], broadcast(0.0)};
        transpose(columns, rows);
        for (int k = 0; k < 4; k++)
            found[corners[4 * c + k]] += rows[k];
    }
}

/* Subtracts the rest positions (8, 3) of four cells, as modes. */
ALWAYS_INLINE void subtract_rests(const cell_pose *pose, const integer *cells, four v[3][8])
{
    four rests[3][8];
    for (int c = 0; c < 8; c++)
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 4; k++)
                rests[a][c][k] = pose->rests[3 * (LINEAR_NODES * cells[k] + c) + a];
    hadamard_transform(rests);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 8; i++)
            v[a][i] -= rests[a][i];
}

/* Adds the product of four boxes. Their volume gradients and rest positions consist of modes 4, 2 and 1,
   which are odd along one axis. */
ALWAYS_INLINE void add_boxes(const solid_boxes *boxes, const solid_box_state *box, integer number,
                    const cell_pose *pose, int strained, const four *moves, four *found)
{
    const integer *corners = boxes->corners + 32 * number;
    four v[3][8], growth = broadcast(0.0);
    gather(corners, strained, moves, v);
    hadamard_transform(v);
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++)
            growth += box->volume_gradients[k][a] * v[a][4 >> k];
    growth = broadcast(FIRST_LAME * boxes->volumes[number]) * (strained ? box->growth : growth);
    rotate_modes(box->rotations, 1, 3, v);
    if (strained && pose)
        subtract_rests(pose, boxes->cells + 4 * number, v);
    else if (strained)
        for (int k = 0; k < 3; k++)
            v[k][4 >> k] += broadcast(4.0 * boxes->sizes[k]);
    multiply_modes(boxes->blocks + 72 * boxes->kinds[number], v);
    rotate_modes(box->rotations, 3, 1, v);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            v[a][4 >> k] += growth * box->volume_gradients[k][a];
    hadamard_transform(v);
    scatter(corners, v, found);
}

/* found = symmetric matrix × vector of n fours. Tiles are those of `pack_tiles`; each tile below the
   diagonal is also used transposed, above it. */
ALWAYS_INLINE void multiply(const four *tile, const four *vector, int n, four *found)
{
    for (int i = 0; i < n; i++)
        found[i] = broadcast(0.0);
    for (int j = 0; j < n; j++) {
        four own = vector[j], rows[4], columns[4];
        for (int c = 0; c < 4; c++) {
            found[j] += tile[c] * broadcast(own[c]);
            rows[c] = broadcast(0.0);
        }
        for (int i = j + 1; i < n; i++)
            for (int c = 0; c < 4; c++) {
                found[i] += tile[4 * (i - j) + c] * broadcast(own[c]);
                rows[c] += tile[4 * (i - j) + c] * vector[i];
            }
        transpose(rows, columns);
        for (int c = 0; c < 4; c++)
            found[j] += columns[c];
        tile += 4 * (n - j);
    }
}

/* Adds the product of one cell that is no box. */
ALWAYS_INLINE void add_cell(const solid_cells *cells, const solid_corotation *corotation, integer e, const cell_pose *pose,
                   const four *rest, const four *moves, four *found)
{
    const integer kind = cells->kinds[e], width = cells->width, count = cells->widths[kind];
    const integer *nodes = cells->nodes + width * e, *slots = cells->slots + width * kind;
    const real *r = corotation->rotations + 9 * e, *volume_gradients = corotation->volume_gradients + 3 * width * e;
    const four first = rest ? moves[nodes[0]] : broadcast(0.0);
    four local[MAX_UNKNOWNS / 4 + 1], pulls[MAX_UNKNOWNS / 4 + 1], growth = broadcast(0.0);
    for (int i = 0; i < MAX_UNKNOWNS / 4 + 1; i++)
        local[i] = broadcast(0.0);
    for (int c = 0; c < count; c++) {
        integer node = nodes[slots[c]];
        four move = moves[node] - first, turned = broadcast(0.0);
        for (int a = 0; a < 3; a++)
            turned += load_three(r + 3 * a) * broadcast(move[a]);
        if (pose)
            turned -= load_three(pose->rests + 3 * (width * e + slots[c]));
        else if (rest)
            turned -= rest[node] - rest[nodes[0]];
        *(four *)((real *)local + 3 * c) = turned;
        growth += load_three(volume_gradients + 3 * slots[c]) * move;
    }
    multiply(cells->tiles + 4 * cells->starts[kind], local, (3 * (int)count + 3) / 4, pulls);
    real pressure = FIRST_LAME * cells->volumes[kind] * (rest ? corotation->growths[e] : sum(growth));
    for (int c = 0; c < count; c++) {
        const real *pull = (real *)pulls + 3 * c;
        four total = broadcast(pressure) * load_three(volume_gradients + 3 * slots[c]);
        for (int a = 0; a < 3; a++)
            total += (four){r[a], r[3 + a], r[6 + a], 0.0} * broadcast(pull[a]);
        found[nodes[slots[c]]] += total;
    }
}

/* A product, and the first slab of a loop over slabs that share no node. */
typedef struct {
    const solid_lattice *lattice;
    const solid_corotation *const *corotations;
    const cell_pose *const *poses;
    const four *rest, *moves;
    four *found;
    integer first;
} slab_loop;

/* Separate functions: inlined into one, they would need more registers than there are. */
#define NEVER_INLINE static __attribute__((noinline))

NEVER_INLINE void multiply_boxes(const slab_loop *of, const solid_boxes *boxes, integer slab)
{
    const solid_box_state *states = of->corotations[0]->boxes;
    for (integer number = boxes->starts[slab]; number < boxes->starts[slab + 1]; number++)
        add_boxes(boxes, states + number, number, of->poses ? of->poses[0] : NULL, of->rest != NULL, of->moves,
                  of->found);
}

NEVER_INLINE void multiply_cells(const slab_loop *of, const solid_cells *cells,
                                 const solid_corotation *corotation, const cell_pose *pose, integer slab)
{
    for (integer k = cells->other_starts[slab]; k < cells->other_starts[slab + 1]; k++)
        add_cell(cells, corotation, cells->others[k], pose, of->rest, of->moves, of->found);
}

static void multiply_slab(const void *loop, integer number, real *scratch)
{
    const slab_loop *of = loop;
    (void)scratch;
    multiply_boxes(of, of->lattice->boxes, of->first + number);
    for (integer i = 0; i < of->lattice->groups_count; i++)
        multiply_cells(of, of->lattice->groups[i], of->corotations[i], of->poses ? of->poses[i] : NULL,
                       of->first + number);
}

void multiply_stiffness(const solid_lattice *lattice, const solid_corotation *const *corotations,
                  const cell_pose *const *poses, const four *rest, const four *moves, four *found)
{
    integer even = lattice->even_slabs;
    for (integer i = 0; i < lattice->nodes; i++)
        found[i] = broadcast(0.0);
    share(even, multiply_slab, &(slab_loop){lattice, corotations, poses, rest, moves, found, 0}, 0, NULL);
    share(lattice->slabs - even, multiply_slab,
          &(slab_loop){lattice, corotations, poses, rest, moves, found, even}, 0, NULL);
}
