"""Rigid motions of bones that fit the motion of vertices best.

Arrays: `points` (4, n), rest positions with a row of ones; `motion` (f, 3, n), positions at each
frame; `transforms` (b, f, 3, 4), rotation and offset of each bone at each frame; `weights` (n, b).
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers
from ..linear.rotations import nearest_rotations

_SMALL = 1e-9
"""Rounding: share of a matrix's size added to it where frames leave a direction of a rest position
free."""


def fit_transform(points: Floats, targets: Floats, weights: Floats) -> Floats:
    """(f, 3, 4) rigid motion R, t that minimizes Σ |w (R p + t) − q|² at each frame.

    By the singular values of Σ w (p − p̄) qᵀ: Le and Deng, "Smooth skinning decomposition with rigid
    bones", 2012, section 4.3.

    Parameters
    ----------
    points : (4, n) rest positions p.
    targets : (f, 3, n) positions q.
    weights : (n,) weights w, not all 0.
    """
    squares = weights * weights
    total = max(float(squares.sum()), NONZERO)
    middle = points[:3] @ squares / total
    center = targets @ weights / total
    arms = (points[:3] - middle[:, None]) * weights
    rotations = nearest_rotations(targets @ arms.T)
    offsets = center - rotations @ middle
    return np.concatenate([rotations, offsets[..., None]], axis=2)


def fit_groups(points: Floats, motion: Floats, labels: Integers, count: int) -> Floats:
    """(count, f, 3, 4) rigid motion of the vertices with each label (n,)."""
    members = (np.flatnonzero(labels == label) for label in range(count))
    return np.stack([fit_transform(points[:, m], motion[..., m], np.ones(len(m))) for m in members])


def skinned(points: Floats, transforms: Floats, weights: Floats) -> Floats:
    """(f, 3, n) points, moved by all transforms with their weights."""
    result = np.zeros((transforms.shape[1], 3, points.shape[1]))
    for transform, shares in zip(transforms, weights.T, strict=True):
        acting = np.flatnonzero(shares)
        result[..., acting] += transform @ (points[:, acting] * shares[acting])
    return result


def refit(points: Floats, residual: Floats, transforms: Floats, weights: Floats) -> None:
    """Fits each bone in turn to what the others leave; changes `transforms` and `residual`.

    Parameters
    ----------
    residual : (f, 3, n) motion minus the skinned points.
    """
    for bone, every in enumerate(weights.T):
        acting = np.flatnonzero(every)
        if not len(acting):
            continue
        its, shares = points[:, acting], every[acting]
        targets = residual[..., acting] + transforms[bone] @ (its * shares)
        transforms[bone] = fit_transform(its, targets, shares)
        residual[..., acting] = targets - transforms[bone] @ (its * shares)


def fit_rest(points: Floats, motion: Floats, transforms: Floats, weights: Floats) -> Floats:
    """(4, n) rest positions p that minimize Σ |Σ w (R p + t) − v|² over frames, per vertex."""
    count = points.shape[1]
    matrices, products = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for number, places in enumerate(motion):
        mixed = (weights @ transforms[:, number].reshape(-1, 12)).reshape(count, 3, 4)
        turned, offsets = mixed[:, :, :3], mixed[:, :, 3]
        matrices += turned.transpose(0, 2, 1) @ turned
        products += np.einsum("nij,ni->nj", turned, places.T - offsets)
    held = _SMALL * len(motion)
    matrices += held * np.eye(3)
    products += held * points[:3].T
    solved = np.linalg.solve(matrices, products[..., None])[..., 0]
    return np.vstack([solved.T, points[3:]])
