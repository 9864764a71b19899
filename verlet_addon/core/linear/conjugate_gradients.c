/* Conjugate gradients: the same as iterate_conjugate_gradients of conjugate_gradients.py. */
#include "conjugate_gradients.h"

real begin_conjugate_gradients(conjugate_gradients *all)
{
    all->size = all->precondition(all->system, all->residual, all->preconditioned);
    copy(all->search, all->preconditioned, all->count);
    return all->size;
}

real iterate_conjugate_gradients(conjugate_gradients *all, integer rounds, real small)
{
    real product = 0.0, *restrict search = all->search;
    for (; rounds > 0 && all->size > small; rounds--) {
        real former = all->size, step = former / all->multiply(all->system, search, all->image);
        product += step * former;
        add_scaled(all->solution, search, all->count, step);
        add_scaled(all->residual, all->image, all->count, -step);
        all->size = all->precondition(all->system, all->residual, all->preconditioned);
        const real share = all->size / former, *restrict ahead = all->preconditioned;
        WIDE for (integer i = 0; i < all->count; i++)
            search[i] = ahead[i] + share * search[i];
    }
    return product;
}
