/* How a step begins; see state.py. */
#include "kernels.h"

/* The multipliers of so many batches, and what follows those of bends with some play; NULL for
   those that start every step from none. */
typedef struct restarted_multipliers {
    integer batches;
    const integer *counts; /* (batches,) */
    real kept_share, play, slip;
    real *const *values, *const *followers; /* (batches,) */
} restarted_multipliers;

/* Lets vectors (3, n) follow others as far as their play does not reach, and slip some of the way
   there; these start from them. */
static void follow(real *restrict x, real *restrict f, integer n, real kept_share, real play,
                   real slip)
{
    for (integer i = 0; i < n; i++) {
        real ahead[3] = {x[i] - f[i], x[n + i] - f[n + i], x[2 * n + i] - f[2 * n + i]};
        real size = x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
        real share = size / larger(dot(ahead, ahead), NONZERO);
        share = larger(1.0 - play * __builtin_sqrt(share), slip);
        x[i] = kept_share * (f[i] += share * ahead[0]);
        x[n + i] = kept_share * (f[n + i] += share * ahead[1]);
        x[2 * n + i] = kept_share * (f[2 * n + i] += share * ahead[2]);
    }
}

/* Sets multipliers to what a step starts from. */
EXPORT void start_multipliers(const restarted_multipliers *all)
{
    for (integer i = 0; i < all->batches; i++) {
        integer count = all->counts[i];
        if (all->followers[i])
            follow(all->values[i], all->followers[i], count / 3, all->kept_share, all->play,
                   all->slip);
        else
            for (integer k = 0; k < count; k++)
                all->values[i][k] = 0.0;
    }
}
