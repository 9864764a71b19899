/* Graph colouring of constraints, as in coloring.py. */
#include "kernels.h"

/* Colours (m,) of constraints with k particles each: the lowest that none of the particles has yet.

   members: (m, k). used: (n, words), 0 initially, a bit mask of 64 colours per word. Returns 0 if
   there are too few words, else 1. */
EXPORT integer find_colors(integer m, integer k, const integer *members, integer words,
                           uint64_t *used, integer *colors)
{
    for (integer i = 0; i < m; i++) {
        const integer *particles = members + i * k;
        integer word = 0;
        uint64_t taken = ~(uint64_t)0;
        for (; word < words; word++) {
            taken = 0;
            for (integer j = 0; j < k; j++)
                taken |= used[particles[j] * words + word];
            if (~taken)
                break;
        }
        if (word == words)
            return 0;
        uint64_t bit = ~taken & (taken + 1);
        colors[i] = 64 * word + __builtin_ctzll(bit);
        for (integer j = 0; j < k; j++)
            used[particles[j] * words + word] |= bit;
    }
    return 1;
}
