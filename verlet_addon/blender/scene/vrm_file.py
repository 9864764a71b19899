"""Binary glTF files, of which .vrm is a form: their JSON, and places of their nodes."""

import json
import struct
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...core.arrays import Floats
from ...core.errors import FileError

HEADER = "<4sIII4s"
"""Magic, version and length of the file; length and type of the first chunk. Source: the glTF 2.0
specification, Binary glTF Layout."""
PRIOR = 1e-6
"""Weight of the usual axes against the places of nodes: over the rounding of these, and under what
models that are nearly flat tell."""


def read_gltf(path: Path) -> dict[str, Any]:
    """JSON of a binary glTF file.

    Raises
    ------
    FileError
        The file cannot be read, or is no binary glTF.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name} cannot be read: {error.strerror}", path) from error
    size = struct.calcsize(HEADER)
    try:
        magic, _, _, length, kind = struct.unpack_from(HEADER, content)
        if (magic, kind) != (b"glTF", b"JSON"):
            raise ValueError
        found = json.loads(content[size : size + length])
        if not isinstance(found, dict):
            raise ValueError
    except (ValueError, struct.error) as error:
        raise FileError(
            f"{path.name} is no .vrm or .glb file; choose one that the armature comes from", path
        ) from error
    return found


class NodePlaces:
    """Nodes of a file that are bones of an armature, and places beside them.

    An importer may have turned and scaled the model, so the turn and scale are those that bring
    the nodes to the heads of their bones.
    """

    def __init__(
        self, nodes: list[dict[str, Any]], armature: bpy.types.Object, *, turned: bool
    ) -> None:
        """Keeps the nodes and bones; `turned` models look backward, as those of VRM 0.x do."""
        data: Any = armature.data
        self._nodes, self._bones, self._turned = nodes, data.bones, turned
        self._parents = {
            child: number for number, node in enumerate(nodes) for child in node.get("children", [])
        }

    def name(self, node: int) -> str:
        """Name of a node; empty if it has none."""
        return str(self._nodes[node].get("name", "")) if 0 <= node < len(self._nodes) else ""

    def has_bone(self, node: int) -> bool:
        """Whether the armature has a bone of a node's name."""
        return self.name(node) in self._bones

    @property
    def scale(self) -> float:
        """Length in the armature of a unit of the file."""
        return float(np.cbrt(abs(np.linalg.det(self._fit))))

    def in_bone(self, node: int, offset: Sequence[float]) -> Vector:
        """A place beside a node, in the space of its bone at rest."""
        bone = self._bones[self.name(node)]
        world = self._world(node).to_3x3() @ Vector(offset)
        place = Vector(bone.head_local) + Vector((self._fit @ np.array(world)).tolist())
        return Vector(bone.matrix_local.inverted() @ place)

    def _world(self, node: int) -> Matrix:
        """Matrix of a node in the file's space."""
        its = self._nodes[node]
        if "matrix" in its:
            own = Matrix(np.array(its["matrix"]).reshape(4, 4).T.tolist())
        else:
            x, y, z, w = its.get("rotation", (0.0, 0.0, 0.0, 1.0))
            own = Matrix.LocRotScale(
                Vector(its.get("translation", (0.0, 0.0, 0.0))),
                Quaternion((w, x, y, z)),
                Vector(its.get("scale", (1.0, 1.0, 1.0))),
            )
        return self._world(self._parents[node]) @ own if node in self._parents else own

    @cached_property
    def _fit(self) -> Floats:
        """(3, 3) turn and scale from the file's space to that of the armature.

        What the places of nodes leave open is as Blender's importer has it. Source: S. Umeyama,
        *Least-Squares Estimation of Transformation Parameters*, 1991.
        """
        usual = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
        if self._turned:
            usual[:2] *= -1.0
        known = [node for node in range(len(self._nodes)) if self.has_bone(node)]
        if not known:
            return usual
        places = np.array([self._world(node).translation for node in known], np.float64)
        heads = np.array([self._bones[self.name(node)].head_local for node in known], np.float64)
        places -= places.mean(axis=0)
        heads -= heads.mean(axis=0)
        sizes = float(np.linalg.norm(places)), float(np.linalg.norm(heads))
        if not all(sizes):
            return usual
        left, _, right = np.linalg.svd(heads.T @ places / (sizes[0] * sizes[1]) + PRIOR * usual)
        signs = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
        turn: Floats = (left * signs) @ right
        return turn * sizes[1] / sizes[0]
