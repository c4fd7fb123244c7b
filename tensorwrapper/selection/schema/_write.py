"""Views as JSON: what is written. Sources are named, functions are not sent, large tables may be frames.

Version 1. A view is an object with ``of`` (what it is made of) and, where it is not all of that, ``layout``
(one layout of the places of what it is made of: the normal form), or ``ops`` (simple steps, in order), or
steps after a layout. The outermost object also has ``view`` (the version), ``dtype`` and ``range``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np

from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import Expression, Node, NodeWriter
from tensorwrapper.selection.expressions._fields import dtype_name, range_of
from tensorwrapper.selection.operations._atom import Atom
from tensorwrapper.selection.operations._table import OPERATIONS, atoms_of
from tensorwrapper.selection.schema._nodes import is_registered
from tensorwrapper.selection.sources._source import Source, TensorSource
from tensorwrapper.selection.transforms._maps import maps_of
from tensorwrapper.shape import Shape

__all__ = ["VERSION", "SchemaForm", "sources", "to_json"]

VERSION = 1
_FRAMED = 64  # positions from which a table becomes a frame, if there may be frames

SchemaForm: TypeAlias = Literal["steps", "normal", "box"]
"""How a view is written: as the steps that made it, as what runs, or as a region of one source."""


def sources(view: View[Any]) -> dict[str, Source]:
    """Return the sources of a view by name: "0", "1" and so on, in the order in which they are met.

    A tensor that comes twice is one source; two tensors over one buffer are two.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> a, b = tw.as_tensor([1, 2]), tw.as_tensor([3])
    >>> sel.sources(sel.concat([a, b, a]))
    {'0': tensor(Shape(2), int64), '1': tensor(Shape(1), int64)}
    """
    found: dict[int | Source, Source] = {}
    waiting = [view._expression]
    while waiting:
        part = waiting.pop()
        while part.written is not None:
            # Of what was optimized it is the written steps that are read.
            part = part.written
        source = part.node.source
        if source is not None:
            found.setdefault(_key(source), source)
        waiting += reversed(part.node.operands)
    return {str(number): source for number, source in enumerate(found.values())}


def _key(source: Source) -> "int | Source":
    """Return what tells sources apart by name: tensors over one buffer are two sources."""
    return id(source.tensor) if isinstance(source, TensorSource) else source


def to_json(
    view: View[Any],
    *,
    form: SchemaForm = "steps",
    sources: Mapping[str, Source] | None = None,
    frames: list[bytes] | None = None,
) -> str:
    """Return a view as JSON, without the elements of its sources.

    Parameters
    ----------
    view
        Over boxes. Steps that call a Python function cannot be written.
    form
        ``"steps"`` keeps every step as it was written. ``"normal"`` writes what runs. ``"box"`` writes
        ``{"tensorId", "range"}``, for a view that is a region of one source.
    sources
        Names of the sources; those of `sources` if not given.
    frames
        A list to which long tables of positions are added as bytes (little-endian int64), each of which the
        JSON then names by its number.

    Raises
    ------
    ConversionError
        If the view cannot be written so.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> v = sel.as_view([[1, 2, 3], [4, 5, 6]])[:, ::-1]
    >>> sel.to_json(v)
    '{"dtype":"<i8","of":{"source":"0"},"ops":[["slice",1,2,-1,3]],"range":{"end":[2,3],"start":[0,0]},"view":1}'
    >>> sel.to_json(v[:, 1:].permute((0, 1))[:, ::-1], form="box")
    '{"range":{"end":[2,2],"start":[0,0]},"tensorId":"0"}'
    """
    named = _sources(view) if sources is None else sources
    writer = _Writer(named, frames)
    if form == "box":
        return dump_json(writer.box(view.normal_form() if view.size else view._expression))
    written = writer.normal(view.normal_form()) if form == "normal" else writer.steps(view._expression)
    shape = view.shape
    return dump_json({"view": VERSION, "dtype": dtype_name(view.dtype), "range": range_of(shape), **written})


_sources = sources


@final
class _Writer(NodeWriter):
    """What is known while a view is written."""

    __slots__ = ("_buffers", "_frames", "_is_normal", "_names", "_tensors")

    def __init__(self, names: Mapping[str, Source], frames: list[bytes] | None) -> None:
        self._is_normal = False
        self._names = names
        self._frames = frames
        # Of several names the first one is written.
        pairs = list(names.items())[::-1]
        self._tensors = {_key(source): name for name, source in pairs}
        self._buffers = {source: name for name, source in pairs}

    def steps(self, view: Expression) -> dict[str, Json]:
        """Return a view as the steps that made it."""
        _check_box(view)
        if view.written is None:
            written: dict[str, Json] = (
                {"of": self._node(view.node)} if view.calls or _is_all(view) else self.normal(view)
            )
        else:
            # It goes on from what was optimized, or from a part of a node.
            written = self.steps(view.written)
        ops = cast("list[Json]", written.setdefault("ops", []))
        for call in view.calls:
            for atom in atoms_of(call):
                ops += _steps_of(atom, call[2], self._table)
        if not ops:
            del written["ops"]
        return written

    def _table(self, positions: Any) -> Json:  # noqa: ANN401 - integers in a tuple or array
        if self._frames is None or len(positions) < _FRAMED:
            return [int(p) for p in positions]
        self._frames.append(np.asarray(positions, dtype="<i8").tobytes())
        return {"frame": len(self._frames) - 1}

    def _name(self, source: Source, *, buffer: bool = False) -> str:
        name = self._buffers.get(source) if buffer else self._tensors.get(_key(source))
        if name is None:
            raise ConversionError(
                f"the view reads {source!r}, which has no name among {list(self._names)[:8]}"
            )
        return name

    @property
    def is_normal(self) -> bool:
        return self._is_normal

    def view(self, view: Expression) -> dict[str, Json]:
        return self.normal(view) if self._is_normal else self.steps(view)

    def source(self, source: Source) -> str:
        return self._name(source, buffer=self._is_normal)

    def _node(self, node: Node) -> dict[str, Json]:
        if node.json_names and not is_registered(type(node)):
            raise ConversionError(
                f"{node.name} is not written as JSON: register_node({type(node).__name__}) makes it known"
            )
        return node.to_json(self)

    def normal(self, view: Expression) -> dict[str, Json]:
        """Return a view in normal form: one layout for each part."""
        _check_box(view)
        node = view.node
        maps = maps_of(view.layout)
        if maps is None:
            return {"of": {"source": self._kept_together(view)}}
        before, self._is_normal = self._is_normal, True
        written: dict[str, Json] = {"of": self._node(node)}
        self._is_normal = before
        base, axes = maps
        if node.source is not None or maps != maps_of(wrap_layout(new_row_major(node.extents))):
            written["layout"] = {"offset": base, "modes": [self._axis(axis) for axis in axes]}
        return written

    def _kept_together(self, view: Expression) -> str:
        """Return the name of the source that a view without a rule per mode is all of."""
        node = view.node
        for name, known in self._names.items():
            same = isinstance(known, TensorSource) and known == node.source
            if same and view.layout[...] == cast("TensorSource", known).tensor.layout[...]:
                return name
        raise ConversionError(
            f"a part of a tensor of shape {view.shape} that keeps tiles together has no rule per mode: it is "
            'written as steps, form="steps"'
        )

    def _axis(self, axis: AxisMap) -> dict[str, Json]:
        if isinstance(axis, Stride):
            return {"extent": axis.extent, "stride": axis.step}
        if isinstance(axis, Cycle):
            cycle: list[Json] = [axis.start, axis.turn, axis.modulus, axis.hold, axis.step]
            return {"extent": axis.extent, "cycle": cycle}
        return {"extent": axis.extent, "table": self._table(cast("Table", axis).values)}

    def box(self, view: Expression) -> dict[str, Json]:
        """Return a view that is a region of one source as ``{"tensorId", "range"}``."""
        _check_box(view)
        node = view.node
        if node.source is None:
            raise ConversionError(f"a box is a region of one source, and this view is {node.name}")
        name = self._name(node.source, buffer=True)
        source = self._names[name]
        whole = source.tensor.layout if isinstance(source, TensorSource) else Layout(source.shape)
        size = view.shape.size
        start = whole.index_of(view.layout.offset_of(view.shape.origin)) if size else source.shape.origin
        region = Shape(*view.shape.extents, origin=start) if len(start) == view.shape.rank else None
        if region is None or (size and not _is_window(whole, region, view)):
            raise ConversionError("the view is no region of its source: it changes the order or the modes")
        return {"tensorId": name, "range": range_of(region)}


def _steps_of(atom: Atom, before: Shape[Any], table: Callable[[Any], Json]) -> list[Json]:
    operation = OPERATIONS.get(atom.operation)
    if operation is None:
        raise ConversionError(f"{atom.operation} is not written as JSON")
    return operation.to_json(atom.arguments, before, table)


def _is_all(view: Expression) -> bool:
    """Tell whether a view is all of its node or source, wherever it lies."""
    tensor = view.node.tensor
    return view.is_whole if tensor is None else view.layout[...] == tensor.layout[...]


def _check_box(view: Expression) -> None:
    if view.shape.kind != "smooth":
        raise ConversionError(f"a view of {view.shape} is not written as JSON: only boxes are")


def _is_window(whole: Layout[Any], region: Shape[Any], view: Expression) -> bool:
    try:
        window = whole.window(region)
    except OutOfBoundsError:
        return False
    own, other = maps_of(window), maps_of(view.layout)
    if own is None or other is None:
        return window[...] == view.layout[...]
    # How far a mode of one position steps says nothing.
    pairs = zip(own[1], other[1], strict=True)
    return window.offset == view.layout.offset and all(a == b or a.extent == 1 for a, b in pairs)
