"""Write the page of all errors and warnings.

The docstrings of `errors.py` describe when each is raised. This script adds what to do and an example, and
runs the example for its text.
"""

import contextlib
import importlib
import inspect
import io
import os
import tempfile
import traceback
from pathlib import Path
from typing import Any

from tensorwrapper import errors

PAGE = Path(__file__).parent / "guide" / "errors.md"
_SHOWN = 100  # characters of a message

HEAD = """\
# Errors and warnings

Every error of the library is a `TensorWrapperError`, and also a builtin error: an index out of bounds \
is an `IndexError`, a missing file is a `FileNotFoundError`. The text says what was given, what is allowed, \
and where. An unknown attribute is an `AttributeError`, and a wrong argument a `TypeError`. Their texts \
suggest the name of tensorwrapper for one of NumPy, Awkward Array, Dask, Zarr, PyTorch or SciPy.

```python
>>> import numpy as np
>>> import tensorwrapper as tw
>>> from tensorwrapper import selection as sel
>>> from tensorwrapper import wire
>>> t, rows = tw.zeros((2, 3)), tw.jagged([[1, 2], [3]])
>>> t.ndim
Traceback (most recent call last):
AttributeError: 'Tensor' object has no attribute 'ndim': `t.rank` is the number of modes

```
"""

WHAT_TO_DO: dict[str, tuple[str, str]] = {
    "TensorWrapperError": ("Catch it to catch every error of the library.", ""),
    "TensorWrapperWarning": ("Filter it to filter every warning of the library.", ""),
    "LeakedResourceWarning": ("Close files and sockets, best with `with`; closing twice is harmless.", ""),
    "DamagedFileWarning": (
        "List the damage with `tw.store.verify(path)`, and use an intact copy.",
        "",
    ),
    "LossWarning": (
        "Keep the metadata in a separate place, or filter the warning if you do not need them.",
        "",
    ),
    "PositionWarning": (
        "Select by index: `t.window(t.shape[10:12])`. Brackets count positions from 0, as in NumPy.",
        "",
    ),
    "ChangedSourceWarning": (
        "Save the view again with `keep_views=True`, or omit `check_versions=False` to get an error.",
        "",
    ),
    "InsecureAddressWarning": (
        "Pass keys, `security=CurveServer(...)`, or listen on 127.0.0.1.",
        "",
    ),
    "RankError": ("Pass one entry per mode; `shape.rank` is the number of modes.", "t.permute(0)"),
    "ExtentError": ("Correct the number that the text names.", "tw.Shape(2, -1)"),
    "ExtentMismatchError": (
        "Make the extents agree, or broadcast one: `t.broadcast(shape)`.",
        "tw.concat([t, tw.zeros((2, 4))])",
    ),
    "ParseError": (
        "Correct the place that the text names; `str(shape)` returns a text that parses.",
        'tw.Shape.parse("(3; 4")',
    ),
    "OutOfBoundsError": ("Test with `in` first, or clip a slice: `slice(..., clip=True)`.", "t[5]"),
    "TooManyIndicesError": ("Drop the last indices, or add a mode with `unsqueeze`.", "t[0, 0, 0]"),
    "StepError": (
        "Use a `Mask`, or slice a tensor, which allows steps as NumPy does.",
        "t.shape[::2]",
    ),
    "JaggedModeError": (
        "Get the extent of one row, `extent_at(prefix)`, or the bounds, `extent_bounds(mode)`.",
        "rows.shape.extent(1)",
    ),
    "PatternError": (
        "Use a threshold of at least 0, signs of 1 or -1, and a modulus of at least 1.",
        "tw.BlockPattern.from_norms(tw.Tiling([1, 2]), [0.5, 3.0], -1.0)",
    ),
    "LabelError": (
        "Separate labels by commas, and use each label of the result in an operand.",
        't.shape("i->j")',
    ),
    "SymmetryError": (
        "Symmetrize the elements first, or allow for rounding: `t.to_packed(s, tolerance=1e-12)`.",
        "tw.Symmetry(3, [((1, 2, 0), -1)])",
    ),
    "LayerError": (
        "`shape.layers` has the number of modes in each layer; `flatten()` removes the layers.",
        "tw.Shape.nested(tw.Shape(2, 3), layers=(1, 2))",
    ),
    "ModeNameError": ("Use one of `shape.names`.", 't.named("x", "y").shape.mode("z")'),
    "SizeOverflowError": (
        "Use smaller numbers or a wider type; numbers in arrays have at most 64 bits.",
        "tw.as_tensor(np.zeros(2, 'i1'))[0] = 300",
    ),
    "OutOfMemoryError": ("Compute in blocks, or into existing memory with `compute(out=...)`.", ""),
    "LayoutError": (
        "Copy first: `t.copy()` is packed in row-major order, so it can be reshaped.",
        "t.permute(1, 0).reshape(6)",
    ),
    "BufferSizeError": (
        "Pass as many bytes as the layout covers; see `layout.bounds()`.",
        "tw.from_buffer(bytes(8), (2,), dtype='f8')",
    ),
    "DTypeError": ("Use one of the types that the text lists.", "tw.zeros((2,), dtype='U3')"),
    "ConversionError": (
        "Call the method that the text names; rounding, filling and dense copies are always explicit.",
        "np.asarray(rows)",
    ),
    "ExportError": ("Export `elements()`, or `compute()` a view first.", "np.from_dlpack(tw.strings(['a']))"),
    "IndexTypeError": ("Select with integers, slices, arrays of them, or a mask of bools.", 't["a"]'),
    "StringDataError": (
        "Read them as bytes, `kind='bytes'`, or correct the program that wrote them.",
        "tw.buffer.StringData.from_offsets([0, 5], b'abc', kind='string')",
    ),
    "ReadOnlyError": ("Write to a copy: `t.copy()`.", "t.broadcast((4, 2, 3))[0] = 1"),
    "ProtocolError": (
        "Catch it to catch local and remote protocol errors; `error.reason` has the broken rule.",
        "",
    ),
    "LocalProtocolError": ("Correct what the text names.", "wire.encode([tw.zeros((2**40, 0, 2**40))])"),
    "RemoteProtocolError": (
        "Check the sender; nothing was allocated for the message.",
        'wire.decode([b"no message"])',
    ),
    "TransportError": (
        "`error.errno` has the error number of the system or of ZeroMQ.",
        'tw.connect("localhost:5555")',
    ),
    "TransportTimeoutError": ("Increase `timeout=`, or check that a process listens at the address.", ""),
    "PeerUnreachableError": ("Wait until the peer reconnects, and send again: the message was not sent.", ""),
    "PeerAbsentError": ("Start the other process, or correct the address.", ""),
    "TransportHandshakeError": ("Connect to a socket of a matching type, with matching keys.", ""),
    "TransportAuthenticationError": ("Register your public key at the server, and check its public key.", ""),
    "TransportClosedError": ("Open a new socket; a closed one cannot be reopened.", ""),
    "RequestRefusedError": ("See `error.reason`; the text says what the server allows.", ""),
    "OutcomeUnknownError": (
        "Read the elements, and write again if they are the old ones; or write with `if_unchanged`.",
        "",
    ),
    "ShardsLostError": ("Read the parts that the text names again when their holders are back.", ""),
    "FlowAbortedError": ("Request the remaining data, or all of them, again.", ""),
    "TransportTornError": ("Open a new socket; the peer has not received a part of the message.", ""),
    "TransportForkError": ("Open sockets after the fork, or start processes with `spawn`.", ""),
    "TransportThreadError": ("Open one socket per thread.", ""),
    "UnsupportedSocketError": ("Use another socket type; `transport` lists the supported ones.", ""),
    "DataFileError": (
        "Run `tensorwrapper verify FILE` to list the damaged and the readable parts of a `.tens` file.",
        "",
    ),
    "DataFileSystemError": ("See `error.errno`: for example a full disk, or too many open files.", ""),
    "DataFileNotFoundError": ("Correct the path.", 'tw.open("nowhere.tens")'),
    "DataFileExistsError": ("Allow to replace the file: `overwrite=True`, `--force`.", ""),
    "DataFilePermissionError": ("Get permission to read or write the file.", ""),
    "TensorNameError": (
        "Use one of `list(file)` or `r.names`, or a name that is valid and new.",
        'tw.save("f.tens", {"": t})',
    ),
    "TensorSetError": ("Follow Wire-Cell's data model: a set, its tensors, and their metadata.", ""),
    "ComputationCancelledError": ("Nothing: the program cancelled it itself.", ""),
    "VersionChangedError": (
        "Read again, with the new `source.version`. Save a stored view again.",
        "",
    ),
    "DistributionError": (
        "Pass parameters that are valid for the distribution.",
        "sel.uniform((2,), 1, 0, seed=1)",
    ),
    "SelectionError": (
        "See `error.reason` for the broken rule of the format.",
        'sel.from_json("{}", sources={})',
    ),
    "NdselError": ("See `error.reason` for the code of the specification.", ""),
    "ValidationError": ("Correct the faults in `error.findings`.", ""),
    "DemoError": ("Check that programs may start processes and open ports on this machine.", ""),
}
"""What to do about each error, and a line of code that raises it, or an empty text."""


