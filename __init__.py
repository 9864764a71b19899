"""Verlet: cloth, rope, jelly and water from any mesh, baked to shape keys."""

from .verlet_addon import register as register, unregister as unregister
