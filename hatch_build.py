"""Builds the loops in C, if there is a compiler: without one the wheel is pure, and NumPy does the same."""

import logging
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "tensorwrapper/_kernels"


def compiled(source: Path, folder: Path) -> Path | None:
    """Return the extension module made of a file, or None where it cannot be made."""
    # With launchers and options, as `ccache gcc` and `gcc -pthread` have them.
    compiler = shlex.split(os.environ.get("CC", "")) or shlex.split(sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is None or sys.platform == "win32" or sys.implementation.name != "cpython":
        return None
    target = folder / "_kernels.abi3.so"
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    options = [
        "-O3",
        "-fPIC",
        "-DNDEBUG",
        f"-I{sysconfig.get_path('include')}",
        *shlex.split(os.environ.get("CFLAGS", "")),
        # The last word: otherwise NaN is lost, and so are small numbers of the whole process.
        "-fno-fast-math",
    ]
    try:
        command = [*compiler, *options, *shared, str(source), "-o", str(target)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)  # noqa: S603 - a compiler
    except (OSError, subprocess.SubprocessError) as error:
        logging.getLogger(__name__).debug("no loops in C: %s", error)
        return None
    return target


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the extension module into wheels, or beside its source where the package is installed in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what was compiled, unless `TENSORWRAPPER_COMPILED` is 0."""
        if self.target_name != "wheel":
            return
        in_place = Path(self.root) / f"{NAME}.abi3.so"
        if version == "editable":
            # An old one would outlive its source; and what a process has open must not change.
            in_place.unlink(missing_ok=True)
        if os.environ.get("TENSORWRAPPER_COMPILED") == "0":
            return
        self.folder = tempfile.mkdtemp()
        made = compiled(Path(self.root) / f"{NAME}.c", Path(self.folder))
        if made is None:
            return
        if version == "editable":
            shutil.copy(made, in_place)
        else:
            build_data["force_include"][str(made)] = f"{NAME}.abi3.so"
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was made on the way."""
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)
