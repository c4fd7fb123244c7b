"""Parse views from untrusted JSON.

Everything is checked before anything of its size is made: the text, its depth, the number of nodes and
steps, tables, extents and bounds. Errors are `SelectionError` with a reason.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import attrs
import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._json import Json, dump_json, excess, has_number_over, load_json
from tensorwrapper._tensor_names import check_name
from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ParseError, SelectionError, TensorNameError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Node,
    NodeFields,
    at_zero,
    unnamed_view,
    whole,
)
from tensorwrapper.selection.expressions._fields import (
    check_keys,
    dtype_name,
    facts_of,
    one_key,
    to_dtype,
    to_integer,
    to_list,
    to_object,
    to_range,
)
from tensorwrapper.selection.expressions._joining import Joining
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.jagged._rows import rows_from_json
from tensorwrapper.selection.schema._limits import (
    Budget,
    Measured,
    SchemaLimits,
    check_reach,
    finished,
    tabled,
    to_layout,
)
from tensorwrapper.selection.schema._steps import apply_step
from tensorwrapper.selection.schema._write import NODES, OF_RECORDS, VERSIONS, WITH_MEMBERS
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import maps_of, of_maps
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, names_of, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Extents

_LIMITS = SchemaLimits()
_OF = frozenset({"of"})
_STEPS = frozenset({"ops", "layout"})
_INNER = _OF | _STEPS
_FACTS = _OF | {"dtype"}
_MORE = {
    1: _STEPS | {"names"},
    2: _STEPS | {"names", "nodes"},
    WITH_MEMBERS: _STEPS | {"names", "nodes"},
}
"""Additional keys of a document, by version."""
_LONGEST = 255  # characters of a name of a mode

Members: TypeAlias = Callable[[dict[str, Json]], View[Any]]
"""Returns the view of many tensors of files, which a node of a text in a file says."""


def from_json(
    text: str,
    *,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes] = (),
    limits: SchemaLimits | None = None,
) -> View[Any]:
    """Return the view that JSON describes; it may be untrusted.

    Parameters
    ----------
    text
        Output of `to_json`, in any of its forms.
    sources
        The sources by name. A view only reaches their elements, not other parts of their memory.
    frames
        The tables that it names by number.
    limits
        Limits on the description.

    Raises
    ------
    SelectionError
        If it is refused; ``reason`` says why.
    ConversionError
        If `sources` is not a mapping.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> text = '{"tensorId": "x", "range": {"start": [0, 1], "end": [2, 3]}}'
    >>> sel.from_json(text, sources={"x": [[1, 2, 3], [4, 5, 6]]}).compute().tolist()
    [[2, 3], [5, 6]]
    """
    return view_from_stored(text, sources=sources, frames=frames, limits=limits)


def view_from_stored(
    text: str,
    *,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes],
    members: Members | None = None,
    limits: SchemaLimits | None = None,
) -> View[Any]:
    """Return the view that a text in a file describes, which may have nodes of many sources.

    Raises
    ------
    SelectionError, ConversionError
        As `from_json`.
    """
    reader, given = _begin(text, sources, frames, limits, members)
    with _fitting():
        return View._make(reader.document(given))


def fields_from_json(
    text: str,
    *,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes] = (),
    limits: SchemaLimits | None = None,
) -> tuple[dict[str, View[Any]], int]:
    """Return the fields of records that JSON describes, and how many modes they share.

    Whether they share them is for the caller to check.

    Raises
    ------
    SelectionError, ConversionError
        As `from_json`.
    """
    reader, given = _begin(text, sources, frames, limits)
    with _fitting():
        fields, rank = reader.records(given)
        return {name: View._make(own) for name, own in fields.items()}, rank


def _begin(
    text: str,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes],
    limits: SchemaLimits | None,
    members: Members | None = None,
) -> "tuple[_Reader, dict[str, Json]]":
    check_kind_of(sources, Mapping, "sources= is a mapping of names")
    allowed = _LIMITS if limits is None else limits
    return _Reader(sources, Budget(allowed, frames), members), to_object(_load(text, allowed), "the view")


@contextmanager
def _fitting() -> Generator[None, None, None]:
    try:
        yield
    except SelectionError:
        raise
    except (TensorWrapperError, OverflowError, RecursionError) as error:
        raise SelectionError("bounds", f"the steps do not fit what they are applied to: {error}") from error


def _load(text: str, limits: SchemaLimits) -> Json:
    if not isinstance(cast("object", text), str):
        raise SelectionError("json", f"a view is read from a text, not from {type(text).__name__}")
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
    """State of a view being parsed."""

    __slots__ = ("_budget", "_members", "_numbered", "_sources", "_used", "_views")

    def __init__(
        self, sources: Mapping[str, ViewLike], budget: Budget, members: Members | None = None
    ) -> None:
        self._sources = sources
        self._members = members
        self._views: dict[str, View[Any]] = {}
        self._budget = budget
        self._numbered: list[Measured] = []
        self._used: set[int] = set()

    def document(self, given: dict[str, Json]) -> Expression:
        """Return the expression of a whole document."""
        if "tensorId" in given:
            check_keys(given, "the view", {"tensorId", "range"})
            start, extents = to_range(given["range"], "range")
            source = self._source(given["tensorId"], "tensorId")
            if not source.shape.is_box:
                raise SelectionError("source", f"tensorId names {source.shape}, which has no region")
            if len(start) != source.rank:
                raise SelectionError("bounds", f"range has {len(start)} modes, and the tensor {source.rank}")
            return source.window(Shape(*extents, origin=start))._expression
        version = to_integer(given.get("view"), "view")
        if version == OF_RECORDS:
            raise SelectionError("version", "the text is of records: fields.records_from_json reads these")
        if version == WITH_MEMBERS and self._members is None:
            raise SelectionError("version", "the text is of tensors of files: only a file has it, as a view")
        if version not in (*VERSIONS, WITH_MEMBERS):
            raise SelectionError("version", f"the view is of version {version}; 1 and 2 are read here")
        place = "shape" if version > 1 and "shape" in given else "range"
        check_keys(given, "the view", _FACTS | {"view", place}, _MORE[version])
        self._read_nodes(given)
        return self._declared(given, place, "the view")

    def records(self, given: dict[str, Json]) -> tuple[dict[str, Expression], int]:
        """Return the expressions of all fields of records, and how many modes these share."""
        version = to_integer(given.get("view"), "view")
        if version != OF_RECORDS:
            raise SelectionError("version", f"the text is of version {version}; records are of {OF_RECORDS}")
        check_keys(given, "the records", {"view", "rank", "records"}, {"nodes"})
        rank = to_integer(given["rank"], "rank", 0)
        self._read_nodes(given)
        found: dict[str, Expression] = {}
        for number, item in enumerate(to_list(given["records"], "records")):
            where = f"records[{number}]"
            pair = to_list(item, where)
            if len(pair) != 2:
                raise SelectionError("schema", f"{where} is a name and a view, and has {len(pair)} entries")
            name = _field_name(pair[0], where)
            if name in found:
                raise SelectionError("schema", f"{where} has the name {name!r} again")
            view = to_object(pair[1], where)
            place = "shape" if "shape" in view else "range"
            check_keys(view, where, _FACTS | {place}, _STEPS | {"names"})
            found[name] = self._declared(view, place, where)
        if not found:
            raise SelectionError("schema", "records have one field at least")
        return found, rank

    def _read_nodes(self, given: dict[str, Json]) -> None:
        if "nodes" not in given:
            return
        for number, item in enumerate(to_list(given["nodes"], "nodes")):
            node = self.view(item, f"nodes[{number}]")
            self._numbered.append(node.over(at_zero(node.view)))

    def _declared(self, given: dict[str, Json], place: str, where: str) -> Expression:
        """Return a view that says its type, and its place or its shape."""
        inner = {key: given[key] for key in _INNER if key in given}
        measured = self.view(inner, where)
        # Inner nodes have already been checked.
        found = (self._budget.check(measured.made(), where) if measured.is_leaf else measured).view
        self._budget.makes(measured, where)
        dtype = to_dtype(given["dtype"], "dtype")
        if place == "shape":
            return self._under_names(_of_facts(found, given["shape"], dtype), given)
        start, extents = to_range(given["range"], "range")
        if not found.is_box:
            raise SelectionError("bounds", f"the view is declared as a box, and is {found.shape}")
        if found.extents != extents or not _is_declared(found.dtype, dtype):
            raise SelectionError(
                "bounds",
                f"the view is declared as {extents} of {dtype}, and is {found.shape.extents} of "
                f"{found.dtype}",
            )
        placed = found if found.origin == start else _placed(found, extents, start)
        return self._under_names(placed, given)

    @staticmethod
    def _under_names(view: Expression, given: dict[str, Json]) -> Expression:
        found = unnamed_view(view)
        return _with_names(found, to_list(given["names"], "names")) if "names" in given else found

    def view(self, value: Json, where: str) -> Measured:
        """Return the view inside the document that an object describes."""
        budget = self._budget
        budget.node(where)
        name = _only_source(value)
        if name is not None:
            # Fast path: most parts are whole sources without further keys.
            leaf = Measured(self._source(name, f"{where}.of.source")._expression, is_leaf=True)
            budget.work(tabled(leaf.view.layout), where)
            return budget.check(leaf, where)
        given = to_object(value, where)
        check_keys(given, where, _OF, _STEPS)
        of = to_object(given["of"], f"{where}.of")
        found = self._node(of, f"{where}.of")
        if "layout" in given:
            layout, name = to_object(given["layout"], f"{where}.layout"), f"{where}.layout"
            node = found.view.node
            chosen = to_layout(layout, node, name, budget, found.parts)
            if node.tensor is not None:
                self._check_reach(chosen, cast("TensorSource", node.source), name)
            found = found.over(Expression(node, chosen))
        elif "memory" in of:
            raise SelectionError("schema", f"{where} selects from memory, and lacks a layout")
        if "ops" in given:
            found = budget.check(found, where)
            for number, op in enumerate(to_list(given["ops"], f"{where}.ops")):
                name = f"{where}.ops[{number}]"
                budget.node(name)
                found = apply_step(found, to_list(op, name), name, budget)
        last = finished(found)
        if last is not found or "ops" not in given:
            # Each step was checked, and so was the base of the first.
            found = budget.check(last, where)
        budget.work(tabled(found.view.layout) * found.parts, where)
        return found

    def _check_reach(self, layout: Layout[Any], source: TensorSource, where: str) -> None:
        named = [self._view_of(name)._expression.node for name in self._sources]
        tensors = [cast("TensorSource", node.source) for node in named if node.tensor is not None]
        check_reach(layout, source.owner, tensors, where, self._budget)

    def _source(self, value: Json, where: str) -> View[Any]:
        if not isinstance(value, str) or value not in self._sources:
            names = list(self._sources)[:8]
            raise SelectionError("source", f"{where} names no source that was given; there are {names}")
        return self._view_of(value)

    def _view_of(self, name: str) -> View[Any]:
        if name not in self._views:
            self._views[name] = as_view(self._sources[name])
        return self._views[name]

    def memory(self, value: Json, where: str) -> Node:
        """Return the node of the memory of a source with an untrusted name."""
        node = self._source(value, where)._expression.node
        if node.tensor is None:
            raise SelectionError("source", f"{where} names a source that is not a tensor in memory")
        return node

    def _node(self, given: dict[str, Json], where: str) -> Measured:
        """Return the whole node of a view."""
        if "number" in given:
            return self._of_number(given, where)
        if "members" in given and self._members is not None:
            return Measured(self._members(given)._expression, is_leaf=True)
        kind = one_key(given, where, NODES)
        if kind == "source":
            check_keys(given, where, {kind})
            return Measured(self._source(given[kind], f"{where}.{kind}")._expression, is_leaf=True)
        joined = self._joined(given) if kind == "concat" else None
        if joined is not None:
            return Measured(joined.all(), 1 + joined.parts, rounds=2, deep=2, shared=True)
        measured: list[Measured] = []

        def read(value: Json, where: str) -> Expression:
            found = self.view(value, where)
            measured.append(found.over(at_zero(found.view)))
            return measured[-1].view

        fields = NodeFields(kind, where, given, read, self.memory, self._budget.positions)
        node = rows_from_json(fields) or NODES[kind].from_json(fields)
        if node.is_leaf:
            return Measured(whole(node) if node.source is not None else node.all(), is_leaf=True)
        return _over(node, measured)

    def _joined(self, given: dict[str, Json]) -> Joining | None:
        """Return whole tensors of rank 1 in memory joined, without a view of each; None for all else."""
        mode, items = given["concat"], given.get("parts")
        if type(mode) is not int or mode or len(given) != 2 or not isinstance(items, list) or not items:
            return None
        try:
            names = [cast("dict[str, dict[str, str]]", item)["of"]["source"] for item in items]
            found = [self._sources[name] for name in names]
        except (KeyError, TypeError, IndexError):
            return None
        if set(map(type, names)) != {str} or items != [{"of": {"source": name}} for name in names]:
            return None
        kinds = set(map(type, found))
        if kinds == {TensorSource}:
            found = [cast("TensorSource", source).tensor for source in found]
        elif kinds != {Tensor}:
            return None
        tensors = cast("list[Tensor[Any]]", found)
        made = Joining.of_tensors(tensors)
        return made if made is not None and self._budget.has_nodes(len(tensors)) else None

    def _of_number(self, given: dict[str, Json], where: str) -> Measured:
        """Return a view by its number: it is made once, so its cost counts once."""
        check_keys(given, where, {"number"})
        known = len(self._numbered)
        number = to_integer(given["number"], f"{where}.number", 0)
        if number >= known:
            raise SelectionError(
                "bounds", f"{where} is made of nodes[{number}], and only {known} come before it"
            )
        found = self._numbered[number]
        is_new = number not in self._used
        self._used.add(number)
        # Their depth does not matter: normal forms are cut where they nest too deep.
        return attrs.evolve(found, deep=1) if is_new else attrs.evolve(found, deep=1, parts=1, rounds=1)


def _field_name(value: Json, where: str) -> str:
    try:
        return check_name(value)
    except TensorNameError as error:
        raise SelectionError("schema", f"{where} has a name that a field cannot have: {error}") from error


def _only_source(value: Json) -> str | None:
    """Return the name of the source that a view is the whole of; None if it says anything else."""
    of = value.get("of") if type(value) is dict and len(value) == 1 else None
    name = of.get("source") if type(of) is dict and len(of) == 1 else None
    return name if type(name) is str else None


def _is_declared(found: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Return True if elements are of the declared type; the declaration is untrusted."""
    # The source decides whether its strings are nullable.
    if found is dtype:
        return True
    return found.kind == dtype.kind == "T" or dtype_name(found) == dtype_name(dtype)


