"""Views from JSON that a stranger may have written.

Everything is checked before anything of its size is made: the text, its depth, the number of nodes and
steps, tables, extents and bounds. What is refused raises `SelectionError` with a reason.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json, excess, has_number_over, load_json
from tensorwrapper.errors import ParseError, SelectionError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout._axis import AxisMap, Cycle, Stride, Table
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout._separable import axes_of, over_box
from tensorwrapper.selection._build import ViewLike, as_view
from tensorwrapper.selection._expression import Expression, Node, box, whole
from tensorwrapper.selection._generators import Counting, Diagonal, Filling, RandomField
from tensorwrapper.selection._nodes import (
    Casting,
    Choosing,
    Extreme,
    Interleaving,
    Joining,
    Padding,
    Piece,
    Reading,
    Routing,
    Stacking,
    Whole,
)
from tensorwrapper.selection._philox import ALGORITHM
from tensorwrapper.selection._random_parameters import DISTRIBUTIONS, Distribution
from tensorwrapper.selection._schema import VERSION
from tensorwrapper.selection._schema_fields import (
    LARGEST,
    check_keys,
    one_key,
    to_dtype,
    to_integer,
    to_integers,
    to_list,
    to_object,
    to_range,
    to_table,
    to_value,
)
from tensorwrapper.selection._source import TensorSource
from tensorwrapper.selection._view import View
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Extents

__all__ = ["SchemaLimits", "from_json"]

_KINDS = (
    "source", "memory", "concat", "interleave", "stack", "pad", "where", "minimum", "maximum",
    "cast", "whole", "full", "iota", "linspace", "eye", "random", "route",
)  # fmt: skip


@final
@attrs.frozen
class SchemaLimits:
    """What a description of a view may ask for at most.

    Attributes
    ----------
    text
        Characters of the JSON.
    depth
        Brackets inside brackets.
    items
        Values in the JSON.
    nodes
        Views, steps and pieces in all.
    positions
        Positions in tables in all, and in any mode that needs one.
    nbytes
        Bytes of the view, and of every view that it is made of.
    """

    text: int = 1 << 24
    depth: int = 256
    items: int = 1 << 20
    nodes: int = 1 << 16
    positions: int = 1 << 24
    nbytes: int = 1 << 40


def from_json(
    text: str,
    *,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes] = (),
    limits: SchemaLimits | None = None,
) -> View[Any]:
    """Return the view that JSON describes; it may come from a stranger.

    Parameters
    ----------
    text
        What `to_json` writes, in any of its forms.
    sources
        The sources by name.
    frames
        The tables that it names by number.
    limits
        What it may ask for.

    Raises
    ------
    SelectionError
        If it is refused; ``reason`` says why.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> text = '{"tensorId": "x", "range": {"start": [0, 1], "end": [2, 3]}}'
    >>> sel.from_json(text, sources={"x": [[1, 2, 3], [4, 5, 6]]}).compute().tolist()
    [[2, 3], [5, 6]]
    """
    allowed = SchemaLimits() if limits is None else limits
    given = to_object(_load(text, allowed), "the view")
    reader = _Reader(sources, frames, allowed)
    try:
        return View(reader.document(given))
    except SelectionError:
        raise
    except (TensorWrapperError, OverflowError, RecursionError) as error:
        raise SelectionError("bounds", f"the steps do not fit what they are applied to: {error}") from error


def _load(text: str, limits: SchemaLimits) -> Json:
    if len(text) > limits.text:
        raise SelectionError("limit", f"the JSON has {len(text)} characters; {limits.text} are allowed")
    text = text.strip(" \t\r\n")
    over = excess(text, depth=limits.depth, items=limits.items)
    if over is not None:
        raise SelectionError("limit", f"the JSON {over}")
    if has_number_over(text, 400):
        raise SelectionError("limit", "the JSON has a number of more than 400 digits")
    try:
        return load_json(text)
    except (ParseError, RecursionError) as error:
        raise SelectionError("json", f"the JSON {error}") from error


class _Reader:
    """What is known while a view is read, and how much of the limits is used up."""

    __slots__ = ("_frames", "_limits", "_nodes", "_positions", "_sources")

    def __init__(
        self, sources: Mapping[str, ViewLike], frames: Sequence[bytes], limits: SchemaLimits
    ) -> None:
        self._sources = sources
        self._frames = frames
        self._limits = limits
        self._nodes = 0
        self._positions = 0

    def document(self, given: dict[str, Json]) -> Expression:
        """Return the expression of a whole document."""
        if "tensorId" in given:
            check_keys(given, "the view", {"tensorId", "range"})
            start, extents = to_range(given["range"], "range")
            source = self._source(given["tensorId"], "tensorId")
            if len(start) != source.rank:
                raise SelectionError("bounds", f"range has {len(start)} modes, and the tensor {source.rank}")
            return source.window(Shape(*extents, origin=start))._expression
        version = to_integer(given.get("view"), "view")
        if version != VERSION:
            raise SelectionError("version", f"the view is of version {version}; {VERSION} is read here")
        check_keys(given, "the view", {"view", "dtype", "range", "of"}, frozenset({"ops", "layout"}))
        inner = {key: value for key, value in given.items() if key in {"of", "ops", "layout"}}
        found = self.view(inner, "the view")
        start, extents = to_range(given["range"], "range")
        dtype = to_dtype(given["dtype"], "dtype")
        if found.shape.extents != extents or found.dtype != dtype:
            raise SelectionError(
                "bounds",
                f"the view is declared as {extents} of {dtype}, and is {found.shape.extents} of {found.dtype}",
            )
        layout = found.layout
        placed = layout if layout.shape.origin == start else _placed(layout, extents, start)
        return Expression(found.node, placed, found.calls)

    def _count(self, where: str) -> None:
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            raise SelectionError("limit", f"{where}: more than {self._limits.nodes} views and steps")

    def _check(self, found: Expression, where: str) -> Expression:
        if found.shape.rank > 32:
            raise SelectionError("limit", f"{where} has {found.shape.rank} modes; 32 are allowed")
        size = found.shape.size * found.dtype.itemsize
        if size > self._limits.nbytes:
            raise SelectionError("limit", f"{where} has {size} bytes; {self._limits.nbytes} are allowed")
        return found

    def view(self, value: Json, where: str) -> Expression:
        """Return the expression of a view inside the document."""
        self._count(where)
        given = to_object(value, where)
        check_keys(given, where, {"of"}, frozenset({"ops", "layout"}))
        if "layout" in given:
            if "ops" in given:
                raise SelectionError("schema", f"{where} has steps and a layout; one of them is enough")
            node = self._node(to_object(given["of"], f"{where}.of"), f"{where}.of").node
            found = Expression(node, self._layout(to_object(given["layout"], f"{where}.layout"), node, where))
            return self._check(found, where)
        found = self._check(self._node(to_object(given["of"], f"{where}.of"), f"{where}.of"), where)
        for number, op in enumerate(to_list(given.get("ops", []), f"{where}.ops")):
            name = f"{where}.ops[{number}]"
            self._count(name)
            found = self._check(self._applied(found, to_list(op, name), name), name)
        return found

    def _source(self, value: Json, where: str) -> View[Any]:
        if not isinstance(value, str) or value not in self._sources:
            names = list(self._sources)[:8]
            raise SelectionError("source", f"{where} names no source that was given; there are {names}")
        return as_view(self._sources[value])

    def _table(self, value: Json, where: str) -> "np.ndarray[Any, np.dtype[np.int64]]":
        table = to_table(value, where, self._frames, self._limits.positions - self._positions)
        self._positions += len(table)
        return table

    def _parts(self, value: Json, where: str) -> tuple[Expression, ...]:
        items = to_list(value, where)
        if not items:
            raise SelectionError("schema", f"{where} must not be empty")
        return tuple([_at_zero(self.view(item, f"{where}[{n}]")) for n, item in enumerate(items)])

    def _layout(self, given: dict[str, Json], node: Node, where: str) -> Layout[Any]:
        check_keys(given, f"{where}.layout", {"offset", "modes"})
        base = to_integer(given["offset"], f"{where}.layout.offset")
        modes = to_list(given["modes"], f"{where}.layout.modes")
        if len(modes) > 32:
            raise SelectionError("limit", f"{where}.layout has {len(modes)} modes; 32 are allowed")
        axes = tuple(
            [self._axis(to_object(m, where), f"{where}.layout.modes[{n}]") for n, m in enumerate(modes)]
        )
        extents = tuple([axis.extent for axis in axes])
        if math.prod(extents):
            ends = [axis.bounds() for axis in axes]
            least, greatest = base + sum([a for a, _ in ends]), base + sum([b for _, b in ends])
            if least < 0 or greatest >= node.size:
                raise SelectionError(
                    "bounds", f"{where}.layout reaches places {least} to {greatest} of {node.size}"
                )
        return wrap_layout(over_box(extents, (0,) * len(extents), base, axes))

    def _axis(self, given: dict[str, Json], where: str) -> AxisMap:
        kind = one_key(given, where, ("stride", "cycle", "table"))
        check_keys(given, where, {"extent", kind})
        extent = to_integer(given["extent"], f"{where}.extent", 0)
        if kind == "stride":
            return Stride(extent, to_integer(given["stride"], f"{where}.stride"))
        if kind == "table":
            table = self._table(given["table"], f"{where}.table")
            if len(table) != extent:
                raise SelectionError("bounds", f"{where} has {len(table)} positions and extent {extent}")
            return Table(table)
        if extent > self._limits.positions:
            raise SelectionError(
                "limit", f"{where} has extent {extent}; {self._limits.positions} are allowed"
            )
        parts = to_list(given["cycle"], f"{where}.cycle")
        if len(parts) != 5:
            raise SelectionError("schema", f"{where}.cycle must have 5 parts, not {len(parts)}")
        numbers = [
            to_integer(part, f"{where}.cycle[{n}]", 1 if n in {2, 3} else -(2**40), 2**40)
            for n, part in enumerate(parts)
            if part is not None or n != 2
        ]
        if parts[2] is None:
            numbers.insert(2, 0)
        start, turn, modulus, hold, step = numbers
        return Cycle(extent, start, turn, modulus or None, hold, step)

    def _node(self, given: dict[str, Json], where: str) -> Expression:
        """Return all of what a view is made of."""
        kind = one_key(given, where, _KINDS)
        if kind in {"source", "memory"}:
            check_keys(given, where, {kind})
            source = self._source(given[kind], f"{where}.{kind}")
            return source._expression if kind == "source" else _memory(source, where)
        if kind in {"full", "iota", "linspace", "eye", "random"}:
            return self._generated(given, kind, where)
        if kind in {"concat", "interleave", "stack"}:
            check_keys(given, where, {kind, "parts"})
            parts = self._parts(given["parts"], f"{where}.parts")
            return _joined(kind, parts, to_integer(given[kind], f"{where}.{kind}", 0, 32), where)
        if kind == "route":
            check_keys(given, where, {kind, "pieces"})
            return self._route(given, where)
        if kind == "pad":
            return self._padded(given, where)
        if kind == "cast":
            check_keys(given, where, {kind, "part"})
            part = _at_zero(self.view(given["part"], f"{where}.part"))
            return whole(Casting(part, to_dtype(given["cast"], f"{where}.cast")))
        check_keys(given, where, {kind})
        if kind == "whole":
            return whole(Whole(_at_zero(self.view(given["whole"], f"{where}.whole"))))
        parts = self._parts(given[kind], f"{where}.{kind}")
        return _compared(kind, parts, where)

    def _generated(self, given: dict[str, Json], kind: str, where: str) -> Expression:
        more = {"random": {"algorithm", "seed", "parameters"}, "iota": {"steps"}, "linspace": {"steps"}}
        check_keys(given, where, {kind, "range", "dtype"} | more.get(kind, set()))
        dtype = to_dtype(given["dtype"], f"{where}.dtype")
        start, extents = to_range(given["range"], f"{where}.range")
        shape = Shape(*extents, origin=start)
        node: Node
        if kind == "full":
            node = Filling(shape, to_value(given["full"], dtype, f"{where}.full"), dtype)
        elif kind == "eye":
            if shape.rank != 2:
                raise SelectionError("bounds", f"{where}: an identity has 2 modes, not {shape.rank}")
            node = Diagonal(shape, to_integer(given["eye"], f"{where}.eye"), dtype)
        elif kind == "random":
            node = self._random(given, shape, dtype, where)
        else:
            steps = to_list(given["steps"], f"{where}.steps")
            if len(steps) != shape.rank:
                raise SelectionError("bounds", f"{where} has {len(steps)} steps for {shape.rank} modes")
            values = tuple([to_value(step, dtype, f"{where}.steps").item() for step in steps])
            node = Counting(
                shape, to_value(given[kind], dtype, f"{where}.{kind}").item(), values, dtype, kind
            )
        return Expression(node, Layout(shape))

    def _random(self, given: dict[str, Json], shape: Shape[Any], dtype: "np.dtype[Any]", where: str) -> Node:
        if given["algorithm"] != ALGORITHM:
            raise SelectionError("version", f"{where}: random numbers are drawn by {ALGORITHM} here")
        if given["random"] not in DISTRIBUTIONS:
            raise SelectionError("schema", f"{where}.random must be one of {list(DISTRIBUTIONS)}")
        parameters: list[Any] = []
        for number, item in enumerate(to_list(given["parameters"], f"{where}.parameters")):
            name = f"{where}.parameters[{number}]"
            if isinstance(item, dict):
                part = _at_zero(self.view(item, name))
                if part.shape.extents != shape.extents:
                    raise SelectionError(
                        "bounds", f"{name} has extents {part.shape.extents}, not {shape.extents}"
                    )
                parameters.append(part)
            else:
                element = np.dtype(np.int64 if type(item) is int else np.float64)
                parameters.append(to_value(item, element, name).item())
        seed = to_integer(given["seed"], f"{where}.seed", 0, 2**64 - 1)
        node = RandomField(shape, cast("Distribution", given["random"]), seed, tuple(parameters), dtype)
        node.check()
        return node

    def _padded(self, given: dict[str, Json], where: str) -> Expression:
        check_keys(given, where, {"pad", "value", "part"})
        part = _at_zero(self.view(given["part"], f"{where}.part"))
        pairs = to_list(given["pad"], f"{where}.pad")
        widths = tuple([to_integers(pair, f"{where}.pad[{n}]", 0, count=2) for n, pair in enumerate(pairs)])
        if len(widths) != part.shape.rank:
            raise SelectionError("bounds", f"{where}.pad has {len(widths)} pairs for {part.shape.rank} modes")
        fill = whole(Filling(box(()), to_value(given["value"], part.dtype, f"{where}.value"), part.dtype))
        return whole(Padding(part, cast("tuple[tuple[int, int], ...]", widths), fill))

    def _route(self, given: dict[str, Json], where: str) -> Expression:
        mode = to_integer(given["route"], f"{where}.route", 0, 31)
        pieces: list[Piece] = []
        for number, item in enumerate(to_list(given["pieces"], f"{where}.pieces")):
            name = f"{where}.pieces[{number}]"
            parts = to_list(item, name)
            if len(parts) != 3:
                raise SelectionError("schema", f"{name} must have a start, a step and a view")
            start, step = to_integer(parts[0], f"{name}[0]", 0), to_integer(parts[1], f"{name}[1]", 1)
            pieces.append(Piece(start, step, _at_zero(self.view(parts[2], f"{name}[2]"))))
        views = [piece.view for piece in pieces]
        _check_alike(views, mode, where)
        counts = [piece.count(mode) for piece in pieces]
        total = sum(counts)
        if total > self._limits.positions:
            raise SelectionError(
                "limit", f"{where} has {total} positions; {self._limits.positions} are allowed"
            )
        # Each position once: as many as there are, none beyond the end, and none twice.
        met = np.zeros(total, dtype=np.bool_)
        for piece, count in zip(pieces, counts, strict=True):
            last = piece.start + piece.step * (count - 1)
            if count and last >= total:
                raise SelectionError("cover", f"{where}: a piece goes on to position {last} of {total}")
            if count:
                met[piece.start : last + 1 : piece.step] = True
        if not met.all():
            raise SelectionError(
                "cover", f"{where}: position {int(np.argmin(met))} is in no piece, others are in two"
            )
        extents = views[0].shape.extents
        return whole(Routing(mode, (*extents[:mode], total, *extents[mode + 1 :]), tuple(pieces)))

    def _applied(self, found: Expression, op: list[Json], where: str) -> Expression:
        """Return what one step makes of an expression, whose result is checked before tables are made."""
        if not op or not isinstance(op[0], str) or op[0] not in _STEPS:
            raise SelectionError("schema", f"{where} must begin with one of {sorted(_STEPS)}")
        name, given = op[0], op[1:]
        fewest, most, apply = _STEPS[name]
        if not fewest <= len(given) <= most:
            raise SelectionError(
                "schema", f"{where}: {name} takes {fewest} to {most} arguments, not {len(given)}"
            )
        if name in {"gather", "points"}:
            arguments: list[Any] = [
                *[to_integer(a, where, 0) for a in given[:-1]],
                self._table(given[-1], where),
            ]
        elif name == "pad":
            pairs = [to_integers(pair, where, 0, count=2) for pair in to_list(given[0], where)]
            if given[1] not in {"edge", "reflect", "symmetric", "wrap"}:
                raise SelectionError("schema", f"{where}: there is no such way to pad")
            arguments = [pairs, given[1]]
        else:
            arguments = [
                to_integers(a, where, 0) if isinstance(a, list) else to_integer(a, where, -LARGEST)
                for a in given
            ]
        extents = _grown(name, arguments, found.shape.extents, where)
        if extents is not None and max(extents, default=0) > self._limits.positions:
            raise SelectionError(
                "limit", f"{where}: {name} makes extents {extents}; {self._limits.positions} are allowed"
            )
        view = View[Any](found)
        return apply(view, *arguments)._expression


def _grown(name: str, arguments: list[Any], extents: Extents, where: str) -> Extents | None:
    """Return the extents after a step that may need tables as long as they are; None for other steps."""
    try:
        if name == "repeat":
            return tuple([n * k for n, k in zip(extents, arguments[0], strict=True) if k != 1])
        if name == "repeat_each":
            return (extents[arguments[0]] * arguments[1],)
        if name == "pad":
            pairs = zip(extents, arguments[0], strict=True)
            return tuple([n + a + b for n, (a, b) in pairs if a or b])
    except (IndexError, ValueError, TypeError) as error:
        raise SelectionError("bounds", f"{where}: {name} does not fit extents {extents}") from error
    return None


def _sliced(view: View[Any], mode: int, start: int, step: int, count: int) -> View[Any]:
    extent = view.shape.extents[mode] if 0 <= mode < view.rank else None
    if extent is None or count < 0 or not step:
        raise SelectionError("bounds", f"a slice of mode {mode}, step {step}, count {count} of {view.shape}")
    ends = (start, start + step * (count - 1))
    if count and not all(0 <= end < extent for end in ends):
        raise SelectionError(
            "bounds", f"positions {ends[0]} to {ends[1]} leave mode {mode}, of extent {extent}"
        )
    stop = start + step * count
    part = slice(start if count else 0, (stop if stop >= 0 else None) if count else 0, step if count else 1)
    return view[(*[slice(None)] * mode, part)]


def _chipped(view: View[Any], mode: int, position: int) -> View[Any]:
    if not 0 <= mode < view.rank or not 0 <= position < view.shape.extents[mode]:
        raise SelectionError("bounds", f"position {position} of mode {mode} is not in {view.shape}")
    return view[(*[slice(None)] * mode, position)]


def _pointed(view: View[Any], ranks: Any) -> View[Any]:  # noqa: ANN401 - an array of integers
    if len(ranks) and (ranks.min() < 0 or ranks.max() >= view.size):
        raise SelectionError("bounds", f"points from {ranks.min()} to {ranks.max()} of {view.size} elements")
    return view._points(ranks)


_STEPS: dict[str, tuple[int, int, Callable[..., View[Any]]]] = {
    "slice": (4, 4, _sliced),
    "chip": (2, 2, _chipped),
    "points": (1, 1, _pointed),
    "permute": (1, 1, View.permute),
    "reverse": (1, 1, lambda view, modes: view.reverse(*modes)),
    "squeeze": (1, 1, lambda view, modes: view.squeeze(*modes)),
    "unsqueeze": (1, 1, View.unsqueeze),
    "rotate": (1, 1, View.rotate),
    "repeat": (1, 1, View.repeat),
    "repeat_each": (2, 2, View.repeat_each),
    "gather": (2, 2, View.gather),
    "broadcast": (1, 1, lambda view, extents: view[...].broadcast(extents)),
    "sliding_window": (2, 2, View.sliding_window),
    "diagonal": (2, 2, View.diagonal),
    "reshape": (1, 1, View.reshape),
    "split_mode": (2, 2, View.split_mode),
    "merge_modes": (2, 2, View.merge_modes),
    "pad": (2, 2, lambda view, widths, mode: view.pad(widths, mode=mode)),
}
"""Each step: fewest and most arguments, and what applies it."""


def _memory(source: View[Any], where: str) -> Expression:
    node = source._expression.node
    if not isinstance(node, Reading) or not isinstance(node.source, TensorSource):
        raise SelectionError("source", f"{where}.memory names a source that is no tensor in memory")
    return whole(node)


def _joined(kind: str, parts: tuple[Expression, ...], mode: int, where: str) -> Expression:
    if mode > parts[0].shape.rank - (kind != "stack"):
        raise SelectionError("bounds", f"{where}: there is no mode {mode} in {parts[0].shape}")
    _check_alike(parts, -1 if kind == "stack" else mode, where)
    if kind == "stack":
        return whole(Stacking(mode, parts))
    if kind == "concat":
        return whole(Joining(mode, parts))
    lengths = [part.shape.extents[mode] for part in parts]
    total, many = sum(lengths), len(lengths)
    if lengths != [-((j - total) // many) for j in range(many)]:
        raise SelectionError("cover", f"{where}: views of extents {lengths} do not take turns")
    return whole(Interleaving(mode, parts))


def _compared(kind: str, parts: tuple[Expression, ...], where: str) -> Expression:
    _check_alike(parts[1:] if kind == "where" else parts, -1, where)
    if kind != "where":
        return whole(Extreme("minimum" if kind == "minimum" else "maximum", parts))
    if len(parts) != 3 or parts[0].dtype != np.bool_ or parts[0].shape.extents != parts[1].shape.extents:
        raise SelectionError("bounds", f"{where}.where needs a mask of bools and two views, all of one box")
    return whole(Choosing((parts[0], parts[1], parts[2])))


def _check_alike(parts: Sequence[Expression], mode: int, where: str) -> None:
    """Raise unless views have one type, one rank, and one extent in all modes but one."""
    if not parts:
        raise SelectionError("schema", f"{where} must have at least one part")
    first = parts[0]
    if first.shape.kind != "smooth" or mode >= first.shape.rank:
        raise SelectionError("bounds", f"{where}: there is no mode {mode} to join in {first.shape}")
    for part in parts:
        alike = part.shape.kind == "smooth" and part.shape.rank == first.shape.rank
        same = alike and all(
            a == b or m == mode
            for m, (a, b) in enumerate(zip(part.shape.extents, first.shape.extents, strict=True))
        )
        if not same or part.dtype != first.dtype:
            raise SelectionError(
                "bounds", f"{where}: {part.shape} of {part.dtype} does not fit {first.shape} of {first.dtype}"
            )


def _at_zero(part: Expression) -> Expression:
    return part if not any(part.shape.origin) else Expression(part.node, part.layout[...], part.calls)


def _placed(layout: Layout[Any], extents: Extents, start: Extents) -> Layout[Any]:
    """Return the same layout over a box that lies elsewhere."""
    base, axes = axes_of(layout._held, "a view")
    return wrap_layout(over_box(extents, start, base, axes))
