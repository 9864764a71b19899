/* Which particles make a coarse level: the same as choose_coarse_one_by_one in coarse_levels.py. */
#include "../kernels.h"

/* The particles of a layer, the ways between them, and a heap of those that may be next. */
typedef struct {
    integer count;                  /* n */
    const integer *starts, *others; /* (n + 1,) and (k,); see Neighbours */
    const real *lengths;            /* (k,) */
    const uint8_t *pinned;          /* (n,) */
    real *scores;                   /* (n,) infinite for pinned ones, else 0 */
    real *distances;                  /* (n,) 0, to work in */
    integer *heap_positions, *heap;         /* (n,) -1, and (n,) to work in */
    uint8_t *covered;               /* (n,) 0 */
    integer *chosen;                /* (n,) what is found */
} layer;

/* Whether a particle is chosen before another one. */
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

/* Moves a particle from its place in the heap towards the top; those not in it begin at `at`. */
static void sift_up(const layer *of, integer at, integer particle)
{
    for (; at > 0 && is_before(of, particle, of->heap[(at - 1) / 2]); at = (at - 1) / 2)
        place(of, at, of->heap[(at - 1) / 2]);
    place(of, at, particle);
}

/* Takes the particle at the top out of a heap of so many. */
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

/* Covers what is next to a particle, and puts what is two steps away into the heap of so many;
   how many are in it then. */
static integer cover(const layer *of, integer particle, integer size)
{
    of->covered[particle] = 1;
    for (integer i = of->starts[particle]; i < of->starts[particle + 1]; i++)
        of->covered[of->others[i]] = 1;
    for (integer i = of->starts[particle]; i < of->starts[particle + 1]; i++) {
        integer middle = of->others[i];
        for (integer j = of->starts[middle]; j < of->starts[middle + 1]; j++) {
            integer far = of->others[j];
            if (of->covered[far] || of->pinned[far])
                continue; /* what is pinned is in the heap from the beginning */
            of->scores[far] += 1.0;
            of->distances[far] = of->lengths[i] + of->lengths[j];
            sift_up(of, of->heap_positions[far] < 0 ? size++ : of->heap_positions[far], far);
        }
    }
    return size;
}

/* Chooses the particles; how many there are. */
EXPORT integer choose_coarse(const layer *of)
{
    integer count = 0, size = 0;
    for (integer i = 0; i < of->count; i++)
        if (of->pinned[i])
            sift_up(of, size++, i);
    for (integer start = 0; start < of->count; start++) {
        if (!of->covered[start] && of->heap_positions[start] < 0)
            sift_up(of, size++, start);
        while (size) {
            integer particle = pop_first(of, size--);
            if (of->covered[particle])
                continue;
            of->chosen[count++] = particle;
            size = cover(of, particle, size);
        }
    }
    return count;
}