def _of_facts(found: Expression, given: Json, dtype: "np.dtype[Any]") -> Expression:
    """Return a view of rows at the origin in the untrusted facts, after comparing these."""
    facts = dict(to_object(given, "shape"))
    is_over, over = "over" in facts, facts.pop("over", None)
    rank = found.shape.rank
    given_start = to_list(facts["start"], "shape.start") if "start" in facts else [0] * rank
    start = [to_integer(own, "shape.start") for own in given_start]
    own = {} if found.is_box else facts_of(found.shape)
    wrong = {**own, "start": start} != {**facts, "start": start} or len(start) != rank
    if found.is_box or wrong or not _is_declared(found.dtype, dtype):
        raise SelectionError(
            "bounds",
            f"the view is declared as {facts} of {dtype}, and is {found.shape} of {found.dtype}",
        )
    if is_over:
        placed = Shape.from_json(dump_json(over))
        fits = placed.size == found.shape.size and placed.is_congruent(found.shape)
        if not fits or names_of(placed) is not None:
            raise SelectionError("bounds", f"shape.over is {placed}, and the view is {found.shape}")
        return evolve(found, layout=wrap_layout(found.layout.implementation.moved_to(placed)))
    if facts.get("start") == own.get("start"):
        return found
    moved: View[Any] = View(found).translate_to(start)
    return moved._expression


