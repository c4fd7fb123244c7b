"""Write views as JSON. Sources are named, functions are not sent, large tables may be frames.

A view is an object with ``of`` (its node) and, where it is not all of that, ``layout``
(one layout of the places of the node: the normal form), or ``ops`` (simple steps, in order), or
steps after a layout. The outermost object also has ``view`` (the version), ``dtype`` and ``range``.

Version 1 writes a view as often as it is used. Where that would be too long, or nest too deep, version 2 adds
``nodes``: a list of views, of which others are made by their number. It also has views that are not boxes: in
place of ``range`` they have ``shape``, a few facts that a reader compares with the result.

Version 3 is of records: a list of names and views, whose nodes are shared.

Version 5 is of views in a file, whose sources are tensors of files: many of them are one node, ``members``.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, cast, final, get_args

import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import ConversionError, JaggedModeError, OutOfBoundsError
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._elementwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._expression import Expression, Node, NodeWriter, is_base
from tensorwrapper.selection.expressions._fields import dtype_name, facts_of, range_of, said_shape
from tensorwrapper.selection.expressions._generators import Counting, Diagonal, Filling, RandomField
from tensorwrapper.selection.expressions._joining import Interleaving, Joining, Stacking
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._padding import Padding
from tensorwrapper.selection.expressions._routing import Routing
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.facade._computed_rows import ComputedRows
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.jagged._rows import Rows
from tensorwrapper.selection.operations._operation import OPERATIONS, Atom, atoms_of
from tensorwrapper.selection.schema._steps import row_step
from tensorwrapper.selection.sources._read_source import layout_of
from tensorwrapper.selection.sources._source import Source, TensorSource
from tensorwrapper.selection.transforms._transform import maps_of, unnamed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import ModeNames, names_of

_KNOWN: tuple[type[Node], ...] = (
    Reading,
    Joining,
    Interleaving,
    Stacking,
    Padding,
    Choosing,
    Extreme,
    Casting,
    Whole,
    Filling,
    Counting,
    Diagonal,
    RandomField,
    Routing,
    Rows,
)

_nodes: dict[str, type[Node]] = {name: node for node in _KNOWN for name in node.json_names}

NODES: Mapping[str, type[Node]] = MappingProxyType(_nodes)
"""Key and class of each node that is written and read."""


def register_node(node: type[Node]) -> type[Node]:
    """Make a class of nodes known to JSON, under its `json_names`; return it, so that it decorates a class.

    Raises
    ------
    ConversionError
        If it has no name, or one is that of another class.
    """
    if not node.json_names:
        raise ConversionError(f"{node.__name__} has no json_names, so that JSON could not tell it")
    for name in node.json_names:
        if _nodes.get(name, node) is not node:
            raise ConversionError(f"JSON knows {name!r} as {_nodes[name].__name__}, not as {node.__name__}")
    _nodes.update(dict.fromkeys(node.json_names, node))
    return node


def is_registered(node: type[Node]) -> bool:
    """Return True if JSON knows a class of nodes."""
    return all(_nodes.get(name) is node for name in node.json_names)


VERSIONS = (1, 2)
OF_RECORDS = 3
"""The version of a text of several views, which are fields of records."""
WITH_MEMBERS = 5
"""The version of a text with nodes of many tensors of files."""
_OFTEN = 256  # views that may be written more than once before those that are shared get numbers
_DEEP = 40  # views inside one another that may be written before some get numbers
_REACH = 12  # and then how many from one with a number to the next
_FRAMED = 64  # positions from which a table becomes a frame, if there may be frames

SchemaForm: TypeAlias = Literal["steps", "normal", "box"]
"""Form of a written view: the recorded steps, the normal form, or a region of one source."""


class Leaf(Protocol):
    """Says which views are written as sources, and how: of a file that has views."""

    def view(
        self, view: Expression, layout: "Callable[[Layout[Any]], dict[str, Json] | None]"
    ) -> tuple[dict[str, Json], int] | None:
        """Return the JSON of a source, and the number of calls that it has; None of other views.

        `layout` returns the JSON of a layout; None if JSON cannot say it.
        """
        ...

    def node(self, node: Node) -> dict[str, Json] | None:
        """Return the JSON of a node of many sources; None of other nodes."""
        ...


class HasFields(Protocol):
    """Records of fields, each of which is a view."""

    def __fields__(self) -> tuple[Mapping[str, View[Any]], int]:
        """Return the fields by name, and how many modes they share."""
        ...


def sources(view: View[Any] | HasFields) -> dict[str, Source]:
    """Return the sources of a view by name: "0", "1" and so on, in the order in which they are met.

    Records have the sources of all their fields. A tensor that comes twice is one source; two tensors over
    one buffer are two.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> a, b = tw.as_tensor([1, 2]), tw.as_tensor([3])
    >>> sel.sources(sel.concat([a, b, a]))
    {'0': tensor(Shape(2), int64), '1': tensor(Shape(1), int64)}
    """
    found: dict[int | Source, Source] = {}
    met: set[int] = set()
    waiting = [own._expression for own in _views_of(view)[0].values()][::-1]
    while waiting:
        part = waiting.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        while part.written is not None:
            # For an optimized view the recorded steps are read.
            part = part.written
        source = part.node.source
        if source is not None:
            found.setdefault(_key(source), source)
        waiting += reversed(part.node.operands)
    return {str(number): source for number, source in enumerate(found.values())}


def _views_of(view: View[Any] | HasFields) -> tuple[Mapping[str, View[Any]], int | None]:
    """Return the views to write by name, and of records how many modes they share."""
    if isinstance(view, View):
        return {"": view}, None
    if not hasattr(type(view), "__fields__"):
        raise ConversionError(f"as_view makes a view of a {type(view).__name__}, and views are written")
    return view.__fields__()


def _unnamed(view: View[Any] | HasFields) -> dict[str, Source]:
    """Return the sources of a view by number; a function computes none of them, as no reader knows it."""
    found = sources(view)
    for own in found.values():
        if isinstance(own, ComputedRows):
            raise ConversionError(
                f"{own!r} is computed by a function, which JSON cannot say: compute() makes a tensor of it, "
                "sources= gives it a name"
            )
    return found


def _named(given: Mapping[str, ViewLike]) -> dict[str, Source]:
    """Return sources by name, of which some may be given as tensors or whole views."""
    check_kind_of(given, Mapping, "sources= is a mapping of names")
    return {name: _source_of(name, own) for name, own in given.items()}


def _source_of(name: str, given: ViewLike) -> Source:
    own = as_view(given)._expression
    source = own.node.source
    if source is None or own != own.node.all():
        raise ConversionError(
            f"{name!r} is not a source but a part or several: `sel.sources(v)` are those of v"
        )
    return source


def _key(source: Source) -> "int | Source":
    """Return the key of a source by name: tensors over one buffer are two sources."""
    return id(source.tensor) if isinstance(source, TensorSource) else source


def to_json(
    view: View[Any] | HasFields,
    *,
    form: SchemaForm = "steps",
    sources: Mapping[str, ViewLike] | None = None,
    frames: list[bytes] | None = None,
) -> str:
    """Return a view as JSON, without the elements of its sources.

    Parameters
    ----------
    view
        A view of any shape. Results of a Python function cannot be written. All fields of records are
        written, and each node that they share once; `fields.records_from_json` reads them.
    form
        ``"steps"`` keeps every recorded step. ``"normal"`` writes the normal form. ``"box"`` writes
        ``{"tensorId", "range"}``, for a view that is a region of one source and has its names of modes.
    sources
        Names of the sources, which may be tensors; those of `sources` if not given.
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
    if form not in get_args(SchemaForm):
        raise ConversionError(f"form must be one of {', '.join(get_args(SchemaForm))}, not {form!r}")
    writer = _Writer(_unnamed(view) if sources is None else _named(sources), frames)
    views, rank = _views_of(view)
    if form == "box":
        if rank is not None:
            raise ConversionError('a box is a region of one source, and records are several: form="steps"')
        only = views[""]
        chosen = only.normal_form() if only.size else only._expression
        return dump_json(writer.box(chosen, names_of(only.shape)))
    return _document(writer, views, rank, is_normal=form == "normal")


