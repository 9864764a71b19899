/* Preconditioned conjugate gradients for systems that know their products; see conjugate_gradients.py. */
#ifndef VERLET_CONJUGATE_GRADIENTS_H
#define VERLET_CONJUGATE_GRADIENTS_H

#include "../kernels.h"

/* Writes the product of a system's matrix, or of its preconditioner, with a vector; returns the inner
   product of both vectors. */
typedef real system_product(const void *system, const real *vector, real *product);

/* Vectors have `count` numbers; `size` is residual · preconditioned. */
typedef struct conjugate_gradients {
    const void *system;
    system_product *multiply, *precondition;
    integer count;
    real *solution, *residual, *search, *image, *preconditioned, size;
} conjugate_gradients;

/* Starts from a solution and its residual; returns the size of this. */
real begin_conjugate_gradients(conjugate_gradients *all);

/* Improves the solution in some rounds at most, until the size is `small`; returns the inner product of
   the improvement with the first residual. */
real iterate_conjugate_gradients(conjugate_gradients *all, integer rounds, real small);

#endif
