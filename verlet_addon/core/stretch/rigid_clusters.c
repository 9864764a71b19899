/* Rigid clusters: the function of rigid_clusters.py, which has formulas and sources.

   The rotation comes from the quaternion that is the eigenvector of the largest eigenvalue of a
   symmetric 4 x 4 matrix (B. K. P. Horn, Closed-Form Solution of Absolute Orientation Using Unit
   Quaternions, 1987). */
#include "../momentum/rotations.h"

/* Jacobi rotation of rows and columns p and q that makes their common element 0; accumulated in
   `rotations`. */
static void rotate_jacobi(real matrix[4][4], real rotations[4][4], int p, int q)
{
    if (matrix[p][q] * matrix[p][q] < NONZERO)
        return;
    real slope = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    real tangent = 1.0 / (larger(slope, -slope) + __builtin_sqrt(slope * slope + 1.0));
    if (slope < 0.0)
        tangent = -tangent;
    real cosine = 1.0 / __builtin_sqrt(tangent * tangent + 1.0), sine = tangent * cosine;
    for (int k = 0; k < 4; k++) {
        real x = matrix[k][p], y = matrix[k][q];
        matrix[k][p] = cosine * x - sine * y;
        matrix[k][q] = sine * x + cosine * y;
        x = rotations[k][p], y = rotations[k][q];
        rotations[k][p] = cosine * x - sine * y;
        rotations[k][q] = sine * x + cosine * y;
    }
    for (int k = 0; k < 4; k++) {
        real x = matrix[p][k], y = matrix[q][k];
        matrix[p][k] = cosine * x - sine * y;
        matrix[q][k] = sine * x + cosine * y;
    }
}

/* Sets the rotation nearest to covariance = sum of share * position * arm'. */
static void find_rotation(real covariance[3][3], real rotation[9])
{
    real matrix[4][4], rotations[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            rotations[i][j] = i == j;
    matrix[0][0] = covariance[0][0] + covariance[1][1] + covariance[2][2];
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3, last = (i + 2) % 3;
        matrix[0][i + 1] = matrix[i + 1][0] = covariance[last][next] - covariance[next][last];
        matrix[i + 1][i + 1] = 2.0 * covariance[i][i] - matrix[0][0];
        matrix[i + 1][next + 1] = matrix[next + 1][i + 1] = covariance[i][next] + covariance[next][i];
    }
    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++)
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 4; q++)
                rotate_jacobi(matrix, rotations, p, q);
    int most = 0;
    for (int k = 1; k < 4; k++)
        if (matrix[k][k] > matrix[most][most])
            most = k;
    const real found[4] = {rotations[0][most], rotations[1][most], rotations[2][most], rotations[3][most]};
    quaternion_matrix(found, rotation);
}

/* Moves a cluster's particles to its rest shape in the pose that fits them best. */
static void fit_cluster(real *positions, integer n, const clusters *all, integer begin, integer end)
{
    real centre[3] = {0.0, 0.0, 0.0}, covariance[3][3] = {{0.0}}, rotation[9];
    for (integer k = begin; k < end; k++)
        for (int i = 0; i < 3; i++) {
            real weighted = positions[i * n + all->particles[k]] * all->shares[k];
            centre[i] += weighted;
            for (int j = 0; j < 3; j++)
                covariance[i][j] += weighted * all->arms[j * all->members + k];
        }
    find_rotation(covariance, rotation);
    for (integer k = begin; k < end; k++)
        for (int i = 0; i < 3 && all->movable[k]; i++) {
            real fitted = centre[i];
            for (int j = 0; j < 3; j++)
                fitted += rotation[3 * i + j] * all->arms[j * all->members + k];
            positions[i * n + all->particles[k]] = fitted;
        }
}

EXPORT void project_clusters(real *positions, integer n, const clusters *all)
{
    const integer *ends = all->ends;
    for (integer begin = 0; begin < all->members; begin = *ends++)
        fit_cluster(positions, n, all, begin, *ends);
}
