"""The command line: `blender --command verlet …` and `python -m verlet_addon …`."""
