/* Written by kernels/header.py: the structs of Python's objects, the prototypes of kernels, and the
   constants that C shares with Python. */
#ifndef VERLET_GENERATED_H
#define VERLET_GENERATED_H

#define ACTIVE_SET_TOLERANCE 0.05
#define AXIS_BITS 20
#define AXIS_INERTIA_SHARE 1e-12
#define BOTH_FOLDED_PRODUCT 3.0
#define BOX_NUMBERS 19
#define CELL_PART 32
#define CLOSED_SEAM_FACTOR 10.0
#define CONE_COSINE 0.5
#define CONTACT_ROUNDS 16
#define FIRST_LAME 3.10344827586207
#define FLAT 1e-20
#define FLUSH_SHARE 0.1
#define GAS_SEARCH_DIRECTIONS 16
#define GRAZING_SHARE 0.25
#define HINGE_PART 128
#define HINGE_PARTICLES 4
#define JACOBI_SWEEPS 12
#define JOINT_LINEARIZATIONS 8
#define JOINT_REGULARIZATION 0.001
#define JOINT_RESIDUAL 1e-06
#define JOINT_STRAIN_TOLERANCE 0.001
#define LEAF_PART 256
#define LEAF_SIZE 2
#define LEAST_GAP 1e-09
#define LEAST_MOBILITY 1e-06
#define LEAST_SWING 1e-09
#define LIMIT_TOLERANCE 0.001
#define LINE_SEARCH_ROUNDS 4
#define MAX_ACTIVE_SET_CHANGES 6
#define MAX_ADVANCES 100
#define MAX_BUCKLING 0.1
#define MAX_DESCENT_ROUNDS 60
#define MAX_DRAG_STRENGTH 2.0
#define MAX_FOLD_SLOPE 0.04
#define MAX_JOINT_CG_ROUNDS 100
#define MAX_LIMIT_ROUNDS 20
#define MAX_LINEARIZATIONS 64
#define MAX_LINK_TAUTNESS 1000000.0
#define MAX_PARENTS 4
#define MAX_POSE_STRAIN 0.3
#define MAX_ROPE_ROUNDS 30
#define MAX_SOLID_CG_ROUNDS 400
#define MAX_SPEED_CHANGE 20000.0
#define MAX_SQUARED_STRETCH 8.0
#define MAX_STALLED_SWEEPS 4
#define MAX_STRAIN 0.012
#define MAX_SWEEPS 16
#define MAX_WEAVE_CG_ROUNDS 60
#define MEMBERS 4
#define MIN_CHUNK 128
#define MIN_CONTACT_PUSH 1e-07
#define MIN_FACE_SCALE 0.98
#define MIN_LENGTH_SHARE 0.5
#define MIN_PUSH_OUT_SPEED 0.2
#define MIN_RISE 1e-06
#define MIN_SIDED_BEND 0.01
#define MIN_START_SHARE 0.0001
#define MIN_SWEEP_PROGRESS 0.97
#define MIN_TAUTNESS 2.5
#define MIN_TRIANGLE_WIDTH 4e-15
#define MOST_EXCESS 1.0
#define NEGLIGIBLE_INERTIA 1e-11
#define NEGLIGIBLE_RESIDUAL 1e-10
#define NEWTON_ROUNDS 4
#define NEWTON_ROUNDS_BETWEEN 2
#define NODE_REALS 188
#define NONZERO 1e-300
#define NO_LIMIT 2.0
#define OCTAVES 3
#define ONE_SIDED_SHARE 0.5
#define OVER_RELAXATION 1.5
#define PARALLEL 1e-12
#define PARTICLE_PART 1024
#define PATH_PART 512
#define PIECE 56
#define PUSH_OUT_TIME 0.1
#define QUADRATIC_NODES 20
#define RESOLVED_VIBRATION 0.1
#define REST_GAP_SHARE 0.9
#define REST_TOLERANCE 1e-09
#define RIDGE 0.005
#define ROD_PART 128
#define ROLLING 50
#define ROLLING_LEVER 0.4192627457812106
#define ROPE_PIN_SLACK 1e-07
#define ROPE_ROUNDS 8
#define ROPE_STRAIN_TOLERANCE 1e-07
#define ROTATION_ROUNDS 10
#define ROTATION_TOLERANCE 1e-09
#define ROUNDING_MARGIN 1e-06
#define SEARCH_DIRECTIONS 2
#define SHARED_SLOPE 0.05
#define SHORTEST 1e-12
#define SLIP_SHARE 0.2
#define SPIN_SHARE 1e-09
#define STEADY_SHARE 0.05
#define STIFF_LINK_SHARE 0.05
#define STRAIN_LIMITING_ROUNDS 160
#define STRAIN_NUMBERS 26
#define SURFACE_WARM_START 0.75
#define TAUT_KEPT_SHARE 0.85
#define TOUCH_TOLERANCE 1.01
#define TUNNELLING_REACH 0.101
#define UNGUARDED_GAP_SHARE 0.5
#define WEAVE_RESIDUAL 0.01
#define WOLFE_CURVATURE 0.1

