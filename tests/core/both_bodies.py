"""The two bodies of the kernels in a module."""

from types import ModuleType, SimpleNamespace

from verlet_addon.core.kernel import Kernel


def in_numpy(*modules: ModuleType) -> SimpleNamespace:
    """The names of modules, where those of kernels stand for their bodies in NumPy."""
    names = {name: value for module in modules for name, value in vars(module).items()}
    return SimpleNamespace(
        **{
            name: value.reference if isinstance(value, Kernel) else value
            for name, value in names.items()
        }
    )
