"""Views from JSON that a stranger may have written.

Everything is checked before anything of its size is made: the text, its depth, the number of nodes and
steps, tables, extents and bounds. What is refused raises `SelectionError` with a reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs
import numpy as np

from tensorwrapper._json import Json, excess, has_number_over, load_json
from tensorwrapper.errors import ParseError, SelectionError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Separable, Strided, axes_of, over_box, wrap_layout
from tensorwrapper.selection._build import ViewLike, as_view
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import Expression, Node, box, whole
from tensorwrapper.selection.expressions._generators import Counting, Diagonal, Filling, RandomField
from tensorwrapper.selection.expressions._nodes import (
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
from tensorwrapper.selection.random._parameters import DISTRIBUTIONS
from tensorwrapper.selection.random._philox import ALGORITHM
from tensorwrapper.selection.schema._fields import (
    LARGEST,
    check_keys,
    dtype_name,
    one_key,
    to_dtype,
    to_integer,
    to_integers,
    to_list,
    to_object,
    to_parameter,
    to_range,
    to_value,
)
from tensorwrapper.selection.schema._layouts import check_cover, check_reach, to_layout
from tensorwrapper.selection.schema._limits import Budget, Measured, SchemaLimits, finished, tabled
from tensorwrapper.selection.schema._steps import apply_step
from tensorwrapper.selection.schema._write import VERSION
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents

__all__ = ["from_json"]

_KINDS = (
    "source", "memory", "concat", "interleave", "stack", "pad", "where", "minimum", "maximum",
    "cast", "whole", "full", "iota", "linspace", "eye", "random", "route",
)  # fmt: skip


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
        The sources by name. What it selects lies in them, whatever else their memory holds.
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
    reader = _Reader(sources, Budget(allowed, frames))
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
    """What is known while a view is read."""

    __slots__ = ("_budget", "_sources", "_views")

    def __init__(self, sources: Mapping[str, ViewLike], budget: Budget) -> None:
        self._sources = sources
        self._views: dict[str, View[Any]] = {}
        self._budget = budget

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
        measured = self.view(inner, "the view")
        found = self._budget.check(attrs.evolve(measured, is_leaf=False), "the view").view
        start, extents = to_range(given["range"], "range")
        dtype = to_dtype(given["dtype"], "dtype")
        if found.shape.extents != extents or dtype_name(found.dtype) != dtype_name(dtype):
            raise SelectionError(
                "bounds",
                f"the view is declared as {extents} of {dtype}, and is {found.shape.extents} of "
                f"{found.dtype}",
            )
        return found if found.shape.origin == start else _placed(found, extents, start)

    def view(self, value: Json, where: str) -> Measured:
        """Return the view inside the document that an object describes."""
        budget = self._budget
        budget.node(where)
        given = to_object(value, where)
        check_keys(given, where, {"of"}, frozenset({"ops", "layout"}))
        found = self._node(to_object(given["of"], f"{where}.of"), f"{where}.of")
        if "layout" in given:
            layout, name = to_object(given["layout"], f"{where}.layout"), f"{where}.layout"
            node = found.view.node
            chosen = to_layout(layout, node, name, budget, found.parts)
            if isinstance(node, Reading) and isinstance(node.source, TensorSource):
                self._check_reach(chosen, node.source, name)
            found = attrs.evolve(found, view=Expression(node, chosen))
        elif "memory" in to_object(given["of"], where):
            raise SelectionError("schema", f"{where} selects from memory, and lacks a layout")
        found = budget.check(found, where)
        for number, op in enumerate(to_list(given.get("ops", []), f"{where}.ops")):
            name = f"{where}.ops[{number}]"
            budget.node(name)
            found = apply_step(found, to_list(op, name), name, budget)
        found = budget.check(finished(found), where)
        budget.work(tabled(found.view.layout) * found.parts, where)
        return found

    def _check_reach(self, layout: Layout[Any], source: TensorSource, where: str) -> None:
        named = [self._view_of(name)._expression.node for name in self._sources]
        tensors = [node.source for node in named if isinstance(node, Reading)]
        held = [own for own in tensors if isinstance(own, TensorSource)]
        check_reach(layout, source.owner, held, where, self._budget)

    def _source(self, value: Json, where: str) -> View[Any]:
        if not isinstance(value, str) or value not in self._sources:
            names = list(self._sources)[:8]
            raise SelectionError("source", f"{where} names no source that was given; there are {names}")
        view = self._view_of(value)
        if view.shape.kind != "smooth":
            raise SelectionError("source", f"{where} names a source of {view.shape}: only boxes are read")
        return view

    def _view_of(self, name: str) -> View[Any]:
        if name not in self._views:
            self._views[name] = as_view(self._sources[name])
        return self._views[name]

    def _parts(self, value: Json, where: str) -> list[Measured]:
        items = to_list(value, where)
        if not items:
            raise SelectionError("schema", f"{where} must not be empty")
        return [self._part(item, f"{where}[{n}]") for n, item in enumerate(items)]

    def _part(self, value: Json, where: str) -> Measured:
        found = self.view(value, where)
        view = found.view
        if not any(view.shape.origin):
            return found
        return attrs.evolve(found, view=attrs.evolve(view, layout=view.layout[...]))

    def _node(self, given: dict[str, Json], where: str) -> Measured:
        """Return all of what a view is made of."""
        kind = one_key(given, where, _KINDS)
        if kind in {"source", "memory"}:
            check_keys(given, where, {kind})
            source = self._source(given[kind], f"{where}.{kind}")
            if source.shape.kind != "smooth":
                raise SelectionError(
                    "source", f"{where} names a source of {source.shape}: only boxes are read"
                )
            view = source._expression if kind == "source" else _memory(source, where)
            return Measured(view, is_leaf=True)
        if kind in {"full", "iota", "linspace", "eye", "random"}:
            return self._generated(given, kind, where)
        if kind in {"concat", "interleave", "stack"}:
            check_keys(given, where, {kind, "parts"})
            parts = self._parts(given["parts"], f"{where}.parts")
            mode = to_integer(given[kind], f"{where}.{kind}", 0, 31)
            return _over(_joined(kind, _views(parts), mode, where), parts, shared=True)
        if kind == "route":
            check_keys(given, where, {kind, "pieces"})
            return self._route(given, where)
        if kind == "pad":
            return self._padded(given, where)
        if kind == "cast":
            check_keys(given, where, {kind, "part"})
            part = self._part(given["part"], f"{where}.part")
            return _over(_cast(part.view, to_dtype(given["cast"], f"{where}.cast"), where), [part])
        check_keys(given, where, {kind})
        if kind == "whole":
            part = self._part(given["whole"], f"{where}.whole")
            return _over(Whole(part.view), [part])
        parts = self._parts(given[kind], f"{where}.{kind}")
        return _over(_compared(kind, _views(parts), where), parts)

    def _generated(self, given: dict[str, Json], kind: str, where: str) -> Measured:
        more = {"random": {"algorithm", "seed", "parameters"}, "iota": {"steps"}, "linspace": {"steps"}}
        check_keys(given, where, {kind, "range", "dtype"} | more.get(kind, set()))
        dtype = to_dtype(given["dtype"], f"{where}.dtype")
        start, extents = to_range(given["range"], f"{where}.range")
        shape = Shape(*extents, origin=start)
        if shape.size > LARGEST:
            raise SelectionError("limit", f"{where} has {shape.size} elements; {LARGEST} are allowed")
        if kind == "random":
            return self._random(given, shape, dtype, where)
        if kind != "full" and dtype.kind not in "biufc":
            raise SelectionError("schema", f"{where}: {kind} counts no elements of type {dtype}")
        node: Node
        if kind == "full":
            node = Filling(shape, to_value(given["full"], dtype, f"{where}.full"), dtype)
        elif kind == "eye":
            if shape.rank != 2:
                raise SelectionError("bounds", f"{where}: an identity has 2 modes, not {shape.rank}")
            node = Diagonal(shape, to_integer(given["eye"], f"{where}.eye"), dtype)
        else:
            steps = to_list(given["steps"], f"{where}.steps")
            if len(steps) != shape.rank:
                raise SelectionError("bounds", f"{where} has {len(steps)} steps for {shape.rank} modes")
            values = tuple([to_value(step, dtype, f"{where}.steps").item() for step in steps])
            node = Counting(
                shape, to_value(given[kind], dtype, f"{where}.{kind}").item(), values, dtype, kind
            )
        return Measured(Expression(node, Layout(shape)), is_leaf=True)

    def _random(
        self, given: dict[str, Json], shape: Shape[Any], dtype: "np.dtype[Any]", where: str
    ) -> Measured:
        if given["algorithm"] != ALGORITHM:
            raise SelectionError("version", f"{where}: random numbers are drawn by {ALGORITHM} here")
        if given["random"] not in list(DISTRIBUTIONS):
            raise SelectionError("schema", f"{where}.random must be one of {list(DISTRIBUTIONS)}")
        parameters: list[Any] = []
        parts: list[Measured] = []
        for number, item in enumerate(to_list(given["parameters"], f"{where}.parameters")):
            name = f"{where}.parameters[{number}]"
            if not isinstance(item, dict):
                parameters.append(to_parameter(item, name))
                continue
            part = self._part(item, name)
            if part.view.shape.extents != shape.extents or part.view.dtype.kind not in "biuf":
                raise SelectionError(
                    "bounds",
                    f"{name} is {part.view.shape} of {part.view.dtype}, not numbers of {shape.extents}",
                )
            parts.append(part)
            parameters.append(part.view)
        seed = to_integer(given["seed"], f"{where}.seed", 0, 2**64 - 1)
        node = RandomField(shape, given["random"], seed, tuple(parameters), dtype)
        node.check()
        found = _over(node, parts)
        return attrs.evolve(found, view=Expression(node, Layout(shape)), is_leaf=not parts)

    def _padded(self, given: dict[str, Json], where: str) -> Measured:
        check_keys(given, where, {"pad", "value", "part"})
        found = self._part(given["part"], f"{where}.part")
        part = found.view
        pairs = to_list(given["pad"], f"{where}.pad")
        widths = tuple([to_integers(pair, f"{where}.pad[{n}]", 0, count=2) for n, pair in enumerate(pairs)])
        if len(widths) != part.shape.rank:
            raise SelectionError("bounds", f"{where}.pad has {len(widths)} pairs for {part.shape.rank} modes")
        fill = whole(Filling(box(()), to_value(given["value"], part.dtype, f"{where}.value"), part.dtype))
        node = Padding(part, cast("tuple[tuple[int, int], ...]", widths), fill)
        sides = [Measured(fill)] * (2 * part.shape.rank)
        return _over(node, [found, *sides], shared=True)

    def _route(self, given: dict[str, Json], where: str) -> Measured:
        mode = to_integer(given["route"], f"{where}.route", 0, 31)
        pieces: list[Piece] = []
        parts: list[Measured] = []
        for number, item in enumerate(to_list(given["pieces"], f"{where}.pieces")):
            name = f"{where}.pieces[{number}]"
            fields = to_list(item, name)
            if len(fields) != 3:
                raise SelectionError("schema", f"{name} must have a start, a step and a view")
            start, step = to_integer(fields[0], f"{name}[0]", 0), to_integer(fields[1], f"{name}[1]", 1)
            parts.append(self._part(fields[2], f"{name}[2]"))
            pieces.append(Piece(start, step, parts[-1].view))
        _check_alike(_views(parts), mode, where)
        total = check_cover(pieces, mode, where, self._budget)
        extents = pieces[0].view.shape.extents
        # In a routing no piece is empty, and they are in the order in which they begin.
        filled = [piece for piece in pieces if piece.count(mode)] or pieces[:1]
        ordered = tuple(sorted(filled, key=lambda piece: piece.start))
        node = Routing(mode, (*extents[:mode], total, *extents[mode + 1 :]), ordered)
        return _over(node, parts, shared=True)


def _views(parts: Sequence[Measured]) -> tuple[Expression, ...]:
    return tuple([part.view for part in parts])


def _over(node: Node, parts: Sequence[Measured], *, shared: bool = False) -> Measured:
    """Return all of a node, and what its parts take together."""
    rounds = [part.rounds for part in parts]
    return Measured(
        whole(node),
        1 + sum([part.parts for part in parts]),
        # Where a mode is shared out, an element comes from one part; else from all of them.
        1 + (max(rounds) if shared else sum(rounds)),
        1 + max([part.deep for part in parts], default=0),
        shared or any(part.shared for part in parts),
    )


def _memory(source: View[Any], where: str) -> Expression:
    node = source._expression.node
    if not isinstance(node, Reading) or not isinstance(node.source, TensorSource):
        raise SelectionError("source", f"{where}.memory names a source that is no tensor in memory")
    return whole(node)


def _cast(part: Expression, dtype: "np.dtype[Any]", where: str) -> Node:
    if "O" in (dtype.kind, part.dtype.kind):
        raise SelectionError("bounds", f"{where}: bytes are not cast")
    return Casting(part, dtype)


def _joined(kind: str, parts: tuple[Expression, ...], mode: int, where: str) -> Node:
    if mode > parts[0].shape.rank - (kind != "stack"):
        raise SelectionError("bounds", f"{where}: there is no mode {mode} in {parts[0].shape}")
    _check_alike(parts, -1 if kind == "stack" else mode, where)
    if kind == "stack":
        return Stacking(mode, parts)
    if kind == "concat":
        return Joining(mode, parts)
    lengths = [part.shape.extents[mode] for part in parts]
    total, many = sum(lengths), len(lengths)
    if lengths != [-((j - total) // many) for j in range(many)]:
        raise SelectionError("cover", f"{where}: views of extents {lengths[:8]} do not take turns")
    return Interleaving(mode, parts)


def _compared(kind: str, parts: tuple[Expression, ...], where: str) -> Node:
    _check_alike(parts[1:] if kind == "where" else parts, -1, where)
    if kind != "where":
        if "O" in parts[0].dtype.kind:
            raise SelectionError("bounds", f"{where}: bytes are not compared")
        return Extreme("minimum" if kind == "minimum" else "maximum", parts)
    if len(parts) != 3 or parts[0].dtype != np.bool_ or parts[0].shape.extents != parts[1].shape.extents:
        raise SelectionError("bounds", f"{where}.where needs a mask of bools and two views, all of one box")
    return Choosing((parts[0], parts[1], parts[2]))


def _check_alike(parts: Sequence[Expression], mode: int, where: str) -> None:
    """Raise unless views have one type, one rank, and one extent in all modes but one."""
    if not parts:
        raise SelectionError("schema", f"{where} must have at least one part")
    first = parts[0]
    if mode >= first.shape.rank:
        raise SelectionError("bounds", f"{where}: there is no mode {mode} to join in {first.shape}")
    for part in parts:
        same = part.shape.rank == first.shape.rank and all(
            a == b or m == mode
            for m, (a, b) in enumerate(zip(part.shape.extents, first.shape.extents, strict=True))
        )
        if not same or part.dtype != first.dtype:
            raise SelectionError(
                "bounds", f"{where}: {part.shape} of {part.dtype} does not fit {first.shape} of {first.dtype}"
            )


def _placed(view: Expression, extents: Extents, start: Extents) -> Expression:
    """Return the same view over a box that lies elsewhere."""
    held = view.layout.implementation
    if isinstance(held, Strided | Separable):
        base, axes = axes_of(held, "a view")
        return attrs.evolve(view, layout=wrap_layout(over_box(extents, start, base, axes)))
    # Storage tile by tile has no origin of its own to move.
    return Expression(Whole(view), Layout(wrap(make_smooth(extents, start))))