typedef struct bend_flow {
    const real *original;
    const struct yielding *yielding;
    real *rests;
    integer *members;
    real *coefficients;
    integer width;
} bend_flow;

typedef struct bend_path_batch {
    const real *scaled_compliances;
    const integer *slots;
    real *multipliers;
    integer count, multiplier_count, members, paths, *ends, *rungs;
    real *coefficients, *responses, *factors;
    integer reals;
    real *work;
} bend_path_batch;

typedef struct bends {
    const struct stencil_batch *const *ropes;
    integer ropes_count;
    const struct stiff_bend_batch *const *stiff;
    integer stiff_count;
    const struct bend_path_batch *const *paths;
    integer paths_count;
    const struct stencil_batch *const *soft;
    integer soft_count;
} bends;

typedef struct body_lengths {
    const struct ropes *ropes;
    const struct seam_batch *const *seams;
    integer seams_count;
    const struct weave_batch *const *weave;
    integer weave_count;
    const struct surface *surface;
    integer seam_rounds;
} body_lengths;

typedef struct bvh {
    integer height;
    const integer *corners, *triangles, *vertices, *vertex_starts, *edges, *edge_starts, *connected,
        *connected_starts;
    uint8_t *active;
    real *cones, *turns;
    struct box *boxes, *swept_boxes;
    struct edge_path *edge_paths;
} bvh;

typedef struct bvh_pair {
    integer first, second;
    const struct bvh *one, *other;
    const integer *nodes;
    integer max_tests, part_count;
} bvh_pair;

typedef struct bvh_pairs {
    const struct bvh_pair *const *pairs;
    integer pairs_count;
} bvh_pairs;

typedef struct cell_pose {
    real *quaternions, *rotations, *rests, *ratios;
} cell_pose;

typedef struct chambers {
    const integer *triangles, *labels, *particles;
    const real *rest_volumes;
    const uint8_t *flat;
    integer triangle_count, count;
} chambers;

typedef struct clusters {
    const integer *particles;
    const uint8_t *movable;
    const real *shares, *arms;
    integer members, *ends;
} clusters;

typedef struct coarse_level {
    const integer *particles;
    const struct distance_limit_batch *const *limits;
    integer limits_count;
    const integer *children, *parents;
    const real *weights;
    integer count, child_count;
    real *points, *moved;
} coarse_level;

typedef struct contact_rows {
    const integer *particles;
    const real *weights, *impulse_responses, *mobilities, *normals, *gaps, *targets, *rebounds,
        *anchors;
    real *friction;
    uint8_t *on_ropes;
    real *normal_multipliers, *friction_multipliers;
    integer count;
} contact_rows;

typedef struct corner_pairs {
    const integer *numbers, *starts, *others;
    integer count;
    real *blocks;
} corner_pairs;

typedef struct dissected_part {
    const integer *own, *border;
    const real *coupling;
    integer size, reach;
    real *root;
} dissected_part;