def _over(node: Node, parts: Sequence[Measured]) -> Measured:
    """Return all of a node, and the total cost of its parts."""
    shared, hidden = node.is_sharing, node.hidden_parts
    count, rounds, most, deep = 1 + hidden, hidden, min(hidden, 1), 0 if parts else min(hidden, 1)
    is_shared = shared
    for part in parts:
        count += part.parts
        rounds += part.rounds
        most = max(most, part.rounds)
        deep = max(deep, part.deep)
        is_shared |= part.shared
    # Where a mode is shared out, an element comes from one part; else from all of them.
    return Measured(node.all(), count, 1 + (most if shared else rounds), 1 + deep, is_shared)


def _with_names(view: Expression, names: list[Json]) -> Expression:
    """Return the same view with untrusted names for its modes."""
    for number, name in enumerate(names):
        if name is not None and not (isinstance(name, str) and len(name) <= _LONGEST):
            raise SelectionError(
                "schema", f"names[{number}] is null, or a text of at most {_LONGEST} characters"
            )
    try:
        layout = view.layout.named(*cast("list[str | None]", names))
    except TensorWrapperError as error:
        raise SelectionError("schema", f"names: {error}") from error
    return evolve(view, layout=layout)


def _placed(view: Expression, extents: Extents, start: Extents) -> Expression:
    """Return the same view over a box with another origin."""
    maps = maps_of(view.layout)
    if maps is not None:
        base, axes = maps
        return evolve(view, layout=of_maps(base, axes, start))
    # Storage tile by tile has no separate origin to move.
    return Expression(Whole(view), Layout(wrap(make_smooth(extents, start))))
