/* Threads that share the parts of a loop (fork and join).

   A loop is cut into parts by its data alone, and no part writes what another part of the loop reads
   or writes. Which thread runs which part does not matter then: results are the same with any
   number of threads. */
#ifndef VERLET_TEAM_H
#define VERLET_TEAM_H

#include "../kernels.h"

/* Runs one part of a loop; `scratch` is the thread's own memory. */
typedef void part_function(const void *loop, integer part, real *scratch);

/* Runs all parts of a loop, by this thread and those that help; returns once all are done.

   reals: numbers of scratch memory that a part may use.
   scratch: memory of the caller, for a loop that this thread runs alone. */
void share(integer parts, part_function *run, const void *loop, integer reals, real *scratch);

/* From so many whole elements on, as bodies, threads share these; of fewer, the loops of each. */
#define MANY_ELEMENTS 16

/* Runs a loop with a part for each of some elements, which may share loops of their own. */
static inline void share_elements(integer count, part_function *run, const void *loop)
{
    if (count >= MANY_ELEMENTS)
        share(count, run, loop, 0, NULL);
    else
        for (integer i = 0; i < count; i++)
            run(loop, i, NULL);
}

static inline integer parts_of(integer count, integer size) { return (count + size - 1) / size; }

/* The end of a part, for `count` elements in parts of this size. */
static inline integer end_of(integer part, integer size, integer count)
{
    integer end = (part + 1) * size;
    return end < count ? end : count;
}

/* Paths from `first` on, before `last`. */
typedef struct {
    integer first, last;
} path_range;

/* The first of all paths that begins at `entry` or later; path p ends at ends[p]. */
static inline integer first_path(const integer *ends, integer paths, integer entry)
{
    integer low = 0;
    for (integer high = paths; low < high;) {
        integer middle = low + (high - low) / 2, begin = middle ? ends[middle - 1] : 0;
        low = begin < entry ? middle + 1 : low;
        high = begin < entry ? high : middle;
    }
    return low;
}

/* The paths that begin in a part of so many entries. */
static inline path_range paths_in(const integer *ends, integer paths, integer part, integer size)
{
    return (path_range){first_path(ends, paths, part * size), first_path(ends, paths, (part + 1) * size)};
}

#endif
