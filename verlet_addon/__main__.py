"""`python -m verlet_addon bake …`, for Blender as a Python module."""

import sys


def main() -> int:
    """Registers the add-on in the `bpy` module and runs the command line."""
    try:
        from .blender import blend_files, cli
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        print("verlet: this needs Blender as a Python module; pip install bpy", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("verlet: interrupted; nothing was written", file=sys.stderr)
        return 130
    from . import register, unregister

    register()
    try:
        return cli.main(sys.argv[1:], program="python -m verlet_addon")
    finally:
        # Blender as a module does not end cleanly while classes of ours are registered, nor, in
        # 4.2, with a file open that has drivers of Python code.
        unregister()
        blend_files.close_blend()


if __name__ == "__main__":
    sys.exit(main())