typedef struct dissected_system {
    real *values;
    const struct dissected_part *const *parts;
    integer parts_count, size, axes, *levels, levels_count, *answer_starts, *outside_starts;
    real *answers, *outside;
} dissected_system;

typedef struct distance_limit_batch {
    const integer *particles;
    const real *rest_lengths, *first_masses, *second_masses, *gains;
    integer count;
} distance_limit_batch;

typedef struct exposed_surface {
    const real *plate_factors;
    const integer *edges;
    real rope_factor;
    integer *face, *vertex, *following, corner_count, edge_count;
} exposed_surface;

typedef struct face_diagonals {
    const integer *pairs, *faces;
    const real *rests, *weights;
    const integer *link_indices;
    real *rest_lengths;
    integer count;
} face_diagonals;

typedef struct factored_shell {
    const integer *free, *components;
    integer free_count;
    const struct dissected_system *system;
} factored_shell;

typedef struct field {
    const real *origin, *axis;
    real strength, flow, wind_factor, damping, size, power, nearest, farthest, radial_power,
        radial_nearest, radial_farthest;
    integer inverse_square, in_world, kind, shape, in_tube;
    real side;
    integer *table;
    real *slopes;
} field;

typedef struct field_path {
    const struct field *before, *after;
    real share;
} field_path;

typedef struct frame_inputs {
    integer steps;
    const real *gravity;
    real *normals, *levels;
    integer grounds;
    real *shift;
} frame_inputs;

typedef struct gas {
    const struct chambers *chambers;
    const real *pressure_shares;
    real *predicted_volumes, *pressures, *volumes, *reductions, *mobilities, *lifts;
} gas;

typedef struct generation {
    const struct strip_batch *batch;
    const integer *supports, *junctions;
    integer is_hung;
    real *along, *steps, *response;
} generation;

typedef struct goal_radii {
    const integer *particles;
    const real *radii;
    real *goals;
    integer count;
} goal_radii;

typedef struct held_vertices {
    const integer *vertices;
    const real *spring_masses, *target_shares, *own_inverse_masses;
    integer count;
} held_vertices;

typedef struct joints {
    const integer *pairs, *slots, *bodies, *free;
    const real *rest_lengths;
    const uint8_t *tension_only;
    const real *mobilities;
    integer count, free_count, body_count;
    real *along, *rows, *residual, *pulls, *search, *found, *ahead, *diagonal, *inverses, *wrenches,
        *inverse_inertias;
} joints;

typedef struct length_flow {
    const real *original;
    const struct yielding *yielding;
    real *rests;
    integer *path;
    uint8_t *linked;
} length_flow;

typedef struct link_sides {
    const int32_t *side_links, *others;
    const real *min_squares;
    const integer *starts;
    real *max_squares;
    struct strip_link *links;
    integer *overstretched;
} link_sides;

typedef struct muscle {
    const real *fibres;
} muscle;

typedef struct near_pairs {
    integer capacity, *features;
    real *clearances;
} near_pairs;

typedef struct neighbours {
    const integer *starts, *others;
    const real *lengths;
    integer count;
} neighbours;

typedef struct pair_properties {
    const real *friction;
    integer owner_count;
} pair_properties;

typedef struct piece_poses {
    const struct pieces *pieces;
    real *start_rotations, *rotations, *arms, *second_moments, *centres, *angular_momenta,
        *particle_positions;
    integer *linearizations;
} piece_poses;

typedef struct piece_responses {
    integer *pieces;
    real *arms, *inverse_masses, *inverse_inertias, *motions, *wrenches;
    integer size;
} piece_responses;

typedef struct pieces {
    integer count;
    const integer *starts, *particles, *labels;
    const real *arms, *totals, *effective_inverse_masses, *constraint_masses, *masses;
    const struct joints *joints;
    integer size;
} pieces;

typedef struct pin_spans {
    const integer *nodes, *ends, *links, *starts, *counts;
    integer count;
} pin_spans;

