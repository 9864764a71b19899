/* Multipliers at the start of a step; see state.py. */
#include "kernels.h"

/* Sets all multipliers to their values at the start of a step. */
EXPORT void start_multipliers(const restarted_multipliers *all)
{
    for (integer i = 0; i < all->values_count; i++) {
        real *values = all->values[i], share = all->kept[i];
        for (integer k = 0; k < all->counts[i]; k++)
            values[k] = share > 0.0 ? share * values[k] : 0.0;
    }
}
