/* Multipliers at the start of a step; see state.py. */
#include "kernels.h"

/* Play operator: followers f (3, n) approach multipliers x (3, n) where those differ by more than
   the play, and always by at least SLIP_SHARE of the difference; then x = kept_share * f. */
static void follow(real *restrict x, real *restrict f, integer n, real kept_share, real play)
{
    for (integer i = 0; i < n; i++) {
        real ahead[3] = {x[i] - f[i], x[n + i] - f[n + i], x[2 * n + i] - f[2 * n + i]};
        real size = x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
        real share = size / larger(dot(ahead, ahead), NONZERO);
        share = larger(1.0 - play * __builtin_sqrt(share), SLIP_SHARE);
        x[i] = kept_share * (f[i] += share * ahead[0]);
        x[n + i] = kept_share * (f[n + i] += share * ahead[1]);
        x[2 * n + i] = kept_share * (f[2 * n + i] += share * ahead[2]);
    }
}

/* Sets all multipliers to their values at the start of a step. */
EXPORT void start_multipliers(const restarted_multipliers *all)
{
    for (integer i = 0; i < all->values_count; i++) {
        integer count = all->counts[i];
        if (all->followers[i])
            follow(all->values[i], all->followers[i], count / 3, all->kept_share, all->play);
        else
            for (integer k = 0; k < count; k++)
                all->values[i][k] = 0.0;
    }
}