typedef struct pin_springs {
    const integer *points;
    const real *stiffnesses;
    real *targets;
    integer count;
} pin_springs;

typedef struct plain_model {
    real velocity_gain, h_squared;
    const struct bends *bends;
    const struct rod_batch *rods;
    integer n, pins, *pinned;
    real *rest, *inverse_masses, *own_inverse_masses;
    const struct exposed_surface *exposed_surface;
    const struct restarted_multipliers *multipliers;
    const struct body_lengths *lengths;
    integer free, *components;
    real *floors, dt, former_dt;
    const struct strands *strands;
    real drift, bend, *start, *predicted, *accelerations, *friction_corrections,
        *normal_corrections, *grounded, *before, *targets, *velocities, *blown, *whole;
} plain_model;

typedef struct plain_state {
    real friction, restitution;
    const struct field_path *const *fields;
    integer fields_count, in_field;
    const struct goal_radii *limits;
    const struct target_curve *curve;
    const struct plastic_flow *flow;
    real *positions, *previous_positions, *former_tension;
    const struct plain_model *body;
    const struct target_curve *pull;
    real *pin_ends, *limit_ends, *goal_ends;
    integer goals, *soft;
    real *goal_shares;
    const struct held_vertices *held;
    real *spring_ends;
    const struct reference_motion *motion;
    const struct piece_poses *rigid;
    const struct gas *gas;
    real *pressures;
    const struct reflection *const *reflections;
    integer reflections_count;
    real *mirrors;
    integer mirror_count;
    real heaviness;
    integer taken, *sweeps;
    real *spring_goals, *planes;
} plain_state;

typedef struct plane_contact {
    const real *start;
    real climb, friction, restitution;
    const real *predicted, *accelerations;
    real dt, *normal_corrections, *friction_corrections, *normal, level, *former_floors, *floors,
        drift, bend;
} plane_contact;

typedef struct plastic_flow {
    real hardening, mean_share;
    const struct length_flow *const *lengths;
    integer lengths_count;
    const struct thread_flow *const *threads;
    integer threads_count;
    const struct bend_flow *const *bends;
    integer bends_count;
    const struct strip_links *links;
} plastic_flow;

typedef struct point_contacts {
    real *normals, *levels, *frictions, *stiffnesses, *start, *anchors, *friction_stiffnesses,
        *normal_forces;
    integer points;
} point_contacts;

typedef struct posing {
    const integer *vertices, *starts, *triangles, *followed;
    const real *place_weights, *normal_weights;
    integer count, nodes, width;
} posing;

typedef struct predicted_motion {
    const real *inverse_masses, *start;
    const uint8_t *on_ropes;
    real dt;
    integer particle_count;
} predicted_motion;

typedef struct reference_motion {
    const real *steps;
    const integer *labels;
    integer parts;
} reference_motion;

typedef struct reflection {
    integer mirror;
    const integer *sources, *images, *seam;
    integer pairs, on_seam;
} reflection;

typedef struct restarted_multipliers {
    real kept_share, play, *const *values;
    integer values_count, *counts;
    real *const *followers;
    integer followers_count;
} restarted_multipliers;

typedef struct rod_batch {
    const integer *particles, *parents, *references;
    const uint8_t *clamped;
    const real *inverse_masses, *lengths, *bends, *twists, *shears, *axials, *limits,
        *limit_stiffnesses, *retardations;
    const integer *ends;
    const uint8_t *twins;
    real *rotations;
    integer count, trees, reals;
    real *work;
} rod_batch;

typedef struct rope_slice {
    const struct tree *trees;
    integer start, count;
} rope_slice;

typedef struct ropes {
    const struct strip_system *strip_system;
    integer search_directions;
    const struct tree *trees;
    const struct strip_batch *const *rings;
    integer rings_count;
    const struct strip_batch *const *strips;
    integer strips_count;
    const struct pin_spans *spans;
    real *rests, *lengthened;
    integer links;
    real *span_lengths;
} ropes;

