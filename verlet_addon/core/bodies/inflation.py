"""Gas pressure in cloth, and the warm start of tension, which balances it."""

import numpy as np

from ..arrays import Floats
from ..errors import SettingsError
from ..model import SoftBodyModel
from ..state import Batches, ParticleState
from ..stretch.tension_warm_start import warm_start_tension
from ..volume.gas import Gas, build_chambers, fill_chambers, gas_pressure_forces, step_refinement
from .body_step import BodyStep

SURFACE_WARM_START = 0.75
"""Share of the previous tension that slack links of pinned surfaces start a step from. Silk that
hangs over a rim then comes to rest except for some millimetres a second; with 0.85 everywhere its
corners move on at 0.2 m/s, because sweeps do not resist lateral motion under tension. With less,
sweeps have more to solve: a dress takes a tenth longer than with 0.85, and silk hangs in deeper
folds on some meshes than on others.
Surfaces without pins carry no load, and start from 0. Surfaces with gas start from all of their
tension: the gas keeps them smooth, and an imbalance with tension would shake them."""
GAS_SEARCH_DIRECTIONS = 16
"""Search directions for the balance of gas and tension, which couples the whole body; with 2, a
ball of 1,100 vertices at 1000 Pa wobbles increasingly, with 6 it comes to rest."""
MIN_TAUTNESS = 2.5
"""Tautness h² T/(l m) from which a strip is solved directly in the warm start of surfaces. With
half, a balloon between plates stretches by 3.8 % in place of 1.5 %; with twice, by 36 %."""


def fill_with_gas(model: SoftBodyModel, state: ParticleState, pressure: float) -> None:
    """Adds gas to a cloth when its pressure rises above 0 [Pa], and removes it at 0.

    Batches are rebuilt, because tension is warm-started only under load.
    """
    if pressure == 0.0 and state.gas is not None:
        state.gas = state.batches = None
    elif state.gas is None and pressure > 0.0 and model.settings.body_type == "CLOTH":
        chambers = build_chambers(model.name, model.rest_positions, model.triangles)
        state.gas = fill_chambers(
            chambers, state.positions, model.pressure_shares, model.inverse_masses
        )
        state.batches = None


def inflate(body_step: BodyStep) -> None:
    """Computes the forces of the gas on its walls, for the warm start of tension to balance.

    Raises
    ------
    SettingsError
        If the step is too long for so light a cloth under this pressure.
    """
    gas, model, pressure = body_step.state.gas, body_step.model, body_step.pressure
    if gas is None:
        return
    h_squared = body_step.batches.h_squared
    shorter = step_refinement(gas, pressure, h_squared)
    if shorter > 1.0:
        raise SettingsError(
            f"the pressure of '{model.name}' is {pressure:g} Pa, too much for so light a cloth; "
            f"raise the substeps {np.ceil(10.0 * shorter) / 10.0:g}-fold or its mass, or lower "
            "the pressure"
        )
    body_step.batches.lengths.strip_system.gas_forces[...] = gas_pressure_forces(
        body_step.state.positions,
        gas,
        model.inverse_masses,
        start=body_step.start,
        pressure=pressure,
        h_squared=h_squared,
    )


def warm_start_tensions(state: ParticleState, batches: Batches) -> None:
    """Warm-starts strips with the previous tension, so that sweeps only solve for its change."""
    positions, strip_system = state.positions, batches.lengths.strip_system
    if batches.weave:
        # Weave patches balance the gas, and have their own warm start. With one of edges as well, a
        # sheet of 2,601 vertices would be thrown up as it falls into its corners.
        positions += strip_system.gas_forces / strip_system.masses
        strip_system.gas_forces.fill(0.0)
        strip_system.multipliers.fill(0.0)
    elif state.gas is None:
        warm_start_tension(
            positions, strip_system, kept_share=SURFACE_WARM_START, min_tautness=MIN_TAUTNESS
        )
    else:
        _drop_tension_jumps(state.gas, strip_system.multipliers)
        warm_start_tension(
            positions,
            strip_system,
            kept_share=1.0,
            min_tautness=MIN_TAUTNESS,
            rounds=GAS_SEARCH_DIRECTIONS,
        )
    ropes = batches.ropes
    warm_start_tension(
        positions,
        ropes.strip_system,
        kept_share=1.0,
        min_tautness=0.0,
        rounds=ropes.search_directions,
    )


def _drop_tension_jumps(gas: Gas, tension: Floats) -> None:
    """Limits the tension (k,) of the last step to that of the step before it, in place.

    Tension is × h², and negative where links pull. Tension that has just appeared, or alternates,
    would shake the walls, which start from all of it.
    """
    before, gas.tension = gas.tension, tension.copy()
    if before is not None and len(before) == len(tension):
        np.maximum(tension, before, out=tension)
