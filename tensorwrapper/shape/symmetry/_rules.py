"""The symmetry of a result, from those of its operands: functions on groups, which see no element.

Each is sound: the result has at least the symmetry that is returned. Where sign and conjugation decide, a
rule looks at the name of the ufunc.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import numpy as np

from tensorwrapper.errors import RankError
from tensorwrapper.shape.symmetry._operations import Operation, close, encode
from tensorwrapper.shape.symmetry._symmetry import Symmetry
from tensorwrapper.typing import Index

_ODD: Final = frozenset(
    [
        "negative",
        "positive",
        "conjugate",
        "sin",
        "tan",
        "arcsin",
        "arctan",
        "sinh",
        "tanh",
        "arcsinh",
        "arctanh",
        "cbrt",
        "sign",
        "rint",
        "trunc",
        "deg2rad",
        "rad2deg",
        "radians",
        "degrees",
    ]
)
"""Ufuncs f with f(-x) = -f(x), and so f(0) = 0."""

_EVEN: Final = frozenset(
    ["absolute", "fabs", "square", "cos", "cosh", "isnan", "isinf", "isfinite", "logical_not"]
)
"""Ufuncs f with f(-x) = f(x)."""

_CONJUGATED: Final = frozenset(
    [
        "negative",
        "positive",
        "conjugate",
        "sin",
        "tan",
        "arctan",
        "sinh",
        "tanh",
        "arcsinh",
        "sign",
        "rint",
        "absolute",
        "square",
        "cos",
        "cosh",
        "isnan",
        "isinf",
        "isfinite",
        "logical_not",
        "exp",
        "exp2",
        "expm1",
        "add",
        "subtract",
        "multiply",
        "true_divide",
        "equal",
        "not_equal",
    ]
)
"""Ufuncs f with f(conj(x)) = conj(f(x)), also on the real axis: sqrt(-1) is not real."""


_CUTS: Final = {"arctan": -1, "arcsinh": -1, "arcsin": 1, "arctanh": 1}
"""Odd ufuncs with branch cuts on the imaginary axis (-1: x = -conj(x)) or the real one (1: x = conj(x)).

