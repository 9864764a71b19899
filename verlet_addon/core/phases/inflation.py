"""Gas that blows bodies up, and the tension that balances it."""

import numpy as np

from ..arrays import Floats
from ..errors import SettingsError
from ..model import SoftBodyModel
from ..state import Batches, ParticleState
from ..stretch.compiled_warm_start import project_former_tension
from ..volume.chambers import build_chambers
from ..volume.gas import Gas, fill, press, too_strong
from .step_data import Mover

SURFACE_MEMORY = 0.75
"""Share of its tension that a held surface starts a step from where it is slack. So silk that hangs
over a rim comes to rest but for some millimetres a second; with 0.85 everywhere its corners go on
at 0.2 m/s for ever, for nothing in a sweep feels how tension pulls sideways. With less, sweeps have
more to find: a dress takes a tenth longer than with 0.85, and silk hangs in deeper folds on some
meshes than on others.
Surfaces that nothing holds carry no load, and start from none; those that gas fills from all of it,
for gas keeps them smooth, and what tension lacks of balancing it shakes them."""
GAS_DIRECTIONS = 16
"""Directions searched in for the balance of gas and tension, which spans the whole body; with 2, a
ball of 1,100 vertices at 1000 Pa wobbles ever more, with 6 it comes to rest."""
TAUT = 2.5
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
        state.gas = fill(chambers, state.positions, model.pressed, model.inverse_masses)
        state.batches = None


def inflate(mover: Mover) -> None:
    """Lets the gas within push its walls outwards, as tension is found that balances it.

    Raises
    ------
    SettingsError
        If the cloth is too light to be followed under such a pressure in steps so long.
    """
    gas, model, pressure = mover.state.gas, mover.model, mover.pressure
    if gas is None:
        return
    h_squared = mover.batches.h_squared
    shorter = too_strong(gas, pressure, h_squared)
    if shorter > 1.0:
        raise SettingsError(
            f"the pressure of '{model.name}' is {pressure:g} Pa, too much for so light a cloth; "
            f"raise the substeps {np.ceil(10.0 * shorter) / 10.0:g}-fold or its mass, or lower "
            "the pressure"
        )
    mover.batches.lengths.net.push[...] = press(
        mover.state.positions,
        gas,
        model.inverse_masses,
        start=mover.start,
        pressure=pressure,
        h_squared=h_squared,
    )


def project_former_tensions(state: ParticleState, batches: Batches) -> None:
    """Starts strips from the tension they had, so that projections only have to find its change."""
    positions, net = state.positions, batches.lengths.net
    if batches.weave:
        # Its patches find what balances the gas, and remember what they did themselves: edges that
        # also did would throw a sheet of 2,601 vertices up again as it falls into its corners.
        positions += net.push / net.masses
        net.push.fill(0.0)
        net.multipliers.fill(0.0)
    elif state.gas is None:
        project_former_tension(positions, net, kept=SURFACE_MEMORY, taut=TAUT)
    else:
        _forget_jumps(state.gas, net.multipliers)
        project_former_tension(positions, net, kept=1.0, taut=TAUT, rounds=GAS_DIRECTIONS)
    ropes = batches.ropes
    project_former_tension(positions, ropes.net, kept=1.0, taut=0.0, rounds=ropes.directions)


def _forget_jumps(gas: Gas, tension: Floats) -> None:
    """Leaves of the tension (k,) of the step before what was there the step before that.

    What has only just come, or comes and goes, would shake walls that remember all of it.
    """
    before, gas.tension = gas.tension, tension.copy()
    if before is not None and len(before) == len(tension):
        np.maximum(tension, before, out=tension)
