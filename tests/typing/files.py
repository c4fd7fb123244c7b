"""What checkers know of files. Checked, never run."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import tensorwrapper as tw
from tensorwrapper.selection import View
from tensorwrapper.store import (
    ArrayFile,
    Conversion,
    Entry,
    Loss,
    Recognised,
    TensFile,
    Verification,
    convert,
    recognise,
    verify,
)

with tw.open("run.tens") as f:
    assert_type(f, TensFile | ArrayFile)
    assert_type(f["a"], tw.Tensor[Any] | View[Any])
    assert_type(list(f), list[str])
    assert_type(f.get("a"), tw.Tensor[Any] | View[Any] | None)
    assert_type(f.metadata, dict[str, Any])
    assert_type(f.describe("a"), Entry)
    assert_type(f.path, Path)
    assert_type(f.records(["a", "b"]), tw.Records)

with tw.open(Path("run.tens"), "a", metadata={"run": 3}, compress="zlib") as g:
    g["a"] = np.ones(3)
    g["b"] = [[1, 2], [3, 4]]
    g.append("c", tw.jagged([[1], [2, 3]]), metadata={"unit": "m"})
    g.flush()
    g.extend("ev", {"t": tw.jagged([[1], [2, 3]]), "run": [1, 2]})
    g.append("one", g.records("ev")[:1])
    assert_type(g.records("ev"), tw.Records)
    assert_type(g, TensFile)

assert_type(tw.open("a.safetensors")["w"], tw.Tensor[Any] | View[Any])
assert_type(tw.concat([tw.open("a.npz")["w"], tw.open("b.npz")["w"]]), View[Any])
tw.open("run.tens").append("a", [1])  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

tw.open("run.tens", "rb")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
tw.open(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tw.save("run.tens", [np.ones(3)])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tw.save("run.tens", {"a": np.ones(3)}, compress="rar")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

tw.save("run.tens", {"a": np.ones(3), "rows": tw.jagged([[1], [2, 3]])}, metadata={"run": 3})
assert_type(convert("run.tens", "run.npz"), Conversion)
assert_type(convert("run.tens", "run.npz").lost, tuple[Loss, ...])
assert_type(tw.open("run.npz").losses, tuple[Loss, ...])
assert_type(recognise("run.npz"), Recognised)
assert_type(convert("run.tens", "run.npz", only="a", skip=["b"], strict=False), Conversion)
assert_type(verify("run.tens"), Verification)
assert_type(verify("run.tens").ok, bool)