def _document(writer: "_Writer", views: Mapping[str, View[Any]], rank: int | None, *, is_normal: bool) -> str:
    """Return the text of a view, or of all fields of records, which share so many modes."""
    roots = [own.normal_form() if is_normal else own._expression for own in views.values()]
    nodes = writer.numbered(roots, is_normal=is_normal, shared=rank is not None)
    numbered: dict[str, Json] = {"nodes": nodes} if nodes else {}
    written = [
        writer.declared(*pair, is_normal=is_normal) for pair in zip(views.values(), roots, strict=True)
    ]
    if rank is not None:
        fields: list[Json] = [[name, own] for name, own in zip(views, written, strict=True)]
        return dump_json({"view": OF_RECORDS, "rank": rank, "records": fields, **numbered})
    is_first = views[""].shape.is_box and not (nodes or writer.met_rows)
    version = WITH_MEMBERS if writer.met_members else 1 if is_first else 2
    return dump_json({"view": version, **numbered, **written[0]})


def stored_json(view: View[Any], leaf: Leaf, frames: list[bytes]) -> str:
    """Return a view as JSON whose sources `leaf` says; long tables become frames.

    Raises
    ------
    ConversionError
        If the view cannot be written so.
    """
    return _document(_Writer({}, frames, leaf), {"": view}, None, is_normal=False)