On a cut the sign of a zero decides, which -x and conj(x) have otherwise.
"""


def ufunc_symmetry(name: str, operands: "Sequence[Symmetry | complex]") -> Symmetry:
    """Return the symmetry of a ufunc of symmetric tensors of one shape, and of numbers.

    A forced zero times infinity or NaN is NaN. The rule checks numbers for that, but sees no elements: for a
    factor with such elements, take `Symmetry.positive` of the result.

    Examples
    --------
    >>> from tensorwrapper import Symmetry
    >>> pairs = Symmetry.antisymmetric(0, 1, rank=4) | Symmetry.antisymmetric(2, 3, rank=4)
    >>> [str(ufunc_symmetry(name, [pairs])) for name in ("sin", "exp", "square")]
    ['4: -(2 3) -(0 1)', '4: +(0 1)(2 3)', '4: +(2 3) +(0 1)']
    >>> str(ufunc_symmetry("multiply", [Symmetry.parse("s8"), pairs]))
    '4: -(2 3) -(0 1)'
    """
    groups = [own for own in operands if isinstance(own, Symmetry)]
    numbers = [own for own in operands if not isinstance(own, Symmetry)]
    real = all(np.isrealobj(number) or complex(number).imag == 0 for number in numbers)
    conjugates = name in _CONJUGATED and real
    if any(own.conjugate and own.sign == _CUTS.get(name) for own in groups[0].operations):
        return _mapped(groups[0], lambda sign: int(sign > 0), conjugates=False)
    if len(groups) == 1:
        combine = _of_one(name, numbers, first=isinstance(operands[0], Symmetry))
        return _mapped(groups[0], combine, conjugates=conjugates)
    signs = [_signs_of(own) for own in groups]
    common = set(signs[0]).intersection(*signs[1:])
    kept: list[Operation] = []
    for permutation, conjugate in common:
        own = [sign[permutation, conjugate] for sign in signs]
        if name == "multiply":
            results = {one * two for one in own[0] for two in own[1]}
        else:
            results = own[0].intersection(*own[1:]) & ({1, -1} if name in ("add", "subtract") else {1})
        if conjugates or not conjugate:
            kept += [Operation(permutation, sign, conjugate) for sign in results]
    return _group(groups[0].rank, kept)


def _signs_of(symmetry: Symmetry) -> dict[tuple[Index, bool], set[int]]:
    """Return the signs of each permutation and conjugation: both, if the tensor is zero."""
    signs: dict[tuple[Index, bool], set[int]] = {}
    for own in symmetry.operations:
        signs.setdefault((own.permutation, own.conjugate), set()).add(own.sign)
    return signs


def _of_one(name: str, numbers: Sequence[complex], *, first: bool) -> Callable[[int], int]:
    """Return the sign that an operation has after a ufunc, 0 for none, by the sign that it has."""
    if not numbers:
        parity = -1 if name in _ODD else int(name in _EVEN)
        return lambda sign: sign if parity < 0 else int(sign > 0 or parity > 0)
    factor = name == "multiply" or (name == "true_divide" and first and numbers[0] != 0)
    if factor and bool(np.isfinite(numbers[0])):
        return lambda sign: sign
    return lambda sign: int(sign > 0)


def _mapped(symmetry: Symmetry, combine: Callable[[int], int], *, conjugates: bool) -> Symmetry:
    kept = [
        Operation(own.permutation, combine(own.sign), own.conjugate)
        for own in symmetry.operations
        if combine(own.sign) and (conjugates or not own.conjugate)
    ]
    return _group(symmetry.rank, kept)


def _group(rank: int, operations: list[Operation]) -> Symmetry:
    """Return the symmetry of operations that are a group."""
    return Symmetry._make(rank, {own.code for own in operations})


def contraction_symmetry(
    left: Symmetry,
    right: Symmetry,
    labels: tuple[Sequence[Hashable], Sequence[Hashable], Sequence[Hashable]],
    *,
    same: bool = False,
) -> Symmetry:
    """Return the symmetry of a sum of products over labels, as `numpy.einsum` computes it.

    The pairs of operations count that act alike on shared labels and keep free, summed and batch labels
    apart. Their signs multiply, and both conjugate or neither does. O(order of left + order of right).

    Parameters
    ----------
    left, right
        The symmetries of the operands.
    labels
        One label per mode of the left operand, of the right one, and of the result; no operand repeats one.
    same
        True if the operands are one tensor, so that they may be exchanged.

    Raises
    ------
    RankError
        If an operand has another number of labels, or the result has over 8 modes.

    Examples
    --------
    >>> from tensorwrapper import Symmetry
    >>> s8, s2, none = Symmetry.parse("s8"), Symmetry.parse("s2"), Symmetry(2)
    >>> str(contraction_symmetry(s8, none, ("ijkl", "kl", "ij")))
    '2: +(0 1)'
    >>> contraction_symmetry(s2, Symmetry.parse("a2"), ("ij", "ij", "")).is_zero
    True
    """
    ones, twos, result = labels
    for own, given, which in ((left, ones, "left"), (right, twos, "right")):
        if own.rank != len(given):
            raise RankError(f"the {which} symmetry has rank {own.rank}, but {len(given)} labels")
    target = Symmetry(len(result))  # refuses a rank over 8
    kinds = {label: (label in ones, label in twos, label in result) for label in (*ones, *twos)}
    shared = [label for label in ones if label in twos]
    same_kinds = {(label, image) for label in kinds for image in kinds if kinds[label] == kinds[image]}
    lefts, rights = (
        _actions(left, ones, ones, same_kinds, shared),
        _actions(right, twos, twos, same_kinds, shared),
    )
    still = (tuple(shared), False)
    pairs = [(one, lefts[still][0]) for one in rights[still]] + [
        (one, rights[still][0]) for one in lefts[still]
    ]
    pairs += [(lefts[key][0], rights[key][0]) for key in lefts.keys() & rights.keys()]
    if same:
        exchanged = {label: (in_right, in_left, out) for label, (in_left, in_right, out) in kinds.items()}
        fits = {(label, image) for label in kinds for image in kinds if kinds[label] == exchanged[image]}
        over, back = _actions(left, ones, twos, fits, shared), _actions(right, twos, ones, fits, shared)
        pairs += [(over[key][0], back[key][0]) for key in over.keys() & back.keys()]
    codes = [
        encode([result.index((one | two)[label]) for label in result], sign * other, conjugate=conjugate)
        for (one, sign, conjugate), (two, other, _) in pairs
    ]
    return Symmetry._make(target.rank, close(target.rank, codes, allow_zero=True))


_Action = tuple[dict[Hashable, Hashable], int, bool]
_Key = tuple[tuple[Hashable, ...], bool]


def symmetry_left(
    symmetries: Sequence[Symmetry],
    dtypes: "Sequence[np.dtype[Any]]",
    labels: tuple[Sequence[Hashable], Sequence[Hashable], Sequence[Hashable]],
    dtype: "np.dtype[Any]",
    *,
    same: bool,
) -> Symmetry:
    """Return the symmetry of a contraction of elements of some types, as `contraction_symmetry`."""
    known = [
        own | _own_conjugates(own.rank) if dtype.kind == "c" != kind.kind and not own.is_zero else own
        for own, kind in zip(symmetries, dtypes, strict=True)
    ]
    kept = contraction_symmetry(known[0], known[1], labels, same=same)
    return kept if dtype.kind == "c" else kept.real


def _own_conjugates(rank: int) -> Symmetry:
    """Return what real elements have beside complex ones: each is its own conjugate."""
    return Symmetry(rank, [Operation(tuple(range(rank)), 1, conjugate=True)])


def _actions(
    symmetry: Symmetry,
    labels: Sequence[Hashable],
    images: Sequence[Hashable],
    allowed: set[tuple[Hashable, Hashable]],
    shared: list[Hashable],
) -> dict[_Key, list[_Action]]:
    """Return the actions of operations on labels, by that on the shared ones and the conjugation.

    Label k of an operand becomes label p(k) of `images`. Operations are left out that take a label to one
    where it is not allowed.
    """
    found: dict[_Key, list[_Action]] = {}
    for own in symmetry.operations:
        moved = {label: images[mode] for label, mode in zip(labels, own.permutation, strict=True)}
        if allowed.issuperset(moved.items()):
            key = tuple([moved[label] for label in shared]), own.conjugate
            found.setdefault(key, []).append((moved, own.sign, own.conjugate))
    return found
