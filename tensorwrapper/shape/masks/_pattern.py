"""Patterns: shapes of which not all is known, what fits them, and where its parts lie.

A `Shape` is always known. A pattern says what there is to know of it: how many modes, which extents, which
of them agree, and what all that is called.
"""

from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import SupportsIndex, TypeAlias, cast, final

import attrs

from tensorwrapper._integers import to_count, to_counts
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import ConversionError, ExtentError, ExtentMismatchError, ModeNameError, RankError
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.masks._pattern_items import (
    Group,
    Item,
    Mode,
    Plan,
    Run,
    make_plan,
    parse_item,
    parse_items,
)
from tensorwrapper.typing import Extents

_Known: TypeAlias = "SupportsIndex | Iterable[SupportsIndex]"


@final
@value_class(repr=False, getstate_setstate=False)
class ShapePattern:
    """Partial knowledge of a shape: extents, names of unknown extents, and runs of modes.

    Parameters
    ----------
    *items
        The items from the first mode to the last. An item is an extent, ``None`` (a mode of any extent),
        ``...`` (any number of modes), or a text. ``"n"`` is a mode called n with the unknown extent n,
        ``"m=n"`` a mode called m with the extent n, ``"m=3"`` one with that extent, and ``"m=?"`` one with
        any. ``"*m"`` is any number of modes, ``"+m"`` at least one, and ``"m=[height, width]"`` a name for
        adjacent modes. A name may have a subscript, ``"n[i]"``: see `match_each`.

    Raises
    ------
    ParseError
        If a text is not an item, or there are two runs.
    ModeNameError
        If a name occurs twice.

    Examples
    --------
    >>> image = ShapePattern("*batch", "shape=[height, width]", "channels")
    >>> image
    ShapePattern.parse('[*batch, shape=[height, width], channels]')
    >>> match = image.match((100, 20, 5, 10, 255, 255, 3))
    >>> match.modes("batch"), match.extents("shape"), match.extent("channels")
    (range(0, 4), (255, 255), 3)
    """

    _items: tuple[Item, ...]
    _plan: Plan = attrs.field(eq=False)

    def __init__(self, *items: SupportsIndex | str | EllipsisType | None) -> None:
        _fill(self, tuple([_to_item(item) for item in items]))

    @classmethod
    def parse(cls, text: str) -> "ShapePattern":
        """Return the pattern of an untrusted text; O(length).

        Names may be written with dollar signs, groups with parentheses, and a run as ``name...``.

        Raises
        ------
        ParseError
            If the text is not a pattern; the message has the position. A text has at most 2**20 characters
            and 1000 items, and groups nest at most 32 deep.
        ModeNameError
            If a name occurs twice.

        Examples
        --------
        >>> text = "[$batch..., $hwc[$i]=($shape=($height, $width), $channels[$i]), $features[$i]]"
        >>> str(ShapePattern.parse(text))
        '[*batch, hwc[i]=[shape=[height, width], channels[i]], features[i]]'
        """
        return _make(parse_items(text))

    # Properties of the pattern.

    @property
    def names(self) -> tuple[str, ...]:
        """The names of modes, runs and groups, in order."""
        return tuple(self._plan.spans)

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The arguments of `resolve`: the names of unknown extents and of the run."""
        return self._plan.unknowns

    @property
    def subscripts(self) -> tuple[str, ...]:
        """The names in subscripts."""
        return self._plan.subscripts

    @property
    def min_rank(self) -> int:
        """The least rank of a shape that matches."""
        return sum([leaf.least if isinstance(leaf, Run) else 1 for leaf in self._plan.leaves])

    @property
    def max_rank(self) -> int | None:
        """The greatest rank of a shape that matches, ``None`` where a run may have any length."""
        return None if self._plan.run is not None else len(self._plan.leaves)

    # Matching.

    def matches(self, shape: ShapeLike) -> bool:
        """Tell whether the shape is one that the pattern describes; O(modes), and it never raises for that.

        Origins and names of modes are of no account. A mode whose extent varies matches ``?`` and runs alone.

        Examples
        --------
        >>> square = ShapePattern("rows=n", "columns=n")
        >>> square.matches((3, 3)), square.matches((3, 4)), square.matches((3,))
        (True, False, False)
        """
        space = as_shape(shape)
        fill = self._plan.fill(space.rank)
        return fill is not None and _disagreement(self._plan, space, fill, {}) is None

    def match(self, shape: ShapeLike) -> "ShapeMatch":
        """Return where the parts of the pattern lie in the shape, and how long they are; O(modes).

        Raises
        ------
        RankError
            If the shape has too few or too many modes.
        ExtentMismatchError
            If an extent is not that of the pattern; the text names the first mode.

        Examples
        --------
        >>> ShapePattern.parse("[a, b=[x, y=[j, +k]], c]").match((1, 2, 3, 4, 5, 6, 7)).locations
        {'a': range(0, 1), 'b': range(1, 6), 'x': range(1, 2), 'y': range(2, 6), 'j': range(2, 3), \
'k': range(3, 6), 'c': range(6, 7)}
        """
        return self._match(as_shape(shape), {}, "")

    def match_each(self, shapes: Iterable[ShapeLike]) -> "tuple[ShapeMatch, ...]":
        """Return the match of each shape; unknowns without a subscript are equal in all of them.

        Raises
        ------
        RankError, ExtentMismatchError
            As `match`; the text says which shape.
        JaggedModeError
            If a mode of a run varies, so that it cannot be compared.

        Examples
        --------
        >>> layers = ShapePattern.parse("[*batch, features[i]]")
        >>> [m.extent("features") for m in layers.match_each([(8, 3), (8, 12)])]
        [3, 12]
        >>> layers.match_each([(8, 3), (9, 12)])
        Traceback (most recent call last):
        tensorwrapper.errors.ExtentMismatchError: shape 1: Shape(9, 12) does not match \
