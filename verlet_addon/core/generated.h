/* Written by kernels/header.py: the structs of Python's objects, the prototypes of kernels, and the
   constants that C shares with Python. */
#ifndef VERLET_GENERATED_H
#define VERLET_GENERATED_H

#define AXIS_INERTIA_SHARE 1e-12
#define BOTH_FOLDED_PRODUCT 3.0
#define JOINT_REGULARIZATION 0.001
#define JOINT_RESIDUAL 1e-06
#define JOINT_STRAIN_TOLERANCE 0.001
#define LINE_SEARCH_ROUNDS 4
#define MAX_BUCKLING 0.1
#define MAX_JOINT_CG_ROUNDS 100
#define MAX_WEAVE_CG_ROUNDS 60
#define MEMBERS 4
#define MIN_CONTACT_PUSH 1e-07
#define MIN_SIDED_BEND 0.01
#define NEGLIGIBLE_INERTIA 1e-11
#define NEGLIGIBLE_RESIDUAL 1e-10
#define OCTAVES 3
#define STRAIN_NUMBERS 26
#define WEAVE_RESIDUAL 0.01
#define WOLFE_CURVATURE 0.1

typedef struct bend_strip_batch {
    const integer *path;
    const real *coefficients;
    const real *responses;
    const real *scaled_compliances;
    real *multipliers;
    integer count;
    integer paths;
    integer *ends;
    real *factors;
    real *points;
    real *steps;
} bend_strip_batch;

typedef struct chambers {
    const integer *triangles;
    const integer *labels;
    integer triangle_count;
    integer count;
} chambers;

typedef struct corner_pairs {
    const integer *numbers;
    const integer *starts;
    const integer *others;
    integer count;
    real *blocks;
} corner_pairs;

typedef struct dissected_depth {
    integer parts;
    integer size;
    integer reach;
    integer *sizes;
    integer *reaches;
    integer *own;
    integer *border;
    real *root;
    real *coupling;
    real *answers;
    real *outside;
} dissected_depth;

typedef struct dissected_system {
    const struct dissected_depth *const *depths;
    integer depths_count;
    real *values;
    integer size;
    integer axes;
} dissected_system;

typedef struct exposed_surface {
    const real *plate_factors;
    integer *face;
    integer *vertex;
    integer *following;
    integer corner_count;
} exposed_surface;

typedef struct face_loop_batch {
    const real *scaled_compliances;
    const integer *twists;
    real *multipliers;
    integer count;
    integer twist_count;
    integer loops;
    integer *ends;
    integer *rungs;
    real *coefficients;
    real *responses;
    real *factors;
    real *points;
    real *steps;
} face_loop_batch;

typedef struct factored_shell {
    const integer *free;
    const integer *components;
    integer free_count;
    const struct dissected_system *system;
} factored_shell;

typedef struct joints {
    const integer *pairs;
    const integer *slots;
    const integer *bodies;
    const integer *free;
    const real *rest_lengths;
    const uint8_t *tension_only;
    const real *mobilities;
    integer count;
    integer free_count;
    integer body_count;
    real *along;
    real *rows;
    real *residual;
    real *pulls;
    real *search;
    real *found;
    real *diagonal;
    real *inverses;
    real *wrenches;
} joints;

typedef struct noise_tables {
    const integer *table;
    const real *slopes;
} noise_tables;

typedef struct piece_poses {
    const struct pieces *pieces;
    real *start_rotations;
    real *rotations;
    real *arms;
    real *second_moments;
    real *centres;
    real *angular_momenta;
    real *particle_positions;
    real *inverse_inertias;
} piece_poses;

typedef struct pieces {
    integer count;
    const integer *starts;
    const integer *particles;
    const integer *labels;
    const real *arms;
    const real *totals;
    const real *effective_inverse_masses;
    integer size;
} pieces;

typedef struct shell {
    const integer *members;
    const real *coefficients;
    const real *stiffnesses;
    const real *rests;
    integer hinges;
    const real *first;
    const real *second;
    const real *angle_stiffnesses;
    const real *angle_rests;
    const real *masses;
    real *gradients;
    real *isotropic_stiffnesses;
    integer particles;
    integer springs;
    integer angles;
    real *interleaved;
} shell;

typedef struct stencil_batch {
    const integer *particles;
    const real *inverse_masses;
    const real *coefficients;
    const real *responses;
    const real *rests;
    const real *scaled_compliances;
    const real *gains;
    real *multipliers;
    integer members;
    integer count;
} stencil_batch;

typedef struct stiff_bend_batch {
    const integer *particles;
    const real *coefficients;
    const real *stiffnesses;
    const real *rests;
    const integer *free;
    const real *masses;
    real *multipliers;
    integer count;
    integer free_count;
    integer *number;
    const struct dissected_system *system;
} stiff_bend_batch;

typedef struct water {
    const integer *pairs;
    const real *weights;
    integer pair_count;
} water;

typedef struct weave_batch {
    const integer *corners;
    const real *gradients;
    const real *hourglass_gradients;
    const real *stiffnesses;
    const real *compression_stiffnesses;
    const real *masses;
    const real *free;
    real *rests;
    real *displacement;
    real *multipliers;
    integer count;
    integer particles;
    const struct corner_pairs *pairs;
    real *strains;
    real *diagonal;
    real *blocks;
    real *points;
    real *residual;
    real *ahead;
    real *search;
    real *along;
    real *moved;
} weave_batch;

EXPORT void conserve_momentum(const integer *, integer, const real *, const real *, const real *,
    const real *, real *, real *);
EXPORT void eliminate_unknowns(real *, integer, real *, integer);
EXPORT void factorize_pentadiagonal(real *, integer);
EXPORT real linearize_shell(const shell *, const real *, real *);
EXPORT void multiply_shell(const shell *, const real *, real *);
EXPORT void plate_forces(const exposed_surface *, const real *, integer, const real *, real *);
EXPORT void precondition_shell(const factored_shell *, const real *, const real *, integer, real *);
EXPORT void project_bend_strips(real *, integer, const bend_strip_batch *const *, integer);
EXPORT void project_face_loops(real *, integer, const face_loop_batch *const *, integer);
EXPORT integer project_joints(const piece_poses *, const joints *, real *, integer, integer);
EXPORT void project_rope_bends(real *, integer, const stencil_batch *const *, integer);
EXPORT void project_stiff_bends(real *, integer, const stiff_bend_batch *const *, integer);
EXPORT void project_surface_bends(real *, integer, const stencil_batch *const *, integer);
EXPORT void project_weave(real *, const weave_batch *const *, integer);
EXPORT integer transfer_contacts(const piece_poses *, real *, integer);
EXPORT void transfer_momentum(const piece_poses *, real *, integer, real *, integer);
EXPORT void turbulence(const real *, integer, real, const noise_tables *, real *);
EXPORT void volumes_and_gradients(const real *, integer, const chambers *, real *, real *);
EXPORT void wave_laplacian(const water *, const real *, integer, real *);
#endif
