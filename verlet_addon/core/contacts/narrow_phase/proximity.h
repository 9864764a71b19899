/* Nearest points of a point and a triangle, and of two segments, as in proximity.py, which has
   formulas and sources. */
#ifndef VERLET_PROXIMITY_H
#define VERLET_PROXIMITY_H

#include "../../kernels.h"

/* Nearest points of two features: weights of their four particles, unit vector from the second to the
   first, and distance [m]. */
typedef struct {
    real weights[4], normal[3], apart;
} nearest;

static inline real share_along(const real *from_start, const real *edge)
{
    real share = dot(from_start, edge) / larger(dot(edge, edge), NONZERO);
    return smaller(larger(share, 0.0), 1.0);
}

/* Sets direction and distance from a vector; a vector of length 0 gets the direction of `across`. */
static inline void set_unit(nearest *found, const real *vector, const real *across)
{
    real length = found->apart = __builtin_sqrt(dot(vector, vector));
    if (length < SHORTEST)
        vector = across, length = __builtin_sqrt(dot(across, across));
    real share = 1.0 / larger(length, NONZERO);
    for (int axis = 0; axis < 3; axis++)
        found->normal[axis] = length < NONZERO ? (axis == 2) : vector[axis] * share;
}

/* Nearest points of a point x[0] and a triangle with the corners x[1], x[2], x[3]. */
static inline void nearest_on_triangle(nearest *found, const real x[4][3])
{
    real ab[3], ac[3], bc[3], ap[3], bp[3], normal[3], ap_ac[3], ab_ap[3];
    subtract(x[2], x[1], ab);
    subtract(x[3], x[1], ac);
    subtract(x[3], x[2], bc);
    subtract(x[0], x[1], ap);
    subtract(x[0], x[2], bp);
    cross(ab, ac, normal);
    cross(ap, ac, ap_ac);
    cross(ab, ap, ab_ap);
    real square = dot(normal, normal), v = dot(ap_ac, normal), w = dot(ab_ap, normal);
    real vector[3], *weights = found->weights;
    weights[0] = 1.0;
    if (v > 0.0 && w > 0.0 && v + w < square && square > FLAT * (dot(ab, ab) * dot(ac, ac))) {
        v /= square, w /= square;
        for (int axis = 0; axis < 3; axis++)
            vector[axis] = ap[axis] - v * ab[axis] - w * ac[axis];
        weights[1] = -(1.0 - v - w), weights[2] = -v, weights[3] = -w;
    } else {
        real along_ab = share_along(ap, ab), along_ac = share_along(ap, ac);
        real along_bc = share_along(bp, bc), to_ab[3], to_ac[3], to_bc[3];
        for (int axis = 0; axis < 3; axis++) {
            to_ab[axis] = ap[axis] - along_ab * ab[axis];
            to_ac[axis] = ap[axis] - along_ac * ac[axis];
            to_bc[axis] = bp[axis] - along_bc * bc[axis];
        }
        const real *least = to_ab;
        real most = dot(to_ab, to_ab), other = dot(to_ac, to_ac);
        weights[1] = -(1.0 - along_ab), weights[2] = -along_ab, weights[3] = -0.0;
        if (other < most) {
            most = other, least = to_ac;
            weights[1] = -(1.0 - along_ac), weights[2] = -0.0, weights[3] = -along_ac;
        }
        if (dot(to_bc, to_bc) < most) {
            least = to_bc;
            weights[1] = -0.0, weights[2] = -(1.0 - along_bc), weights[3] = -along_bc;
        }
        for (int axis = 0; axis < 3; axis++)
            vector[axis] = least[axis];
    }
    set_unit(found, vector, normal);
}

/* Nearest points of segments with the ends x[0], x[1] and x[2], x[3]. */
static inline void nearest_on_edges(nearest *found, const real x[4][3])
{
    real u[3], v[3], r[3], vectors[4][3], across[3], s = 0.0, t = 0.0;
    subtract(x[1], x[0], u);
    subtract(x[3], x[2], v);
    subtract(x[0], x[2], r);
    real uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
    real determinant = uu * vv - uv * uv;
    s = uv * vr - vv * ur, t = uu * vr - uv * ur;
    const real *least = vectors[0];
    if (s > 0.0 && s < determinant && t > 0.0 && t < determinant
        && determinant > PARALLEL * (uu * vv)) {
        s /= determinant, t /= determinant;
        for (int axis = 0; axis < 3; axis++)
            vectors[0][axis] = r[axis] + s * u[axis] - t * v[axis];
    } else {
        real bc[3], ad[3], ca[3], da[3];
        subtract(x[1], x[2], bc);
        subtract(x[0], x[3], ad);
        subtract(x[2], x[0], ca);
        subtract(x[3], x[0], da);
        real shares[4] = {share_along(r, v), share_along(bc, v), share_along(ca, u),
                          share_along(da, u)};
        for (int axis = 0; axis < 3; axis++) {
            vectors[0][axis] = r[axis] - shares[0] * v[axis];
            vectors[1][axis] = bc[axis] - shares[1] * v[axis];
            vectors[2][axis] = r[axis] + shares[2] * u[axis];
            vectors[3][axis] = ad[axis] + shares[3] * u[axis];
        }
        int chosen = 0;
        real most = dot(vectors[0], vectors[0]);
        for (int k = 1; k < 4; k++) {
            real square = dot(vectors[k], vectors[k]);
            if (square < most)
                most = square, chosen = k;
        }
        least = vectors[chosen];
        s = chosen < 2 ? (real)chosen : shares[chosen];
        t = chosen < 2 ? shares[chosen] : (real)(chosen - 2);
    }
    cross(u, v, across);
    set_unit(found, least, across);
    found->weights[0] = 1.0 - s, found->weights[1] = s;
    found->weights[2] = t - 1.0, found->weights[3] = -t;
}

#endif
