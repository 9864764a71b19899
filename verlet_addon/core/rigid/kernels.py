"""The kernels of rigid pieces that serve: compiled ones where there are any, else NumPy's."""

from ..compiled import either
from . import compiled_kernels as compiled, numpy_kernels as reference

give_momentum = either(reference.give_momentum, compiled.give_momentum)
share_contacts = either(reference.share_contacts, compiled.share_contacts)
join = either(reference.join, compiled.join)