def _facts(shape: Shape[Any]) -> dict[str, Json]:
    """Return the facts of a shape that is not a box, and all of it where rows begin at different indices."""
    facts = facts_of(shape)
    try:
        shape.origin  # noqa: B018 - it raises where rows begin at different indices
    except JaggedModeError:
        facts["over"] = said_shape(shape)
    return facts


@final
class _Writer(NodeWriter):
    """State of a view being written."""

    __slots__ = (
        "_buffers",
        "_frames",
        "_is_normal",
        "_leaf",
        "_names",
        "_numbers",
        "_tensors",
        "met_members",
        "met_rows",
    )

    met_members: bool
    """True if a node of many sources was written."""
    met_rows: bool
    """True if a view was written that is not a box."""

    def __init__(
        self, names: Mapping[str, Source], frames: list[bytes] | None, leaf: Leaf | None = None
    ) -> None:
        self._is_normal = False
        self._leaf = leaf
        self.met_members = False
        self.met_rows = False
        self._numbers: dict[tuple[int, bool], int] = {}
        self._names = names
        self._frames = frames
        # For several names the first one is written.
        pairs = list(names.items())[::-1]
        self._tensors = {_key(source): name for name, source in pairs}
        self._buffers = {source: name for name, source in pairs}

    def numbered(self, roots: list[Expression], *, is_normal: bool, shared: bool) -> list[Json]:
        """Write nodes that are used more than once, or deep, and return them in order.

        Parameters
        ----------
        shared
            Whether they are written even if the text is short without.
        """
        parts = _operands if is_normal else _as_written if self._leaf is None else self._below
        order = operands_first(roots, parts=parts)
        nodes: list[Json] = []
        for node in _chosen_nodes(order, parts, roots if shared else []):
            self._is_normal = is_normal
            nodes.append({"of": self._node(node)})
            self._numbers[id(node), is_normal] = len(nodes) - 1
        self._is_normal = False
        return nodes

    def _below(self, view: Expression) -> tuple[Expression, ...]:
        """Return the views that one is made of, unless it is written as a source."""
        is_source = self._leaf is not None and (
            self._leaf.view(view, self._layout) is not None or self._leaf.node(view.node) is not None
        )
        return () if is_source else _as_written(view)

    def declared(self, view: View[Any], chosen: Expression, *, is_normal: bool) -> dict[str, Json]:
        """Return a view with its type, its place, and the names of its modes."""
        written = self.normal(chosen) if is_normal else self.steps(chosen)
        names, shape = names_of(view.shape), view.shape
        if names is not None:
            written["names"] = list(names)
        place = {"range": range_of(shape)} if shape.is_box else {"shape": _facts(shape)}
        return {"dtype": dtype_name(view.dtype), **place, **written}

    def steps(self, view: Expression) -> dict[str, Json]:
        """Return a view as the steps that made it."""
        self.met_rows |= not view.is_box
        known = None if self._leaf is None else self._leaf.view(view, self._layout)
        written: dict[str, Json]
        done = 0
        if known is not None:
            written, done = {**known[0]}, known[1]
            self.met_members |= "members" in cast("dict[str, Json]", written["of"])
        elif view.written is None:
            written = self._begun(view)
        else:
            # It continues an optimized view, or a part of a node.
            written = self.steps(view.written)
        ops = [*cast("list[Json]", written.pop("ops", []))]
        for call in view.calls[done:]:
            for atom in atoms_of(call):
                ops += _steps_of(atom, call[2], self._table)
        return {**written, "ops": ops} if ops else written

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
        number = self._numbers.get((id(node), self._is_normal))
        if number is not None:
            return {"number": number}
        members = None if self._leaf is None else self._leaf.node(node)
        if members is not None:
            self.met_members = True
            return members
        if node.json_names and not is_registered(type(node)):
            raise ConversionError(
                f"{node.name} is not written as JSON: register_node({type(node).__name__}) makes it known"
            )
        return node.to_json(self)

    def _begun(self, view: Expression) -> dict[str, Json]:
        """Return what the steps of a view begin with: its node, or a view in normal form."""
        if view.calls or _is_all(view):
            return {"of": self._node(view.node)}
        if not view.shape.is_box:
            raise ConversionError(f"a part of shape {view.shape} is not written as JSON: compute() it before")
        return self.normal(view)

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
        if node.source is not None or maps != maps_of(wrap_layout(new_row_major(node.extents))):
            written["layout"] = self._layout(view.layout)
        return written

    def _layout(self, layout: Layout[Any]) -> dict[str, Json] | None:
        """Return the JSON of a layout; None if it has no rule per mode."""
        maps = maps_of(layout)
        return None if maps is None else {"offset": maps[0], "modes": [self._axis(axis) for axis in maps[1]]}

    def _kept_together(self, view: Expression) -> str:
        """Return the name of the source that a view without a rule per mode is all of."""
        node = view.node
        for name, known in self._names.items():
            same = isinstance(known, TensorSource) and known == node.source
            if same and _lie_alike(view, cast("TensorSource", known).tensor.layout):
                return name
        raise ConversionError(
            f"a part of a tensor of shape {view.shape} that keeps tiles together has no rule per mode: it is "
            'written as steps, form="steps"'
        )

    def _axis(self, axis: AxisMap) -> dict[str, Json]:
        if isinstance(axis, Stride):
            return {"extent": axis.extent, "stride": axis.step}
        if isinstance(axis, Cycle):
            cycle: list[Json] = [axis.start, axis.increment, axis.modulus, axis.divisor, axis.step]
            return {"extent": axis.extent, "cycle": cycle}
        return {"extent": axis.extent, "table": self._table(cast("Table", axis).values)}

    def box(self, view: Expression, names: ModeNames | None) -> dict[str, Json]:
        """Return a view that is a region of one source, with these names, as ``{"tensorId", "range"}``."""
        _check_box(view)
        node = view.node
        if node.source is None:
            raise ConversionError(f"a box is a region of one source, and this view is {node.name}")
        name = self._name(node.source, buffer=True)
        source = self._names[name]
        if layout_of(source) is not None:
            raise ConversionError("the source is seen in tiles, of which a box is not a region")
        whole = source.tensor.layout if isinstance(source, TensorSource) else Layout(source.shape)
        size = view.shape.size
        start = whole.index_of(view.layout.offset_of(view.shape.origin)) if size else source.shape.origin
        region = Shape(*view.shape.extents, origin=start) if len(start) == view.shape.rank else None
        window = None if region is None else _window_of(whole, region)
        if region is None or window is None or (size and not _is_alike(window, view)):
            raise ConversionError("the view is not a region of its source: it changes the order or the modes")
        if names != names_of(source.shape):
            raise ConversionError(
                f"a box has the names of modes of its source, {source.shape.names}, and the view has "
                f'{names or (None,) * len(start)}: steps keep them, form="steps"'
            )
        return {"tensorId": name, "range": range_of(region)}


