"""Runs tests on kernels that watch their memory, or their threads.

python kernels/sanitize.py memory tests/core/test_compiled_kernels.py [pytest's other arguments]
python kernels/sanitize.py threads tests/core/test_detection.py -k threads
python kernels/sanitize.py order

With `memory` they stop at the first step beyond an array, and at undefined behaviour (gcc's
AddressSanitizer and UndefinedBehaviorSanitizer); what NumPy allocates is watched too, so that a
kernel may not even read one number too many. With `threads` the tests fail where one thread
writes what another reads meanwhile (ThreadSanitizer). With `order` one thread runs the parts of
each loop in reverse, and then in an order without a pattern, in all scenes of `make same`: these
have to bake to the same bits, else parts of a loop are not independent.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from verlet_addon.core.c_source import (  # noqa: E402
    CORE,
    library_name,
    source_digest,
    source_files,
)
from verlet_addon.core.compiled import SUFFIX  # noqa: E402

FOLDER = ROOT / "build" / "sanitized"
FLAGS = (
    "-shared -fPIC -g -O1 -std=c99 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror "
    "-Wno-psabi"  # functions that hand four numbers on at a time are part of what calls them
)
SEARCH_PATH = {
    "PYTHONPATH": os.pathsep.join([str(FOLDER), str(ROOT)]),
    "VERLET_KERNELS": "compiled",
}
"""Environment in which these kernels are found before others."""
CHECKS = {
    "memory": ("-fsanitize=address,undefined -fno-sanitize-recover=all", "libasan.so"),
    "threads": ("-fsanitize=thread", "libtsan.so"),
}
"""Options of gcc, and libraries that have to be loaded before Python."""
ORDERS = "((parts)-1-(part))", "((((part)*15485863)+5)%(parts))"
"""Other orders of parts; the factor is a prime, so that each part comes once."""


def run_in_order(order: str) -> int:
    """Plays all scenes of `make same` on kernels that run parts in this order."""
    compile_kernels(f"-DIN_ORDER(part,parts)={order}")
    same = [sys.executable, "-m", "tests.same", "--kernels", "compiled"]
    environment = os.environ | {"VERLET_THREADS": "1"} | SEARCH_PATH
    return subprocess.run(same, cwd=ROOT, env=environment, check=False).returncode


def compile_kernels(options: str) -> None:
    """Compiles the kernels with these options, beside FLAGS."""
    library = FOLDER / "verlet_kernels" / library_name(SUFFIX)
    library.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(path) for path in source_files() if path.suffix == ".c"]
    definition = f'-DKERNELS_SOURCE="{source_digest()}"'
    command = ["gcc", *FLAGS.split(), *options.split(), definition, "-o", str(library), *sources]
    subprocess.run(command, cwd=CORE, check=True)


def main(watched: str, arguments: list[str]) -> int:
    """Compiles, and runs pytest with these arguments, or scenes in other orders."""
    if watched == "order":
        return max(map(run_in_order, ORDERS))
    checks, runtime = CHECKS[watched]
    compile_kernels(checks)
    found = subprocess.run(
        ["gcc", f"-print-file-name={runtime}"], check=True, capture_output=True, text=True
    )
    environment = (
        os.environ
        | {
            "LD_PRELOAD": found.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves much to the system
            "PYTHONMALLOC": "malloc",
        }
        | SEARCH_PATH
    )
    tests = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