def kinds() -> dict[str, type[BaseException]]:
    """Return the errors and warnings by their names, in the order of the source."""
    return {
        name: kind
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, BaseException) and not name.startswith("_")
    }


def _bases(kind: type[BaseException]) -> list[str]:
    """Return the names of the bases that are public, and of the bases of those that are not."""
    names: list[str] = []
    for base in kind.__bases__:
        if issubclass(base, BaseException):
            names += _bases(base) if base.__name__.startswith("_") else [base.__name__]
    return names


def page() -> str:
    """Return the page."""
    names: dict[str, Any] = {
        "np": importlib.import_module("numpy"),
        "tw": importlib.import_module("tensorwrapper"),
    }
    names |= {"sel": names["tw"].selection, "wire": names["tw"].wire}
    names |= {"t": names["tw"].zeros((2, 3)), "rows": names["tw"].jagged([[1, 2], [3]])}
    parts = [HEAD]
    for name, kind in kinds().items():
        to_do, example = WHAT_TO_DO[name]
        bases = ", ".join(f"`{base}`" for base in _bases(kind))
        when = (inspect.getdoc(kind) or "").partition("\n")[0].replace("``", "`")
        parts.append(f"## {name}\n\nBases: {bases}.\n\n**When.** {when}\n\n**What to do.** {to_do}\n")
        if example:
            parts.append(f"```python\n>>> {example}\n{_raised(example, names, name)}\n\n```\n")
    return "\n".join(parts)


def _raised(example: str, names: dict[str, Any], name: str) -> str:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(example, dict(names))  # noqa: S102 - the examples above
        except errors.TensorWrapperError as error:
            if type(error).__name__ != name:
                raise AssertionError(f"{example} raises {type(error).__name__}, not {name}") from error
            (line,) = traceback.format_exception_only(error)
            line = line.rstrip("\n")
            cut = line if len(line) <= _SHOWN else f"{line[:_SHOWN].rpartition(' ')[0]} ..."
            return f"Traceback (most recent call last):\n{cut}"
        finally:
            os.chdir(before)
    raise AssertionError(f"{example} raises nothing")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
