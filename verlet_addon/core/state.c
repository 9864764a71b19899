/* How a step begins; see state.py. */
#include "kernels.h"

/* The multipliers of so many batches, which start every step with the share that they keep. */
typedef struct fresh_multipliers {
    integer batches;
    const integer *counts; /* (batches,) */
    const real *kept;      /* (batches,) */
    real *const *values;   /* (batches,) */
} fresh_multipliers;

/* Sets multipliers to what a step starts from. */
EXPORT void start_multipliers(const fresh_multipliers *all)
{
    for (integer i = 0; i < all->batches; i++)
        WIDE for (integer k = 0; k < all->counts[i]; k++)
            all->values[i][k] *= all->kept[i];
}