typedef struct rows {
    integer capacity, *features;
    real *weights, *normals, *gaps;
} rows;

typedef struct seam_batch {
    const integer *first, *second;
    const real *inverse_masses, *gains, *max_multipliers, *torn_gaps, *closed_gaps;
    uint8_t *closed, *torn;
    real *multipliers;
    integer count;
} seam_batch;

typedef struct search_criteria {
    real gap_share, start_share;
    integer all_touching;
} search_criteria;

typedef struct shell {
    const integer *members;
    const real *coefficients, *stiffnesses, *rests;
    integer hinges;
    const real *first, *second, *angle_stiffnesses, *angle_rests, *masses;
    real *gradients, *isotropic_stiffnesses;
    integer particles, springs, angles;
    real *interleaved;
} shell;

typedef struct solid_boxes {
    const integer *filled, *cells, *corners, *kinds;
    const real *volumes, *blocks, *sizes;
    const integer *starts;
    integer count;
} solid_boxes;

typedef struct solid_cells {
    const integer *others, *other_starts, *slots, *widths, *starts;
    integer *nodes, *kinds;
    real *gradients, *volumes;
    integer count, width;
    four_reals *tiles;
} solid_cells;

typedef struct solid_corotation {
    real *quaternions, *rotations, *volume_gradients;
    struct solid_box_state *boxes;
    real *growths;
} solid_corotation;

typedef struct solid_embedding {
    const integer *nodes;
    const real *weights;
    integer points, width;
} solid_embedding;

typedef struct solid_lattice {
    integer nodes;
    four_reals *rest;
    const struct solid_cells *const *groups;
    integer groups_count;
    const struct solid_boxes *boxes;
    integer slabs, even_slabs;
} solid_lattice;

typedef struct solid_part {
    const struct solid_lattice *lattice;
    const struct solid_corotation *const *corotations;
    integer corotations_count;
    real stiffness;
} solid_part;

typedef struct solid_problem {
    const struct solid_system *system;
    const struct solver_tolerance *tolerance;
    real modulus, h_squared;
    const real *start, *displacement;
    integer is_stressed;
    real *right, *moves, *nodes, *previous_nodes, *points;
} solid_problem;

typedef struct solid_system {
    const struct solid_part *const *parts;
    integer parts_count;
    const struct solid_embedding *embedding;
    const real *masses, *diagonal;
    const integer *components;
    const struct pin_springs *pin_springs;
    const struct point_contacts *contacts;
    real *predicted, *predicted_nodes;
    integer nodes, pieces;
    struct solid_piece *rigid_pieces;
    four_reals *blocks, *moves, *forces, *residual, *ahead, *search, *along, *arms;
    real *inverse_masses, *rolling;
} solid_system;

typedef struct solver_tolerance {
    real relative, absolute;
    integer min_rounds;
    real negligible;
} solver_tolerance;

typedef struct stencil_batch {
    const integer *particles;
    const real *inverse_masses, *coefficients, *responses, *rests, *scaled_compliances, *gains;
    real *multipliers;
    integer members, count;
} stencil_batch;

typedef struct stiff_bend_batch {
    const integer *particles;
    const real *coefficients, *stiffnesses, *rests;
    const integer *free;
    const real *masses;
    real *multipliers;
    integer count, free_count, *number;
    const struct dissected_system *system;
} stiff_bend_batch;

typedef struct strands {
    const real *masses, *inverse_masses, *rest_densities;
    real spacing, friction, pressure;
    integer table, *keys, *places;
    real *nodes, *moves, *excesses;
} strands;

typedef struct strip_batch {
    const integer *path;
    const real *inverse_masses, *reference_lengths, *scaled_compliances, *diagonal;
    real *rest_lengths, *multipliers;
    integer paths, *ends;
    real *scaled_compression, *start_stiffnesses;
    integer entries, reals;
    real *work, *largest;
} strip_batch;

typedef struct strip_links {
    real tolerance, *rest_lengths, *multipliers;
    integer count, particles;
    const struct link_sides *sides;
    integer *moved;
    uint8_t *marked, *seen;
    real *points;
} strip_links;

