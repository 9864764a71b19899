/* Force fields and the air that they move. */
#ifndef VERLET_FORCES_H
#define VERLET_FORCES_H

#include "../kernels.h"

/* Turbulence at a point, with eddies of a size. */
void turbulence_at(const real point[3], real size, const integer *table, const real *slopes,
                   real found[3]);

/* Adds the forces on edges without faces, half at each end, to `forces` (4, n): see `plate_forces`. */
void add_rope_forces(const exposed_surface *of, const real *positions, integer n, const real *rows,
                     real *forces);

/* Finds the field after `done` of all steps between two samples, as interpolate_fields of field.py;
   its origin and axis are kept in (3,) each. */
void find_field(const field_path *of, integer done, integer steps, real *origin, real *axis,
                field *now);

/* Adds the effect (8, n) of a field, of whose strength a share acts. */
void add_effect(const field *of, real share, const real *positions, integer n,
                const real *velocities, real *effect);

/* Limits the shares of slip of the effect (8, n) of all fields. */
void limit_slip(real *effect, integer n);

/* Writes accelerations (3, n), given the effect (8, n) of all fields, which it changes.

   forces: (4, n) scratch memory. */
void accelerate(const exposed_surface *of, const real *inverse_masses, const real *positions,
                integer n, const real *velocities, const real *gravity, real dt, real *effect,
                real *forces, real *found);

#endif
