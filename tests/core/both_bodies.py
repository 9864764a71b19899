"""The two bodies of the kernels in a module."""

from types import ModuleType, SimpleNamespace


def in_numpy(*modules: ModuleType) -> SimpleNamespace:
    """The names of modules, where those of kernels stand for their bodies in NumPy."""
    names = {name: value for module in modules for name, value in vars(module).items()}
    return SimpleNamespace(
        **{name: getattr(value, "reference", value) for name, value in names.items()}
    )