typedef struct strip_order {
    const struct strip_batch *const *batches;
    integer batches_count, links, *starts;
    real *multipliers;
    integer *order;
    real *tensions;
} strip_order;

typedef struct strip_system {
    integer keeps_tension;
    const integer *path;
    const uint8_t *warm_started, *both_free;
    const real *max_inverse_masses, *masses;
    const integer *pinned, *starts;
    real *displacement, *gas_forces, *multipliers;
    integer particles, entries, paths, *ends, pins, colors;
    uint8_t *free;
    integer reals, *stiff;
    uint8_t *is_taut;
    real *force_densities, *factor, *inverse, *right, *sums, *diagonal, *shares, *residual,
        *direction, *preconditioned, *image, *solution;
} strip_system;

typedef struct surface {
    const struct strip_system *strip_system;
    const struct face_diagonals *diagonals;
    const struct strip_batch *const *shear;
    integer shear_count;
    const struct coarse_level *const *levels;
    integer levels_count;
    const struct tethers *tethers;
    const struct strip_order *edges;
    const struct clusters *clusters;
    const struct strip_links *links;
} surface;

typedef struct surfaces {
    const integer *owners, *starts, *triangles, *edges, *sides, *wings, *opposite_edges, *fans,
        *fan_starts, *near_starts, *near;
    const real *gaps, *longest;
    const uint8_t *single_sided, *colliders;
    const struct bvh *const *bvhs;
    integer bvhs_count;
    real *paths, *skins, *edge_turns, *corner_turns;
    integer *motion;
    uint8_t *active, *fitted;
    integer particle_count, triangle_count, edge_count;
    real *rest_points;
    struct box *swept_boxes;
    integer owner_count, *colliding_owner_numbers, colliding_count;
} surfaces;

typedef struct target_curve {
    const real *start, *end;
    real *first, *last;
} target_curve;

typedef struct tethers {
    const integer *particles, *pins;
    const real *lengths;
    integer count;
} tethers;

typedef struct thread_flow {
    const real *original;
    const struct yielding *yielding;
    const struct weave_batch *batch;
    real *rests;
} thread_flow;

typedef struct touching_body {
    integer first, last;
    const real *inverse_masses;
    const struct goal_radii *limits;
    const struct plane_contact *const *grounds;
    integer grounds_count;
    real *positions;
    integer *sweeps, particles;
    const struct body_lengths *lengths;
} touching_body;

typedef struct tree {
    const struct generation *const *generations;
    integer generations_count;
    const real *inverse_masses;
    integer junctions;
    real *stiffness, *mobility, *force, *displacement;
} tree;

typedef struct water {
    const integer *pairs;
    const real *weights;
    integer pair_count;
} water;

typedef struct weave_batch {
    const integer *corners;
    const real *gradients, *hourglass_gradients, *stiffnesses, *compression_stiffnesses, *masses,
        *free;
    real *rests, *displacement, *multipliers;
    integer count, particles;
    const struct corner_pairs *pairs;
    real *strains, *diagonal, *blocks, *points, *residual, *ahead, *search, *along, *moved;
} weave_batch;

typedef struct yielding {
    real *permanent, *limits, *mean;
    integer count;
} yielding;

EXPORT void activate_all(const surfaces *);
EXPORT void add_start_spring_forces(real *, real *, integer, const strip_batch *const *, integer);
EXPORT void add_update(real *, integer, integer *, real *, integer);
EXPORT integer alternate(const touching_body *const *, integer, real *, integer, const contact_rows
    *, real, integer, integer);
EXPORT void apply_plastic_flow(real *, integer, const plastic_flow *);
EXPORT void are_active(const surfaces *, const near_pairs *, const uint8_t *, uint8_t *);
EXPORT void are_fresh(const integer *, integer, const integer *, integer, uint8_t *, real *);
EXPORT void are_squeezed(const contact_rows *, const integer *, integer, integer, uint8_t *, real
    *);
