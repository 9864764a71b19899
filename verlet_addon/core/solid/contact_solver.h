/* Contacts and pins of a solid, and its system of equations; see linear_system.py. */
#ifndef VERLET_CONTACT_SOLVER_H
#define VERLET_CONTACT_SOLVER_H

#include "rigid_modes.h"

_Static_assert(sizeof(solid_piece) == PIECE * sizeof(real), "linear_system.py");

#endif
