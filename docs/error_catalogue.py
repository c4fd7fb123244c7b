"""The page of all errors and warnings: run this script to make it anew.

When each is raised is what `errors.py` says; what to do, and an example, stand here. The text that an example
shows is the one that it raises.
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

Every error of the library is a `TensorWrapperError`, and also the builtin that a stranger would catch: \
what is out of bounds is an `IndexError`, a file that is not there a `FileNotFoundError`. The text says \
what was given, what is allowed and where. A name that a class does not have is a plain `AttributeError`, \
and a call that a function does not take a plain `TypeError`; both go on with what works here, for \
whoever comes from NumPy, Awkward Array, Dask, Zarr, PyTorch or SciPy.

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
    "TensorWrapperError": ("Catch it to catch all that follow.", ""),
    "TensorWrapperWarning": ("Filter it to filter the warnings that follow.", ""),
    "LeakedResourceWarning": ("Close what you open, best with `with`; closing twice is harmless.", ""),
    "DamagedFileWarning": (
        "Ask `tw.store.verify(path)` what is damaged, and take a copy that is not.",
        "",
    ),
    "LossWarning": (
        "Keep what it names beside the tensor, or filter the warning where nothing is missed.",
        "",
    ),
    "PositionWarning": (
        "Select by index: `t.window(t.shape[10:12])`; brackets count positions from 0, as NumPy's do.",
        "",
    ),
    "ChangedSourceWarning": (
        "Save the view again with `keep_views=True`, or leave `check_versions=False` out.",
        "",
    ),
    "InsecureAddressWarning": (
        "Give the socket keys, `security=CurveServer(...)`, or listen at 127.0.0.1.",
        "",
    ),
    "RankError": ("Give one entry for each mode; `shape.rank` is how many there are.", "t.permute(0)"),
    "ExtentError": ("Look at the number that the text names.", "tw.Shape(2, -1)"),
    "ExtentMismatchError": (
        "Make the extents agree, or broadcast one: `t.broadcast(shape)`.",
        "tw.concat([t, tw.zeros((2, 4))])",
    ),
    "ParseError": (
        "Look at the place that the text names; `str(shape)` is a text that reads back.",
        'tw.Shape.parse("(3; 4")',
    ),
    "OutOfBoundsError": ("Ask `in` before, or `slice(..., clip=True)` to be cut to what there is.", "t[5]"),
    "TooManyIndicesError": ("Drop the last indices, or `unsqueeze` a mode.", "t[0, 0, 0]"),
    "StepError": (
        "Use a `Mask`, which picks, or step in a tensor, whose slices are NumPy's.",
        "t.shape[::2]",
    ),
    "JaggedModeError": (
        "Ask for one row, `extent_at(prefix)`, or for the bounds, `extent_bounds(mode)`.",
        "rows.shape.extent(1)",
    ),
    "PatternError": (
        "Give a threshold of 0 or more, signs of 1 and -1, and a modulus of 1 or more.",
        "tw.BlockPattern.from_norms(tw.Tiling([1, 2]), [0.5, 3.0], -1.0)",
    ),
    "LabelError": (
        "Write names with commas between them, each once where it is summed or kept.",
        't.shape("i->j")',
    ),
    "SymmetryError": (
        "Symmetrize the elements first, or allow for rounding: `t.to_packed(s, tolerance=1e-12)`.",
        "tw.Symmetry(3, [((1, 2, 0), -1)])",
    ),
    "LayerError": (
        "`shape.layers` says how the modes are dealt; `flatten()` drops the layers.",
        "tw.Shape.nested(tw.Shape(2, 3), layers=(1, 2))",
    ),
    "ModeNameError": ("`shape.names` has the names.", 't.named("x", "y").shape.mode("z")'),
    "SizeOverflowError": (
        "Ask for less; sizes are integers of Python, but what is counted in arrays has 64 bits.",
        "tw.as_tensor(np.zeros(2, 'i1'))[0] = 300",
    ),
    "OutOfMemoryError": ("Compute a part, or into memory that there is: `compute(out=...)`, blocks.", ""),
    "LayoutError": (
        "Copy first: `t.copy()` is packed in row-major order, and reshapes.",
        "t.permute(1, 0).reshape(6)",
    ),
    "BufferSizeError": (
        "Give as many bytes as the layout reaches: `layout.bounds()`.",
        "tw.from_buffer(bytes(8), (2,), dtype='f8')",
    ),
    "DTypeError": ("Take one of the types that the text lists.", "tw.zeros((2,), dtype='U3')"),
    "ConversionError": (
        "Take what the text names; nothing is rounded, filled or made dense in silence.",
        "np.asarray(rows)",
    ),
    "ExportError": ("Export `elements()`, or `compute()` a view first.", "np.from_dlpack(tw.strings(['a']))"),
    "IndexTypeError": ("Select with integers, slices, arrays of them, or a mask of bools.", 't["a"]'),
    "StringDataError": (
        "Read the bytes as bytes, `kind='bytes'`, or mend what wrote them.",
        "tw.buffer.StringData.from_offsets([0, 5], b'abc', kind='string')",
    ),
    "ReadOnlyError": ("Write to a copy: `t.copy()`.", "t.broadcast((4, 2, 3))[0] = 1"),
    "ProtocolError": (
        "Catch it to catch both of the following; `error.reason` says which rule was broken.",
        "",
    ),
    "LocalProtocolError": ("Mend what you send.", "wire.encode([tw.zeros((2**40, 0, 2**40))])"),
    "RemoteProtocolError": ("Ask who sent it; nothing was allocated for it.", 'wire.decode([b"no message"])'),
    "TransportError": (
        "`error.errno` is the number of the system or of ZeroMQ.",
        'tw.connect("localhost:5555")',
    ),
    "TransportTimeoutError": ("Wait longer, `timeout=`, or see whether anybody listens there.", ""),
    "PeerUnreachableError": ("Wait until the peer is back; nothing was sent.", ""),
    "PeerAbsentError": ("Start who should listen, or mend the address.", ""),
    "TransportHandshakeError": ("Connect to a socket that this one talks to, with its keys.", ""),
    "TransportAuthenticationError": ("Have your public key let in, and check that of the server.", ""),
    "TransportClosedError": ("Open a new one: what is closed stays closed.", ""),
    "RequestRefusedError": ("`error.reason` says why; the text says what the server allows.", ""),
    "OutcomeUnknownError": ("Read, and write again if it is not there; or write `if_unchanged`.", ""),
    "ShardsLostError": ("The text names the parts; read them again when their holders are back.", ""),
    "FlowAbortedError": ("Ask for the rest, or for all, again.", ""),
    "TransportTornError": ("Open a new socket; a message is sent whole or not at all.", ""),
    "TransportForkError": ("Open sockets after the fork, or start processes by `spawn`.", ""),
    "TransportThreadError": ("Give each thread a socket of its own.", ""),
    "UnsupportedSocketError": ("Take another kind; `transport` lists those that run.", ""),
    "DataFileError": ("`tensorwrapper verify FILE` says what is damaged and what can be read.", ""),
    "DataFileSystemError": ("`error.errno` says what: a full disk, too many open files.", ""),
    "DataFileNotFoundError": ("Mend the path.", 'tw.open("nowhere.tens")'),
    "DataFileExistsError": ("Say that it may be replaced: `overwrite=True`, `--force`.", ""),
    "DataFilePermissionError": ("Ask for the right to read or write there.", ""),
    "TensorNameError": ("`list(file)` and `r.names` have the names.", 'tw.save("f.tens", {"": t})'),
    "TensorSetError": ("Give what Wire-Cell's data model has: a set, its tensors, their metadata.", ""),
    "ComputationCancelledError": ("Nothing: you asked for it.", ""),
    "VersionChangedError": (
        "Read again: `source.version` is another now. Save a stored view again.",
        "",
    ),
    "DistributionError": ("Give parameters that the distribution has.", "sel.uniform((2,), 1, 0, seed=1)"),
    "SelectionError": (
        "`error.reason` says which rule of the format is broken.",
        'sel.from_json("{}", sources={})',
    ),
    "NdselError": ("`error.reason` is the code of the specification.", ""),
    "ValidationError": ("Mend what `error.findings` lists.", ""),
    "DemoError": ("See whether processes may be started and ports opened here.", ""),
}
"""What to do about each error, and code that raises it, if a line of it does."""


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
        parts.append(f"## {name}\n\nIs a {bases}.\n\n**When.** {when}\n\n**What to do.** {to_do}\n")
        if example:
            parts.append(f"```python\n>>> {example}\n{_raised(example, names, name)}\n\n```\n")
    return "\n".join(parts)


def _raised(example: str, names: dict[str, Any], name: str) -> str:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(example, dict(names))  # noqa: S102 - what stands above
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