[*batch, features[i]]: mode 0 has extent 9, but 8 in shape 0
        """
        found: list[ShapeMatch] = []
        seen: dict[str, tuple[int | Extents, str]] = {}
        for number, shape in enumerate(shapes):
            match = self._match(as_shape(shape), seen, f"shape {number}: ")
            found.append(match)
            for name, value in match._known(self._plan.varying).items():
                seen.setdefault(name, (value, f"in shape {number}"))
        return tuple(found)

    def _match(
        self, shape: Shape, seen: "Mapping[str, tuple[int | Extents, str]]", where: str
    ) -> "ShapeMatch":
        plan = self._plan
        fill = plan.fill(shape.rank)
        if fill is None:
            least = "at least " * (plan.run is not None)
            wrong = f"it has rank {shape.rank}, but the pattern {least}{self.min_rank}"
            raise RankError(f"{where}{shape!r} does not match {self}: {wrong}")
        extents = {name: value for name, value in seen.items() if isinstance(value[0], int)}
        found = _disagreement(plan, shape, fill, extents) or _run_disagreement(plan, shape, fill, seen)
        if found is not None:
            raise ExtentMismatchError(f"{where}{shape!r} does not match {self}: {found}")
        return ShapeMatch(self, shape)

    # Telling more.

    def resolve(
        self, known: Mapping[str, _Known] | None = None, /, **extents: _Known
    ) -> "Shape | ShapePattern":
        """Return the pattern with these extents: a shape, if now all is known, else a pattern.

        The shape has no names of modes: `ShapeMatch.named` gives them.

        Parameters
        ----------
        known
            A mapping from the names of unknowns to extents, for names that come from elsewhere.
        **extents
            The same by keyword: an integer for an extent, integers in order for a run.

        Raises
        ------
        ModeNameError
            If the pattern has no such unknown.
        ExtentError
            If an extent is negative, or a run is shorter than it has to be.

        Examples
        --------
        >>> matrix = ShapePattern("*batch", "rows", "columns=rows")
        >>> matrix.resolve(rows=3)
        ShapePattern.parse('[*batch, rows=3, columns=3]')
        >>> matrix.resolve(rows=3, batch=(2, 5))
        Shape(2, 5, 3, 3)
        """
        given = {**(known or {}), **extents}
        for name in given:
            if name not in self._plan.unknowns:
                raise ModeNameError(
                    f"{self} has no unknown {name!r}; it has {', '.join(self._plan.unknowns) or 'none'}"
                )
        resolved = self if not given else _make(_resolved(self._items, given))
        leaves = resolved._plan.leaves
        numbers = [leaf.extent for leaf in leaves if isinstance(leaf, Mode) and isinstance(leaf.extent, int)]
        return Shape(*numbers) if len(numbers) == len(leaves) else resolved

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self._items))}]"

    def __repr__(self) -> str:
        return f"ShapePattern.parse({str(self)!r})"

    def __reduce__(self) -> "tuple[Callable[[str], ShapePattern], tuple[str]]":
        return ShapePattern.parse, (str(self),)


@final
@frozen
class ShapeMatch:
    """The positions and extents of the parts of a pattern in a shape; made by `ShapePattern.match`.

    Examples
    --------
    >>> match = ShapePattern.parse("[*batch, shape=[height, width]]").match((7, 8, 9))
    >>> match.mode("width"), match.extent("width"), match.modes("shape"), match.extents("batch")
    (2, 9, range(1, 3), (7,))
    >>> match.pattern.resolve(match.unknowns) == match.shape
    True
    """

    pattern: ShapePattern
    """The matched pattern."""
    shape: Shape
    """What matched it."""

    def modes(self, name: str) -> range:
        """Return the modes that a name of the pattern stands for.

        Raises
        ------
        ModeNameError
            If the pattern has no such name.
        """
        plan = self.pattern._plan
        if name not in plan.spans:
            raise ModeNameError(
                f"{self.pattern} has no name {name!r}; it has {', '.join(plan.spans) or 'none'}"
            )
        fill = cast("int", plan.fill(self.shape.rank))
        first, last = plan.spans[name]
        return range(plan.place(first, fill), plan.place(last, fill))

    def mode(self, name: str) -> int:
        """Return the one mode that a name stands for.

        Raises
        ------
        ModeNameError
            If the pattern has no such name.
        RankError
            If it stands for another number of modes.
        """
        modes = self.modes(name)
        if len(modes) != 1:
            raise RankError(f"{name} stands for {len(modes)} modes of {self.shape!r}, and not for one")
        return modes.start

    def extents(self, name: str) -> Extents:
        """Return the extents of the modes that a name stands for.

        Raises
        ------
        JaggedModeError
            If one of them varies.
        ModeNameError
            If the pattern has no such name.
        """
        return tuple([self.shape.extent(mode) for mode in self.modes(name)])

    def extent(self, name: str) -> int:
        """Return the extent of the one mode that a name stands for; raises as `mode` and `extents` do."""
        return self.shape.extent(self.mode(name))

    def named(self) -> "Shape":
        """Return the shape with the names of its modes in the pattern; other modes keep their names.

        Raises
        ------
        ModeNameError
            If a mode that keeps its name, and one that gets a name, would have the same.

        Examples
        --------
        >>> match = ShapePattern("*batch", "shape=[height, width]", "channels=3").match((2, 4, 6, 3))
        >>> match.named()
        Shape(2, 4, 6, 3).named(None, 'height', 'width', 'channels')
        """
        plan, names = self.pattern._plan, list(self.shape.names)
        for leaf in plan.leaves:
            if isinstance(leaf, Mode) and leaf.name is not None:
                names[self.mode(leaf.name)] = leaf.name
        return self.shape.named(*names)

    @property
    def locations(self) -> dict[str, range]:
        """The modes of each name, in the order of the pattern."""
        return {name: self.modes(name) for name in self.pattern.names}

    @property
    def sizes(self) -> dict[str, Extents]:
        """The extents of the modes that each name stands for; raises if one of them varies."""
        return {name: self.extents(name) for name in self.pattern.names}

    @property
    def unknowns(self) -> dict[str, int | Extents]:
        """The missing arguments of `ShapePattern.resolve`; raises if a mode of the run varies."""
        return self._known(frozenset())

    def _known(self, but: frozenset[str]) -> dict[str, int | Extents]:
        """Return the values of all unknowns `but` some."""
        plan = self.pattern._plan
        fill = cast("int", plan.fill(self.shape.rank))
        found: dict[str, int | Extents] = {}
        for k, leaf in enumerate(plan.leaves):
            name = leaf.name if isinstance(leaf, Run) else leaf.extent
            if not isinstance(name, str) or name in found or name in but:
                continue
            found[name] = (
                self.extents(name) if isinstance(leaf, Run) else self.shape.extent(plan.place(k, fill))
            )
        return found


def _make(items: tuple[Item, ...]) -> ShapePattern:
    pattern = object.__new__(ShapePattern)
    _fill(pattern, items)
    return pattern


def _fill(pattern: ShapePattern, items: tuple[Item, ...]) -> None:
    plan = make_plan(items)
    object.__setattr__(pattern, "_items", items)
    object.__setattr__(pattern, "_plan", plan)


def _to_item(item: object) -> Item:
    if item is None:
        return Mode()
    if item is ...:
        return Run()
    if isinstance(item, str):
        return parse_item(item)
    return Mode(extent=to_count(cast("SupportsIndex", item), "an extent of a pattern"))


def _disagreement(
    plan: Plan, shape: Shape, fill: int, seen: Mapping[str, tuple[int | Extents, str]]
) -> str | None:
    """Return what the first mode that does not fit says."""
    found = dict(seen)
    extents = shape.extents if shape.kind == "smooth" else None
    for k, leaf in enumerate(plan.leaves):
        if isinstance(leaf, Run) or leaf.extent is None:
            continue
        mode = plan.place(k, fill)
        low, high = shape.extent_bounds(mode) if extents is None else (extents[mode], extents[mode])
        if low != high:
            return f"mode {mode} has extents from {low} to {high}, but {leaf} is one number"
        if isinstance(leaf.extent, int):
            if low != leaf.extent:
                return f"mode {mode} has extent {low}, not {leaf.extent}"
            continue
        needed, place = found.setdefault(leaf.extent, (low, f"in mode {mode}"))
        if needed != low:
            return f"mode {mode} has extent {low}, but {leaf.extent} is {needed} {place}"
    return None


def _run_disagreement(
    plan: Plan, shape: Shape, fill: int, seen: Mapping[str, tuple[int | Extents, str]]
) -> str | None:
    """Return where the run is not the one of an earlier shape."""
    if plan.run is None:
        return None
    name = plan.leaves[plan.run].name
    if name is None or name not in seen:
        return None
    needed, place = seen[name]
    first = plan.run
    extents = [shape.extent(mode) for mode in range(first, first + fill)]
    if tuple(extents) == needed or isinstance(needed, int):
        return None
    if len(extents) != len(needed):
        return f"{name} has {len(extents)} modes, but {len(needed)} {place}"
    k = next(k for k, (a, b) in enumerate(zip(extents, needed, strict=True)) if a != b)
    return f"mode {first + k} has extent {extents[k]}, but {needed[k]} {place}"


def _resolved(items: tuple[Item, ...], known: Mapping[str, object]) -> tuple[Item, ...]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Group):
            found.append(attrs.evolve(item, items=_resolved(item.items, known)))
        elif isinstance(item, Run):
            found.append(_resolved_run(item, known) if item.name in known else item)
        elif isinstance(item.extent, str) and item.extent in known:
            value = known[item.extent]
            extent = to_count(cast("SupportsIndex", value), f"the extent {item.extent}")
            found.append(attrs.evolve(item, extent=extent))
        else:
            found.append(item)
    return tuple(found)


def _resolved_run(run: Run, known: Mapping[str, object]) -> Group:
    name = cast("str", run.name)
    value = known[name]
    if not isinstance(value, Iterable):
        raise ConversionError(f"{run} is a run of modes and needs a sequence of extents, not {value!r}")
    extents = to_counts(cast("Iterable[SupportsIndex]", value), f"the extents of {name}")
    if len(extents) < run.least:
        raise ExtentError(f"{run} needs at least {run.least} mode, but is given the extents {extents}")
    return Group(name, tuple([Mode(extent=extent) for extent in extents]), run.subscript)