EXPORT void blown_accelerations(const exposed_surface *, const real *, const real *, integer, const
    real *, const field *const *, integer, const real *, const real *, real, real *, real *);
EXPORT void choose_coarse(const neighbours *, const uint8_t *, uint8_t *, real *);
EXPORT void clamp_points(const solid_system *, const real *, real *);
EXPORT void conserve_momentum(const integer *, integer, const real *, const real *, const real *,
    const real *, real *, real *);
EXPORT void count_turns(const real *, integer, const real *, integer, const integer *, integer,
    const real *, integer *);
EXPORT void draw_held_vertices(real *, integer, const held_vertices *, real *);
EXPORT void drop_tension_jumps(real *, integer, real *);
EXPORT void eliminate_unknowns(real *, integer, real *, integer);
EXPORT void end_plain(const plain_state *const *, integer, const frame_inputs *, integer);
EXPORT void factorize_pentadiagonal(real *, integer);
EXPORT void field_effects(const field *const *, integer, const real *, const real *, integer, const
    real *, real *);
EXPORT void find_deviations(const real *, integer, const real *, const real *, const real *, real
    *);
EXPORT void find_near_rows(const surfaces *, const bvh_pairs *, const search_criteria *, real,
    integer *, const rows *const *, integer, const near_pairs *const *, integer, integer *);
EXPORT void find_posed_stress(const solid_lattice *, const real *, const solid_corotation *const *,
    integer, const cell_pose *const *, integer, real, const real *, real *, real *, real *);
EXPORT integer find_rows_of_near(const surfaces *, const near_pairs *, const search_criteria *, real
    *, const rows *, integer *);
EXPORT void find_stress(const solid_lattice *, const real *, const solid_corotation *const *,
    integer, real, const real *, real *, real *, real *);
EXPORT void finish_plain(const plain_state *const *, integer, const frame_inputs *, integer);
EXPORT real finish_responses(const piece_poses *, const piece_responses *, real *, integer,
    integer);
EXPORT void fit_all(const surfaces *, real *, real *, real *);
EXPORT void gas_pressure_forces(const real *, integer, const gas *, const real *, const real *,
    real, real, real *);
EXPORT void gather_contacts(const surfaces *, const rows *, const integer *, const integer *,
    integer *, real *, real *, real *, integer *, integer *);
EXPORT void interpolate(const solid_embedding *, const real *, integer, real *);
EXPORT void keep_symmetric(real *, integer, const reflection *const *, integer, real *);
EXPORT integer limit_strain(real *, const strip_links *, real);
EXPORT real linearize_shell(const shell *, const real *, real *);
EXPORT real move_back(real *, integer, real *, integer, integer, integer);
EXPORT void move_plain(const plain_state *const *, integer, const frame_inputs *, real *);
EXPORT void moved_rigidly(const real *, integer, const real *, const integer *, real *);
EXPORT void multiply_shell(const shell *, const real *, real *);
EXPORT void pair_deviations(const surfaces *, const near_pairs *, const real *, real *);
EXPORT void plate_forces(const exposed_surface *, const real *, integer, const real *, real *);
EXPORT void pose_cells(const solid_lattice *, real *, const cell_pose *const *, integer, const
    muscle *const *, integer, real, real);
EXPORT void pose_nodes(const posing *, const real *, integer, real *, real *);
EXPORT void precondition_shell(const factored_shell *, const real *, const real *, integer, real *);
EXPORT void predict_plain(const plain_state *const *, integer, const frame_inputs *, integer);
EXPORT void predict_poses(const piece_poses *, real *, integer, real *, integer);
EXPORT void project_bend_paths(real *, integer, const bend_path_batch *const *, integer);
EXPORT void project_clusters(real *, integer, const clusters *);
EXPORT integer project_joints(const piece_poses *, const joints *, real *, integer, integer);
EXPORT integer project_lengths(real *, integer, const body_lengths *, const piece_poses *, const
    goal_radii *, integer, integer);
