/* Systems factorized by nested dissection, and their solution in nested_dissection.c. */
#ifndef VERLET_NESTED_DISSECTION_H
#define VERLET_NESTED_DISSECTION_H

#include "../kernels.h"

/* Solves for the right-hand sides in `values`, in place. */
void solve_dissected_system(const dissected_system *system);

#endif
