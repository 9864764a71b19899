/* Choice of the particles of a coarse level: the function of coarse_levels.py. */
#include "../kernels.h"

/* The particles of a layer, and a heap of candidates for the next choice. */
typedef struct {
    const neighbours *graph;
    const uint8_t *pinned;          /* (n,) */
    real *scores;                   /* (n,) paths to chosen ones; infinite if pinned */
    real *distances;                /* (n,) length of the last such path */
    integer *heap_positions, *heap; /* (n,) place in the heap, or -1; (n,) */
    uint8_t *covered;               /* (n,) whether chosen or next to a chosen one */
} layer;

/* Whether particle a is chosen before particle b. */
static int is_before(const layer *of, integer a, integer b)
{
    if (of->scores[a] != of->scores[b])
        return of->scores[a] > of->scores[b];
    if (of->distances[a] != of->distances[b])
        return of->distances[a] < of->distances[b];
    return a < b;
}

static void place(const layer *of, integer at, integer particle)
{
    of->heap[at] = particle;
    of->heap_positions[particle] = at;
}

/* Moves a particle from the place `at` in the heap towards the top. */
static void sift_up(const layer *of, integer at, integer particle)
{
    for (; at > 0 && is_before(of, particle, of->heap[(at - 1) / 2]); at = (at - 1) / 2)
        place(of, at, of->heap[(at - 1) / 2]);
    place(of, at, particle);
}

/* Removes the first particle of a heap of `size`, and returns it. */
static integer pop_first(const layer *of, integer size)
{
    integer first = of->heap[0], last = of->heap[size - 1], at = 0;
    for (integer next = 1; next < size - 1; next = 2 * at + 1) {
        if (next + 1 < size - 1 && is_before(of, of->heap[next + 1], of->heap[next]))
            next++;
        if (!is_before(of, of->heap[next], last))
            break;
        place(of, at, of->heap[next]);
        at = next;
    }
    place(of, at, last);
    of->heap_positions[first] = -1;
    return first;
}

/* Covers a chosen particle and its neighbours, and scores the particles two edges away in the heap
   of `size`; returns the new size. */
static integer cover(const layer *of, integer particle, integer size)
{
    of->covered[particle] = 1;
    for (integer i = of->graph->starts[particle]; i < of->graph->starts[particle + 1]; i++)
        of->covered[of->graph->others[i]] = 1;
    for (integer i = of->graph->starts[particle]; i < of->graph->starts[particle + 1]; i++) {
        integer middle = of->graph->others[i];
        for (integer j = of->graph->starts[middle]; j < of->graph->starts[middle + 1]; j++) {
            integer far = of->graph->others[j];
            if (of->covered[far] || of->pinned[far])
                continue; /* pinned particles are in the heap from the beginning */
            of->scores[far] += 1.0;
            of->distances[far] = of->graph->lengths[i] + of->graph->lengths[j];
            sift_up(of, of->heap_positions[far] < 0 ? size++ : of->heap_positions[far], far);
        }
    }
    return size;
}

/* Marks the particles that are `chosen`. */
EXPORT void choose_coarse(const neighbours *graph, const uint8_t *pinned, uint8_t *chosen, real *work)
{
    integer n = graph->count, size = 0;
    const layer own = {graph, pinned, work, work + n, (integer *)(work + 2 * n),
                       (integer *)(work + 3 * n), (uint8_t *)(work + 4 * n)};
    const layer *of = &own;
    for (integer i = 0; i < n; i++) {
        of->scores[i] = pinned[i] ? __builtin_inf() : 0.0;
        of->distances[i] = 0.0;
        of->heap_positions[i] = -1;
        of->covered[i] = 0;
    }
    for (integer i = 0; i < n; i++)
        if (pinned[i])
            sift_up(of, size++, i);
    for (integer start = 0; start < n; start++) {
        if (!of->covered[start] && of->heap_positions[start] < 0)
            sift_up(of, size++, start);
        while (size) {
            integer particle = pop_first(of, size--);
            if (of->covered[particle])
                continue;
            chosen[particle] = 1;
            size = cover(of, particle, size);
        }
    }
}
