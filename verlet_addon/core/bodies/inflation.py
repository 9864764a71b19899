"""Gas in cloth: filled, released, and its forces on the walls."""

import numpy as np

from ..errors import SettingsError
from ..integrators import step_gains
from ..model import SoftBodyModel
from ..state import ParticleState
from ..volume.gas import build_chambers, fill_chambers, gas_pressure_forces, step_refinement
from .body_step import BodyStep
from .step_data import Body


def fill_with_gas(model: SoftBodyModel, state: ParticleState, pressure: float) -> None:
    """Adds gas to a cloth before a frame with pressure above 0 [Pa], and removes it before others.

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
    """Computes the forces of the gas on its walls, for the warm start of tension to balance."""
    gas, model = body_step.state.gas, body_step.model
    if gas is not None:
        body_step.batches.lengths.strip_system.gas_forces[...] = gas_pressure_forces(
            body_step.state.positions,
            gas,
            model.inverse_masses,
            start=body_step.start,
            pressure=body_step.pressure,
            h_squared=body_step.batches.h_squared,
        )


def prepare_gas(body: Body, pressures: tuple[float, float], integrator: str, dt: float) -> None:
    """Fills a body for steps of length dt [s] from one pressure to another [Pa].

    Raises
    ------
    SettingsError
        If the steps are too long for so light a cloth under this pressure.
    """
    model, state = body
    pressure, damping = max(pressures), model.settings.damping
    fill_with_gas(model, state, pressure)
    if state.gas is None:
        return
    lengths = dt, state.previous_dt
    h_squared = max(float(step_gains(integrator, dt, each, damping)[1]) for each in lengths)
    shorter = step_refinement(state.gas, pressure, h_squared)
    if shorter > 1.0:
        raise SettingsError(
            f"the pressure of '{model.name}' is {pressure:g} Pa, too much for so light a cloth; "
            f"raise the substeps {np.ceil(10.0 * shorter) / 10.0:g}-fold or its mass, or lower "
            "the pressure"
        )
