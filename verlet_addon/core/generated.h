/* Written by kernels/header.py: the structs of Python's objects, the prototypes of kernels, and the
   constants that C shares with Python. */
#ifndef VERLET_GENERATED_H
#define VERLET_GENERATED_H

#define NEGLIGIBLE_INERTIA 1e-11
#define OCTAVES 3

typedef struct chambers {
    const integer *triangles;
    const integer *labels;
    integer triangle_count;
    integer count;
} chambers;

typedef struct exposed_surface {
    const real *plate_factors;
    integer *face;
    integer *vertex;
    integer *following;
    integer corner_count;
} exposed_surface;

typedef struct noise_tables {
    const integer *table;
    const real *slopes;
} noise_tables;

typedef struct water {
    const integer *pairs;
    const real *weights;
    integer pair_count;
} water;

EXPORT void conserve_momentum(const integer *, integer, const real *, const real *, const real *,
    const real *, real *, real *);
EXPORT void eliminate_unknowns(real *, integer, real *, integer);
EXPORT void plate_forces(const exposed_surface *, const real *, integer, const real *, real *);
EXPORT void turbulence(const real *, integer, real, const noise_tables *, real *);
EXPORT void volumes_and_gradients(const real *, integer, const chambers *, real *, real *);
EXPORT void wave_laplacian(const water *, const real *, integer, real *);
#endif
