"""Selectors: what stands between the brackets of a tensor, as a value that can be written down."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, SupportsIndex, TypeVar, cast, final

import attrs

from tensorwrapper._integers import to_counts
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.layout._keys import expand_positional, parse_positional
from tensorwrapper.selection._selector_atoms import NewMode, SelectorAtom, SelectorItem, strict_slice, to_atom
from tensorwrapper.selection._selector_text import atoms_text, read_atoms, shorten
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.typing import Extents, PositionalItem, PositionalKey

__all__ = ["Selectable", "Selector"]

_PartT = TypeVar("_PartT")
_PartT_co = TypeVar("_PartT_co", covariant=True)


class Selectable(Protocol[_PartT_co]):
    """What a selector can be applied to: layouts, tensors and views."""

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        ...

    def __getitem__(self, key: PositionalKey, /) -> _PartT_co: ...

    def broadcast(self, shape: ShapeLike) -> _PartT_co:
        """Return the same elements over `shape`."""
        ...


@final
@attrs.frozen(init=False, eq=False, repr=False)
class Selector:
    """A key as a value: positions, slices, one ellipsis and new modes of any extent; hashable, and text.

    The text is a comma list, with or without brackets: ``3`` is a position (its mode goes), ``a:b:s`` a
    slice, ``...`` as many whole modes as remain, ``+`` and ``+n`` a new mode of extent 1 and n. Negative
    numbers count from the end. What is not mentioned is taken whole.

    Slices are cut short at the ends of a mode, as NumPy's are. With ``strict=True`` a slice that starts or
    ends outside, or runs against its step, is an error; an end of ``-n - 1`` then stands before the first of
    n positions, so that every slice can be written with both ends.

    Raises
    ------
    ConversionError
        If a part is none of these.
    RankError
        If there are several ellipses.
    StepError
        If a step is 0.
    SizeOverflowError
        If a number has more than 100 digits.

    Examples
    --------
    >>> from tensorwrapper.selection import Selector
    >>> s = Selector.parse("1, ..., ::-2, +3")
    >>> s.result_extents((2, 4, 5))
    (4, 3, 3)
    >>> import tensorwrapper as tw
    >>> s.apply(tw.as_tensor([[1, 2, 3], [4, 5, 6]])).tolist()
    [[6, 6, 6], [4, 4, 4]]
    """

    atoms: tuple[SelectorAtom, ...]
    """The parts in order; integers are Python's, a step of 1 is left out."""

    def __init__(self, *items: SelectorItem) -> None:
        atoms = tuple([to_atom(item) for item in items])
        if atoms.count(...) > 1:
            raise RankError(f"a selector may have one ellipsis only: {shorten(atoms_text(atoms))}")
        object.__setattr__(self, "atoms", atoms)

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Return the selector that a text writes: the inverse of `str`; O(length).

        The text may come from a stranger: at most 2**20 characters, numbers of at most 100 digits.

        Raises
        ------
        ParseError
            If it is not the text of a selector; the message says where.
        RankError, StepError, ExtentError
            If it has several ellipses, a step of 0, or a new mode of extent 0.

        Examples
        --------
        >>> print(Selector.parse("1:2:1,+1 , ..."))
        [1:2, +, ...]
        """
        return cls(*read_atoms(text))

    @classmethod
    def from_key(cls, key: SelectorItem | tuple[SelectorItem, ...]) -> "Selector":
        """Return the selector of what may stand between the brackets of a tensor; arrays are refused.

        Examples
        --------
        >>> import numpy as np
        >>> print(Selector.from_key(np.s_[1, ..., None, ::-2]))
        [1, ..., +, ::-2]
        """
        return cls(*key) if isinstance(key, tuple) else cls(key)

    def to_key(self) -> tuple[PositionalItem, ...]:
        """Return the key that selects the same in NumPy, with ``None`` for new modes.

        Raises
        ------
        ConversionError
            If a new mode has another extent than 1, for which NumPy has no word.

        Examples
        --------
        >>> Selector.parse("1, +, ...").to_key()
        (1, None, Ellipsis)
        """
        for atom in self.atoms:
            if isinstance(atom, NewMode) and atom.extent > 1:
                raise ConversionError(f"no key has a new mode of extent {atom.extent}, as {self} has")
        return self._narrow_key()

    def result_extents(self, extents: Iterable[SupportsIndex], *, strict: bool = False) -> Extents:
        """Return the extents of what is selected from modes of these `extents`; O(rank).

        Raises
        ------
        OutOfBoundsError
            If a position is outside its mode; with `strict`, a bound of a slice too.
        TooManyIndicesError
            If there are more positions and slices than modes.
        ExtentError
            If an extent is negative; with `strict`, if a slice runs against its step.

        Examples
        --------
        >>> Selector.parse("1, +100, ..., +, :, ::-2").result_extents((2, 3, 4, 5))
        (100, 3, 1, 4, 3)
        """
        counts = to_counts(extents, "extents")
        key = self._strict_key(counts) if strict else self._narrow_key()
        news = iter([atom.extent for atom in self.atoms if isinstance(atom, NewMode)])
        entries = [entry for entry in parse_positional(key, counts) if not isinstance(entry, int)]
        return tuple([next(news) if entry is None else entry[2] for entry in entries])

    def apply(self, operand: Selectable[_PartT], *, strict: bool = False) -> _PartT:
        """Return what is selected of a layout, tensor or view; nothing is copied.

        The result starts at zero. New modes of an extent above 1 are broadcast: tensors are read-only then.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError, ExtentError
            As `result_extents` does.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> Selector.parse("..., 0").apply(tw.as_tensor([[0, 1, 2], [3, 4, 5]])).tolist()
        [0, 3]
        """
        part = operand[self._strict_key(operand.shape.extents) if strict else self._narrow_key()]
        if all(atom.extent == 1 for atom in self.atoms if isinstance(atom, NewMode)):
            return part
        # A part of a layout is a layout, of a tensor a tensor; the types of both cannot say so.
        narrow = cast("Selectable[_PartT]", part)
        return narrow.broadcast(self.result_extents(operand.shape.extents))

    def _narrow_key(self) -> tuple[PositionalItem, ...]:
        """Return the key in which every new mode has extent 1."""
        return tuple([None if isinstance(atom, NewMode) else atom for atom in self.atoms])

    def _strict_key(self, extents: Extents) -> tuple[PositionalItem, ...]:
        """Return the key for modes of these extents, whose slices have been checked."""
        items = expand_positional(self._narrow_key(), len(extents))
        mode = 0
        for place, item in enumerate(items):
            if isinstance(item, slice):
                items[place] = strict_slice(item, mode, extents[mode])
            mode += item is not None
        return tuple(items)

    def _parts(self) -> tuple[object, ...]:
        """Return the atoms in a form that Python 3.11 can hash."""
        return tuple(
            [(atom.start, atom.stop, atom.step) if isinstance(atom, slice) else atom for atom in self.atoms]
        )

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Selector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts())

    def __str__(self) -> str:
        return atoms_text(self.atoms)

    def __repr__(self) -> str:
        return f"Selector.parse({str(self)!r})"

    def __reduce__(self) -> tuple[Callable[..., "Selector"], tuple[SelectorAtom, ...]]:
        return Selector, self.atoms
