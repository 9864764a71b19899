"""Runs tests on kernels that watch their memory, or their threads.

python kernels/sanitize.py memory tests/core/test_compiled_kernels.py [pytest's other arguments]
python kernels/sanitize.py threads tests/core/test_detection.py -k threads

With `memory` they stop at the first step beyond an array, and at undefined behaviour (gcc's
AddressSanitizer and UndefinedBehaviorSanitizer); what NumPy allocates is watched too, so that a
kernel may not even read one number too many. With `threads` the tests fail where one thread
writes what another reads meanwhile (ThreadSanitizer).
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from verlet_addon.core.compiled import CORE, LIBRARY, source_digest, source_files  # noqa: E402

FOLDER = ROOT / "build" / "sanitized"
FLAGS = (
    "-shared -fPIC -g -O1 -std=c99 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror "
    "-Wno-psabi"  # functions that hand four numbers on at a time are part of what calls them
)
CHECKS = {
    "memory": ("-fsanitize=address,undefined -fno-sanitize-recover=all", "libasan.so"),
    "threads": ("-fsanitize=thread", "libtsan.so"),
}
"""Options of gcc, and libraries that have to be loaded before Python."""


def main(watched: str, arguments: list[str]) -> int:
    """Compiles, and runs pytest with these arguments."""
    checks, runtime = CHECKS[watched]
    library = FOLDER / "verlet_kernels" / LIBRARY
    library.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(path) for path in source_files() if path.suffix == ".c"]
    definition = f'-DKERNELS_SOURCE="{source_digest()}"'
    command = ["gcc", *FLAGS.split(), *checks.split(), definition, "-o", str(library), *sources]
    subprocess.run(command, cwd=CORE, check=True)
    found = subprocess.run(
        ["gcc", f"-print-file-name={runtime}"], check=True, capture_output=True, text=True
    )
    environment = os.environ | {
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves much to the system
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join([str(FOLDER), str(ROOT)]),
        "VERLET_KERNELS": "compiled",
    }
    tests = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