def _operands(view: Expression) -> tuple[Expression, ...]:
    return view.node.operands


def _as_written(view: Expression) -> tuple[Expression, ...]:
    return view.node.operands if view.written is None else (view.written,)


def _chosen_nodes(
    order: list[Expression],
    parts: Callable[[Expression], tuple[Expression, ...]],
    roots: list[Expression],
) -> list[Node]:
    """Return the nodes that get numbers, each behind its operands.

    The trees of several roots share common nodes. Without roots the last view is the only one, and there are
    none if its text is short anyway.
    """
    copies: dict[int, int] = {}
    heights: dict[int, int] = {}
    for own in order:
        below = parts(own)
        copies[id(own)] = min(1 + sum([copies[id(part)] for part in below]), len(order) + _OFTEN + 1)
        heights[id(own)] = 1 + max([heights[id(part)] for part in below], default=0)
    last = id(order[-1])
    if not roots and copies[last] <= len(order) + _OFTEN and heights[last] <= _DEEP:
        return []
    uses = Counter([id(part.node) for own in order for part in parts(own)])
    uses.update([id(root.node) for root in roots if root.written is None])
    found: dict[int, Node] = {}
    reach: dict[int, int] = {}
    for own in order:
        node, below = own.node, parts(own)
        reach[id(own)] = 1 + max([reach[id(part)] for part in below], default=0)
        is_written = own.written is None and bool(node.operands)
        if is_written and (id(node) in found or uses[id(node)] > 1 or reach[id(own)] >= _REACH):
            found[id(node)] = node
            reach[id(own)] = 0
    if not roots:
        found.pop(id(order[-1].node), None)
    return list(found.values())


