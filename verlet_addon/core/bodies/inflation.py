"""Gas in cloth: filled, released, and its forces on the walls."""

import numpy as np

from ..errors import SettingsError
from ..model import SoftBodyModel
from ..state import ParticleState
from ..volume.gas import build_chambers, fill_chambers, gas_pressure_forces, step_refinement
from .body_step import BodyStep


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