EXPORT void project_levels(real *, integer, const coarse_level *const *, integer);
EXPORT void project_plain(const plain_state *const *, integer, const frame_inputs *, integer,
    uint8_t *);
EXPORT void project_plane(real *, integer, const plane_contact *, real *);
EXPORT void project_rods(real *, integer, real *, const rod_batch *);
EXPORT void project_rope_bends(real *, integer, const stencil_batch *const *, integer);
EXPORT void project_rows(real *, integer, const contact_rows *);
EXPORT void project_rows_of_pieces(real *, integer, const contact_rows *, const piece_responses *);
EXPORT void project_seams(real *, integer, const seam_batch *const *, integer);
EXPORT void project_stiff_bends(real *, integer, const stiff_bend_batch *const *, integer);
EXPORT real project_strips(real *, integer, const strip_batch *const *, integer);
EXPORT void project_surface_bends(real *, integer, const stencil_batch *const *, integer);
EXPORT void project_tethers(real *, integer, const tethers *);
EXPORT void project_trees(real *, integer, const tree *);
EXPORT void project_weave(real *, const weave_batch *const *, integer);
EXPORT void push_rows(real *, integer, const contact_rows *);
EXPORT void put_on_goals(real *, integer, const held_vertices *, real *);
EXPORT void rebound_plane(real *, integer, real *, const plane_contact *);
EXPORT void rebound_rows(real *, real *, integer, const contact_rows *);
EXPORT void refit_leaves(const surfaces *, const bvh *, integer, integer);
EXPORT void refit_nodes(const surfaces *, const bvh *);
EXPORT void remove_stretching(real *, real *, integer, const tree *);
EXPORT integer renew_paths(real *, integer, real *, real *, real *, real *, uint8_t *);
EXPORT void row_heights(const real *, integer, const integer *, integer, const real *, const real *,
    real *);
EXPORT void rub_strands(real *, integer, real *, const strands *, real, real);
EXPORT void set_up_rows(const integer *, integer, const real *, const real *, const real *, const
    integer *, const pair_properties *, const predicted_motion *, real *, real *, real *, real *,
    real *, uint8_t *, uint8_t *);
EXPORT void solve_contacts(const solid_system *, real *, real *, const solver_tolerance *);
EXPORT void solve_impulses(const real *, integer, const contact_rows *, const rope_slice *const *,
    integer, real, const real *, const real *, const real *, const real *, real *, real *, real *);
EXPORT void solve_solids(const solid_problem *const *, integer);
EXPORT void spring_goals(const real *, integer, const held_vertices *, const real *, real *);
EXPORT void start_multipliers(const restarted_multipliers *);
EXPORT void start_responses(const piece_poses *, const piece_responses *, integer, integer);
EXPORT void strain_range(const real *, integer, const strip_batch *const *, integer, real *);
EXPORT void sum_weighted(const real *, integer, const integer *, const real *, integer, real *);
EXPORT void total_displacement(const real *, integer, const real *, const integer *, integer, real
    *);
EXPORT integer transfer_contacts(const piece_poses *, real *, integer);
EXPORT void transfer_momentum(const piece_poses *, real *, integer, real *, integer);
EXPORT void turbulence(const real *, integer, real, const integer *, const real *, real *);
EXPORT void undo_implicit_damping(real *, real *, real *, integer, const strip_batch *const *,
    integer);
EXPORT void update_all_paths(const surfaces *, real *, real *, real *);
EXPORT void update_diagonal_rests(real *, integer, const face_diagonals *);
EXPORT void update_paths(const surfaces *, integer, real *, real *, real *);
EXPORT void update_velocities(const solid_system *, const real *, const real *, real *, real *);
EXPORT void volumes_and_gradients(const real *, integer, const chambers *, real *, real *);
EXPORT void warm_start_tension(real *, const strip_system *, real, real, integer);
EXPORT void wave_laplacian(const water *, const real *, integer, real *);
EXPORT void widen_leaves(const surfaces *, const bvh *, uint8_t *);
#endif
