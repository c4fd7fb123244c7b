"""Modes side by side: which modes of several boxes meet, by name or by position, and which are stretched.

By position is NumPy's broadcasting: modes are matched from the last one on. By name is what TensorStore
does where both sides have labels: names match names, and modes without a name are matched among themselves,
from the last one on. Extents that meet are equal or 1.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, cast, final

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError, LayerError, ModeNameError, RankError
from tensorwrapper.shape._shape import Shape, wrap
from tensorwrapper.shape._shape_base import ShapeLike, implementation_of, names_of
from tensorwrapper.shape.boxes._names import Names, to_names
from tensorwrapper.shape.boxes._smooth import SmoothCommon, make_smooth
from tensorwrapper.shape.kinds._nested import Implementation
from tensorwrapper.typing import Index

_Token: TypeAlias = str | int
"""Key of paired modes: a name, or, for unnamed modes, the position from the last, from 1 on."""


class Stretchable(Protocol):
    """A value that can be stretched to a common shape: a layout, a tensor or a view."""

    @property
    def shape(self) -> Shape: ...
    def squeeze(self, *modes: SupportsIndex) -> Any: ...  # noqa: ANN401 - of what kind, each says itself
    def permute(self, order: Iterable[SupportsIndex], /) -> Any: ...  # noqa: ANN401
    def unsqueeze(self, mode: SupportsIndex, /) -> Any: ...  # noqa: ANN401
    def broadcast(self, shape: ShapeLike) -> Any: ...  # noqa: ANN401


_V = TypeVar("_V", bound=Stretchable)


@final
@frozen(getstate_setstate=False)
class ModeAlignment:
    """The position of each mode of some boxes in a common box; made by `align_modes`."""

    shapes: tuple[Shape, ...]
    """The boxes that were aligned."""
    shape: Shape
    """The common box: its extents, its names, and its origin."""
    modes: tuple[tuple[int | None, ...], ...]
    """For each box and each of its modes, the mode of `shape` that it feeds; None if it is dropped."""

    @property
    def stretched(self) -> tuple[tuple[int, ...], ...]:
        """The stretched modes of each box: they have extent 1, and the common extent differs.

        Examples
        --------
        >>> align_modes((3, 1), (4,)).stretched
        ((1,), ())
        """
        return tuple([self._stretched(operand) for operand in range(len(self.shapes))])

    @property
    def added(self) -> tuple[tuple[int, ...], ...]:
        """The modes of `shape` that each box lacks, and along which it repeats.

        Examples
        --------
        >>> align_modes((3, 1), (4,)).added
        ((), (0,))
        """
        rank = self.shape.rank
        return tuple([tuple([m for m in range(rank) if m not in modes]) for modes in self.modes])

    @property
    def shifts(self) -> tuple[tuple[int, ...], ...]:
        """The offset from a common index to the own index, for each box and each of its modes.

        A stretched or dropped mode has one index, for any common index: there the number is that index.

        Examples
        --------
        >>> align_modes(Shape(3, origin=(5,)), Shape(3, origin=(2,))).shifts
        ((0,), (-3,))
        """
        return tuple([self._shift(operand) for operand in range(len(self.shapes))])

    def source_index(self, operand: SupportsIndex, index: Iterable[SupportsIndex]) -> Index:
        """Return the index in one of the boxes for an index of the common one; O(rank).

        Raises
        ------
        OutOfBoundsError
            If the index is not in `shape`.
        RankError
            If there is no such operand.

        Examples
        --------
        >>> plan = align_modes(Shape(3, 1), Shape(4, origin=(7,)))
        >>> plan.source_index(0, (2, 9)), plan.source_index(1, (2, 9))
        ((2, 0), (9,))
        """
        number = self._number(operand)
        common = tuple(index)
        self.shape.ordinal(common)
        places = [to_int(entry, "an index") for entry in common]
        stretched = set(self._stretched(number))
        return tuple(
            [
                shift if mode is None or own in stretched else places[mode] + shift
                for own, (mode, shift) in enumerate(zip(self.modes[number], self._shift(number), strict=True))
            ]
        )

    def stretch(self, operand: SupportsIndex, value: _V) -> _V:
        """Return a layout, tensor or view over one of the boxes as one over the common box; no copy.

        Parameters
        ----------
        operand
            The number of the box that the value belongs to, from 0.
        value
            A value with modes of the extents of that box.

        Raises
        ------
        ExtentMismatchError
            If the value has other extents.
        RankError
            If there is no such operand.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> plan = align_modes(Shape(2, 3).named("x", "y"), Shape(3, 4).named("y", "z"))
        >>> str(plan.shape), plan.stretch(1, Layout(Shape(3, 4))).strides
        ('(2, 3, 4) names (x, y, z)', (0, 4, 1))
        """
        number = self._number(operand)
        wanted = self.shapes[number].extents
        if value.shape.kind != "smooth" or value.shape.extents != wanted:
            raise ExtentMismatchError(
                f"operand {number} was aligned with the extents {wanted}, and {value.shape} has others"
            )
        modes = self.modes[number]
        dropped = [own for own, mode in enumerate(modes) if mode is None]
        made: Any = value.squeeze(*dropped) if dropped else value
        kept = [mode for mode in modes if mode is not None]
        order = sorted(range(len(kept)), key=kept.__getitem__)
        if order != list(range(len(kept))):
            made = made.permute(order)
        for mode in self.added[number]:
            made = made.unsqueeze(mode)
        if made.shape != self.shape:
            made = made.broadcast(self.shape)
        return cast("_V", made)

    def _number(self, operand: SupportsIndex) -> int:
        number, count = to_int(operand, "the number of an operand"), len(self.shapes)
        if not 0 <= number < count:
            raise RankError(f"there is no operand {number} among {count}, which count from 0")
        return number

    def _stretched(self, operand: int) -> tuple[int, ...]:
        extents, common = self.shapes[operand].extents, self.shape.extents
        pairs = enumerate(zip(extents, self.modes[operand], strict=True))
        return tuple([own for own, (n, mode) in pairs if mode is not None and n != common[mode]])

    def _shift(self, operand: int) -> tuple[int, ...]:
        origin, start = self.shapes[operand].origin, self.shape.origin
        stretched = set(self._stretched(operand))
        pairs = enumerate(zip(origin, self.modes[operand], strict=True))
        return tuple([o if mode is None or own in stretched else o - start[mode] for own, (o, mode) in pairs])

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return type(self), (self.shapes, self.shape, self.modes)


def align_modes(*shapes: ShapeLike, to: ShapeLike | None = None) -> ModeAlignment:
    """Return the pairing of the modes of boxes, and the common box that they are stretched to; O(modes).

    Modes are paired by name if every box (with modes) has a name: equal names are paired, and unnamed modes
    are paired among themselves from the last one on. Else all are paired by position, from the last one on,
    as in NumPy; paired names must then be equal. Paired extents must be equal, or 1, which is stretched.

    The common modes are those of the first box, then the additional ones of the others: named modes at the
    end, in order; unnamed modes at the front. Each starts at the origin of the first box that is not
    stretched there; all others are shifted to it.

    Parameters
    ----------
    *shapes
        Boxes, or their extents.
    to
        The common box, if given in advance, as for a write into it. It is not stretched, and gets no
        additional mode: an unpaired mode must have extent 1, and is dropped.

    Raises
    ------
    ExtentMismatchError
        If paired extents differ and neither is 1; the text has the mode, and both.
    ModeNameError
        If modes that are paired by position have different names.
    JaggedModeError
        If a shape is jagged.

    Examples
    --------
    >>> align_modes((8, 1, 6), (7, 1)).shape
    Shape(8, 7, 6)
    >>> plan = align_modes(Shape(2, 3).named("x", "y"), Shape(3, 2).named("y", "x"))
    >>> str(plan.shape), plan.modes
    ('(2, 3) names (x, y)', ((0, 1), (1, 0)))
    >>> align_modes((2, 3), (2, 4))
    Traceback (most recent call last):
    tensorwrapper.errors.ExtentMismatchError: extent 4 of mode 1 of operand 1 does not broadcast to ...
    """
    given = [_operand(shape) for shape in shapes]
    operands = given if to is None else [_operand(to), *given]
    by_name = all(names is not None or not box.rank for box, names in operands)
    tokens = [_tokens(box.rank, names, by_name=by_name) for box, names in operands]
    order = tokens[0] if to is not None else _common_order(tokens)
    first = 0 if to is None else -1
    sides: dict[_Token, list[_Side]] = {token: [] for token in order}
    for number, ((box, names), own) in enumerate(zip(operands, tokens, strict=True), first):
        for mode, token in enumerate(own):
            name = None if names is None else names[mode]
            side = _Side(number, mode, box.extents[mode], box.origin[mode], name)
            if token in sides:
                sides[token].append(side)
            elif side.extent != 1:
                raise ExtentMismatchError(f"{side} meets no mode of the common shape, and is not 1")
    common = [_common_side(meeting) for meeting in sides.values()]
    names = to_names([_common_name(meeting) for meeting in sides.values()], len(order))
    box = make_smooth(tuple([side.extent for side in common]), tuple([side.origin for side in common]))
    places = {token: mode for mode, token in enumerate(order)}
    return ModeAlignment(
        tuple([wrap(box, names) for box, names in given]),
        wrap(box, names),
        tuple([tuple(map(places.get, own)) for own in tokens[-first:]]),
    )


def broadcast_shapes(*shapes: ShapeLike) -> Shape:
    """Return the common box that boxes are stretched to; see `align_modes`, which says how.

    Examples
    --------
    >>> broadcast_shapes((8, 1, 6), (7, 1)), broadcast_shapes()
    (Shape(8, 7, 6), Shape())
    """
    return align_modes(*shapes).shape


@final
@frozen
class _Side:
    """A mode of an operand, to meet those of others; operand -1 is the common box that is given."""

    operand: int
    mode: int
    extent: int
    origin: int
    name: str | None

    def __str__(self) -> str:
        name = "" if self.name is None else f" ({self.name!r})"
        whose = "the common shape" if self.operand < 0 else f"operand {self.operand}"
        return f"extent {self.extent} of mode {self.mode}{name} of {whose}"


def _operand(shape: ShapeLike) -> tuple[SmoothCommon, Names]:
    implementation: Implementation = implementation_of(shape)
    if isinstance(implementation, SmoothCommon):
        return implementation, names_of(shape)
    if implementation.kind == "nested":
        raise LayerError(
            f"modes of boxes are aligned; {implementation.layers} are the layers of one: flatten() it"
        )
    raise JaggedModeError(
        "modes of boxes are aligned, and a shape is jagged; tensorwrapper.align aligns jagged shapes"
    )


def _tokens(rank: int, names: Names, *, by_name: bool) -> list[_Token]:
    """Return what tells for each mode which others it meets."""
    if not by_name or names is None:
        return list(range(rank, 0, -1))
    left = names.count(None)
    tokens: list[_Token] = []
    for name in names:
        tokens.append(left if name is None else name)
        left -= name is None
    return tokens


def _common_order(tokens: Sequence[list[_Token]]) -> list[_Token]:
    """Return the common modes: those of the first box, and those that others add."""
    order = list(tokens[0]) if tokens else []
    for own in tokens[1:]:
        missing = [token for token in own if token not in order]
        order += [token for token in missing if isinstance(token, str)]
        for token in sorted([token for token in missing if isinstance(token, int)]):
            # Before the mode without a name that follows it, or before all modes.
            order.insert(order.index(token - 1) if token > 1 else 0, token)
    return order


def _common_side(meeting: list[_Side]) -> _Side:
    """Return the first mode that is not stretched to the others that it meets."""
    target = meeting[0].operand < 0
    common = next((side for side in meeting if side.extent != 1 or target), meeting[0])
    for side in meeting:
        if side.extent not in {1, common.extent}:
            raise ExtentMismatchError(
                f"{side} does not broadcast to {common}: extents that meet are equal, or 1 and stretched"
            )
    return common


def _common_name(meeting: list[_Side]) -> str | None:
    named = [side for side in meeting if side.name is not None]
    for side in named[1:]:
        if side.name != named[0].name:
            raise ModeNameError(
                f"{named[0]} and {side} meet by position, as one of the shapes has no names, but have "
                f"different names"
            )
    return named[0].name if named else None
