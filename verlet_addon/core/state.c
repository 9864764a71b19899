/* How a step begins; see state.py. */
#include "kernels.h"

/* The multipliers of so many batches, which start every step at zero. */
typedef struct fresh_multipliers {
    integer batches;
    const integer *counts; /* (batches,) */
    real *const *values;   /* (batches,) */
} fresh_multipliers;

/* Sets multipliers to zero. */
EXPORT void start_multipliers(const fresh_multipliers *all)
{
    for (integer i = 0; i < all->batches; i++)
        for (integer k = 0; k < all->counts[i]; k++)
            all->values[i][k] = 0.0;
}
