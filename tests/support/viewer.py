"""The JavaScript reader, run by Node on files and messages."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np

__all__ = ["NODE", "READER", "call_by_node", "read_by_node", "told"]

ROOT = Path(__file__).parents[2]
READER = ROOT / "tensorwrapper" / "viewer" / "static" / "tensorwrapper.js"
NODE = shutil.which("node")


def read_by_node(paths: Iterable[Path], kind: str = "file") -> list[dict[str, Any]]:
    """Return what the JavaScript reader says of each file, in one process."""
    return _by_node([{"kind": kind, "path": str(path)} for path in paths])


def call_by_node(path: Path, calls: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return what methods of tensors of a file give: a name, a method, and what it is given."""
    (found,) = _by_node([{"path": str(path), "calls": calls}])
    return cast("list[dict[str, Any]]", found["called"])


def _by_node(asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--no-warnings", str(ROOT / "tests" / "viewer" / "read.mjs"), str(READER)],
        input="".join([json.dumps(own) + "\n" for own in asked]),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line, parse_int=_number) for line in done.stdout.splitlines()]


def _number(text: str) -> float:
    # Integers beyond 2^53 come as text: what has as many digits and none is a float.
    return int(text) if abs(int(text)) < 2**53 else float(text)


def told(value: Any) -> Any:
    """Return values of `tolist` as the reader's answers have them."""
    if isinstance(value, list | tuple):
        return [told(own) for own in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, complex):
        return {"c": [told(value.real), told(value.imag)]}
    if isinstance(value, float):
        if not np.isfinite(value):
            return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
        if value == 0 and np.signbit(value):
            return "-0.0"
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)
