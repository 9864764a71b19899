"""Weights of pins: those of a vertex group, by a factor that can be keyed."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.arrays import Booleans, Floats
from ..settings.bone_properties import armature_of
from ..settings.properties import body_properties
from .bone_joints import pose_weights
from .cages import simulated_object
from .curve_lines import line_pins
from .curve_points import is_curve
from .hair_curves import follow_shares, is_hair, root_weights
from .mesh_access import group_weights


@dataclass(eq=False)
class PinWeights:
    """Painted pin weights of a body, and their last product with a factor."""

    painted: Floats
    """(n,) weights of the pin group; zeros without one."""
    exact: Booleans
    """(n,) bool, vertices whose maximum distance from the animated mesh is 0."""
    factor: float = 1.0
    product: Floats | None = None
    """(n,) weights by that factor; None before the first call of `at`."""

    def at(self, factor: float) -> Floats:
        """(n,) pin weights by a factor; the identical array while that stays the same."""
        if self.product is None or factor != self.factor:
            self.factor = factor
            self.product = np.where(self.exact, 1.0, self.painted * factor)
        return self.product

    def are(self, weights: Floats) -> Floats:
        """(n,) given pin weights; the identical array while they stay the same."""
        if self.product is None or not np.array_equal(weights, self.product):
            self.product = weights
        return self.product


def pin_group_of(obj: bpy.types.Object) -> str:
    """Name of the vertex group that pins a body; empty without one, and of flesh."""
    body = body_properties(obj)
    return "" if body.body_type == "FLESH" else str(body.pin_group)


def read_pin_weights(obj: bpy.types.Object) -> PinWeights:
    """The painted pin weights of a body; reading them takes as long as a few steps."""
    if is_curve(obj):
        pins = line_pins(obj)
        return PinWeights(pins, np.zeros(len(pins), bool))
    if is_hair(obj):
        roots = root_weights(obj)
        return PinWeights(follow_shares(obj), roots == 1.0)
    body, painted_on = body_properties(obj), simulated_object(obj)
    painted = group_weights(painted_on, pin_group_of(obj))
    exact = np.zeros(len(painted), bool)
    if body.use_maximum_distance and body.maximum_distance_group and body.body_type != "FLESH":
        exact = group_weights(painted_on, body.maximum_distance_group) == 0.0
    return PinWeights(painted, exact)


def may_key_pins(obj: bpy.types.Object) -> bool:
    """Whether the pin weights of a body, or how far hair follows its groom, may be keyed."""
    if (armature := armature_of(obj)) is not None:
        return armature.animation_data is not None
    has_pins = is_curve(obj) or is_hair(obj) or pin_group_of(obj) != ""
    return obj.animation_data is not None and has_pins


def current_pin_weights(
    obj: bpy.types.Object, weights: PinWeights, depsgraph: bpy.types.Depsgraph
) -> Floats:
    """(n,) pin weights of a body at the current frame; identical while they stay the same."""
    if weights.product is not None and not may_key_pins(obj):
        return weights.product
    if (held := pose_weights(obj, depsgraph)) is not None:
        return weights.are(held)
    body = body_properties(obj.evaluated_get(depsgraph))
    return weights.at(float(body.follow_groom if is_hair(obj) else body.pin_weight))