def _steps_of(atom: Atom, before: Shape[Any], table: Callable[[Any], Json]) -> list[Json]:
    if not before.is_box:
        return [row_step(atom.operation, atom.arguments, before, table)]
    operation = OPERATIONS.get(atom.operation)
    if operation is None:
        return [row_step(atom.operation, atom.arguments, before, table)]
    return operation.to_json(atom.arguments, before, table)


def _is_all(view: Expression) -> bool:
    """Return True if a view is all of its node or source, whatever its origin."""
    node = view.node
    if node.tensor is not None:
        return _lie_alike(view, node.tensor.layout)
    if not view.is_box or node.is_of_rows:
        return _lie_alike(view, node.all().layout)
    return is_base(view)


def _lie_alike(view: Expression, layout: Layout[Any]) -> bool:
    """Return True if a view has the places of a layout, up to its origin and the names of modes."""
    return unnamed_layout(view.layout)[...] == unnamed_layout(layout)[...]


def _check_box(view: Expression) -> None:
    if not view.shape.is_box:
        raise ConversionError(f'a view of {view.shape} is written as steps, form="steps": it is not a box')


def _window_of(whole: Layout[Any], region: Shape[Any]) -> Layout[Any] | None:
    """Return the part of a layout over a region; None if it is not inside."""
    try:
        return whole.window(region)
    except OutOfBoundsError:
        return None


def _is_alike(window: Layout[Any], view: Expression) -> bool:
    """Return True if a view has the places of a window."""
    own, other = maps_of(window), maps_of(view.layout)
    if own is None or other is None:
        return _lie_alike(view, window)
    # How far a mode of one position steps says nothing.
    pairs = zip(own[1], other[1], strict=True)
    return window.offset == view.layout.offset and all(a == b or a.extent == 1 for a, b in pairs)
