"""Verlet: cloth, rope and jelly from any mesh, baked to shape keys."""

from .verlet_addon import register as register, unregister as unregister
