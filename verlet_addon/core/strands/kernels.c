/* Friction and pressure among strands: the functions of kernels.py, which has formulas and sources.

   Nodes of the grid stand in a hash table of their keys; each has its mass, momentum and excess. */
#include "../kernels.h"

#define NODE 5

/* What is around a point of a strand: its cell's first corner, and its place in the cell. */
typedef struct {
    integer cell[3];
    real share[3];
} grid_place;

static inline grid_place find_place(const real *positions, integer n, integer i, real spacing)
{
    grid_place found;
    for (int axis = 0; axis < 3; axis++) {
        real place = positions[axis * n + i] / spacing;
        integer cell = (integer)place;
        cell -= place < (real)cell;
        found.cell[axis] = cell;
        found.share[axis] = place - (real)cell;
    }
    return found;
}

static inline int upper(int corner, int axis) { return corner >> (2 - axis) & 1; }

/* Key of the node at a corner of a cell. */
static inline integer key_of(const grid_place *at, int corner)
{
    integer key = 0;
    for (int axis = 0; axis < 3; axis++)
        key |= ((at->cell[axis] + upper(corner, axis)) & (((integer)1 << AXIS_BITS) - 1))
               << (AXIS_BITS * axis);
    return key;
}

/* Factor of a corner's weight along an axis. */
static inline real along_axis(const grid_place *at, int corner, int axis)
{
    return upper(corner, axis) ? at->share[axis] : 1.0 - at->share[axis];
}

static inline real weight_of(const grid_place *at, int corner)
{
    return along_axis(at, corner, 0) * along_axis(at, corner, 1) * along_axis(at, corner, 2);
}

/* Derivative of a corner's weight along an axis, times the spacing. */
static inline real slope_of(const grid_place *at, int corner, int axis)
{
    int second = axis ? 0 : 1, third = axis == 2 ? 1 : 2;
    real slope = along_axis(at, corner, second) * along_axis(at, corner, third);
    return upper(corner, axis) ? slope : -slope;
}

/* Place of the node with a key in the table, which has an empty one for it. */
static inline integer place_of(const strands *of, integer key)
{
    uint64_t mask = (uint64_t)of->table - 1;
    uint64_t at = ((uint64_t)key * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (of->keys[at] != key + 1 && of->keys[at])
        at = (at + 1) & mask;
    if (!of->keys[at]) {
        of->keys[at] = key + 1;
        clear(of->nodes + NODE * at, NODE);
    }
    return (integer)at;
}

/* Spreads masses and momenta to the nodes. */
static void spread(const strands *of, const real *previous, const real *positions, integer n)
{
    for (integer at = 0; at < of->table; at++)
        of->keys[at] = 0;
    for (integer i = 0; i < n; i++) {
        grid_place place = find_place(positions, n, i, of->spacing);
        for (int corner = 0; corner < 8; corner++) {
            integer at = place_of(of, key_of(&place, corner));
            real *node = of->nodes + NODE * at, mass = weight_of(&place, corner) * of->masses[i];
            of->places[8 * i + corner] = at;
            node[0] += mass;
            for (int axis = 0; axis < 3; axis++)
                node[1 + axis] += mass * (positions[axis * n + i] - previous[axis * n + i]);
        }
    }
}

/* Finds the changes of displacements by friction, and the excess of density, which it spreads. */
static void find_friction(const strands *of, const real *previous, const real *positions, integer n,
                          real share)
{
    for (integer i = 0; i < n; i++) {
        grid_place place = find_place(positions, n, i, of->spacing);
        real density = 0.0, mean[3] = {0.0, 0.0, 0.0};
        for (int corner = 0; corner < 8; corner++) {
            const real *node = of->nodes + NODE * of->places[8 * i + corner];
            real weight = weight_of(&place, corner);
            density += weight * node[0];
            for (int axis = 0; axis < 3; axis++)
                mean[axis] += weight * (node[1 + axis] / larger(node[0], NONZERO));
        }
        for (int axis = 0; axis < 3; axis++)
            of->moves[3 * i + axis]
                = share * (mean[axis] - (positions[axis * n + i] - previous[axis * n + i]));
        of->excesses[i] = smaller(larger(density / of->rest_densities[i] - 1.0, 0.0), MOST_EXCESS)
                          / of->rest_densities[i];
    }
}

/* Adds the changes by pressure. */
static void add_pressure(const strands *of, const real *positions, integer n, real push)
{
    for (integer i = 0; i < n; i++) {
        grid_place place = find_place(positions, n, i, of->spacing);
        for (int corner = 0; corner < 8; corner++)
            of->nodes[NODE * of->places[8 * i + corner] + 4]
                += weight_of(&place, corner) * (of->masses[i] * of->excesses[i]);
    }
    for (integer i = 0; i < n; i++) {
        grid_place place = find_place(positions, n, i, of->spacing);
        for (int corner = 0; corner < 8; corner++) {
            const real *node = of->nodes + NODE * of->places[8 * i + corner];
            for (int axis = 0; axis < 3; axis++)
                of->moves[3 * i + axis] -= push * slope_of(&place, corner, axis)
                                           * (node[0] * of->excesses[i] + node[4]);
        }
    }
}

EXPORT void rub_strands(real *previous_positions, integer n, real *positions, const strands *of,
                        real dt, real former_dt)
{
    spread(of, previous_positions, positions, n);
    find_friction(of, previous_positions, positions, n, of->friction * dt / (1.0 + of->friction * dt));
    if (of->pressure > 0.0)
        add_pressure(of, positions, n, of->pressure * dt * former_dt);
    for (integer i = 0; i < n; i++)
        for (int axis = 0; axis < 3 && of->inverse_masses[i] > 0.0; axis++)
            previous_positions[axis * n + i] -= of->moves[3 * i + axis];
}
