"""Gas that blows bodies up, and the tension that balances it."""

import numpy as np

from ..arrays import Floats
from ..errors import SettingsError
from ..model import SoftBodyModel
from ..state import Batches, ParticleState
from ..stretch.compiled_tension_warm_start import warm_start_tension
from ..volume.chambers import build_chambers
from ..volume.gas import Gas, fill_chambers, gas_pressure_forces, step_refinement
from .step_data import BodyStep

SURFACE_WARM_START = 0.75
"""Share of its tension that a held surface starts a step from where it is slack. So silk that hangs
over a rim comes to rest but for some millimetres a second; with 0.85 everywhere its corners go on
at 0.2 m/s for ever, for nothing in a sweep feels how tension pulls sideways. With less, sweeps have
more to find: a dress takes a tenth longer than with 0.85, and silk hangs in deeper folds on some
meshes than on others.
Surfaces that nothing holds carry no load, and start from none; those that gas fills from all of it,
for gas keeps them smooth, and what tension lacks of balancing it shakes them."""
GAS_SEARCH_DIRECTIONS = 16
"""Directions searched in for the balance of gas and tension, which spans the whole body; with 2, a
ball of 1,100 vertices at 1000 Pa wobbles ever more, with 6 it comes to rest."""
MIN_TAUTNESS = 2.5
"""Links are taut from about this h² T/(l m) on: surfaces' former tension is solved for strip by
strip there."""


def fill_with_gas(model: SoftBodyModel, state: ParticleState, pressure: float) -> None:
    """Puts gas into a cloth while its pressure is above 0 [Pa], and lets it out at 0.

    With gas in it, it is under load, so that its strips remember their tension.
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
    """Lets the gas within push its walls outwards, as tension is found that balances it.

    Raises
    ------
    SettingsError
        If the cloth is too light to be followed under such a pressure in steps so long.
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
    """Starts strips from the tension they had, so that projections only have to find its change."""
    positions, strip_system = state.positions, batches.lengths.strip_system
    if batches.weave:
        # Its patches find what balances the gas, and remember what they did themselves: edges that
        # also did would throw a sheet of 2,601 vertices up again as it falls into its corners.
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
    """Leaves of the tension (k,) of the step before what was there the step before that.

    What has only just come, or comes and goes, would shake walls that remember all of it.
    """
    before, gas.tension = gas.tension, tension.copy()
    if before is not None and len(before) == len(tension):
        np.maximum(tension, before, out=tension)
