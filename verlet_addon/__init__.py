"""Verlet soft bodies for Blender; `core` simulates, `blender` reads and writes Blender's data."""


def register() -> None:
    """Registers the add-on with Blender."""
    from .blender import registration

    registration.register()


def unregister() -> None:
    """Unregisters everything that `register` registered."""
    from .blender import registration

    registration.unregister()
