/* Parts of the lengths of a body that other phases of a step need too. */
#ifndef VERLET_LENGTHS_H
#define VERLET_LENGTHS_H

#include "../kernels.h"

/* Projects the edges on and near rigid pieces, if there are any. */
void project_edges_of_pieces(const piece_poses *rigid, real *x, integer n);

#endif
