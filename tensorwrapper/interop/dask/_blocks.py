"""`DaskBlocks`: a tensor in blocks, split into runs of present tiles, each a Dask task."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import different, unmasked_array
from tensorwrapper._error_text import counted
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import make_blocks, make_symmetric_blocks, packed_layout
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tensorwrapper.interop.dask._collected import Collected
from tensorwrapper.interop.dask._dask_api import (
    array_over,
    chunk_bytes,
    compute_all,
    layer_of,
    name_of,
)
from tensorwrapper.interop.dask._rows import cast_made
from tensorwrapper.interop.dask._serialize import introduce
from tensorwrapper.shape import BlockPattern, Contraction, Partition, Shape, Symmetry, contraction
from tensorwrapper.shape.lowlevel import make_block_pattern, orientations, restricted
from tensorwrapper.tensor import Tensor, contract
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, DaskArray, IntArray

NormOrder: TypeAlias = Literal["fro", "max", 1]
_NO_ARRAY: Final = "a collection of tiles is not an array: `d.compute()` has them as a tensor in blocks"


def blocks_in_parts(tensor: Tensor[Any], most: int) -> "DaskBlocks":
    """Split a tensor in blocks into runs of present tiles of at most `most` elements, a task each."""
    pattern: BlockPattern[Any] = tensor.stored_pattern
    marks = _marks_of(pattern, most)
    name = name_of("tensorwrapper-blocks", tensor, marks)
    values: Array = tensor.packed_values()
    offsets, fill, symmetry = pattern.offsets(), tensor.fill_value, tensor.symmetry
    parts = {
        (name, k): _tiles(_some(pattern, a, b), values[offsets[a] : offsets[b]], fill, symmetry)
        for k, (a, b) in enumerate(pairwise(marks.tolist()))
    }
    return DaskBlocks(layer_of(name, parts), name, pattern, tensor.shape, tensor.dtype, marks, fill, symmetry)


@final
@frozen(eq=False, repr=False)
class DaskBlocks(Collected, np.lib.mixins.NDArrayOperatorsMixin):
    """A tensor in blocks as a Dask collection of runs of present tiles, created by `to_dask`.

    Part ``k`` is a tensor in blocks of the whole tiling, with the key ``(name, k)``. It has the stored
    tiles ``marks[k]`` up to ``marks[k + 1]``. Ufuncs of one collection and numbers, or of several with the
    same tiles in the same parts, work part by part. Parts of a tensor with a symmetry have that symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.blocks({(0,): [1.0, 2.0, 3.0], (2,): [4.0]}, tw.Tiling([3, 2, 1]))
    >>> d = t.to_dask(max_elements=3)
    >>> d, (2 * d).compute(scheduler="sync").packed_values().tolist()
    (<DaskBlocks Shape.tiled([3, 2, 1]) float64: 2 tiles in 2 parts>, [2.0, 4.0, 6.0, 8.0])
    """

    graph: Any
    """The tasks."""
    name: str
    """Prefix of the keys of the parts."""
    stored_pattern: BlockPattern[Any]
    """The stored tiles: one per orbit of a symmetric tensor, otherwise all present tiles."""
    shape: Shape[Any]
    """The indices of all elements."""
    dtype: "np.dtype[Any]"
    """The type of the elements."""
    marks: IntArray
    """First stored tile of each part, and (last) the number of them."""
    fill_value: Any
    """Value of the elements of absent tiles."""
    symmetry: Symmetry | None = None
    """The symmetry that all parts have; None if all present tiles are stored."""

    @property
    def pattern(self) -> BlockPattern[Any]:
        """The present tiles."""
        return self.stored_pattern if self.symmetry is None else self.stored_pattern.closure(self.symmetry)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements of stored tiles."""
        return self.stored_pattern.elements * self.dtype.itemsize

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - as NumPy's protocol has it
        raise ConversionError(_NO_ARRAY)

    def __repr__(self) -> str:
        parts, count = len(self.marks) - 1, self.stored_pattern.count
        kept = "" if self.symmetry is None else f", symmetry {self.symmetry}"
        tiles = f"{counted(count, 'tile')} in {counted(parts, 'part')}"
        return f"<DaskBlocks {self.shape!r} {self.dtype}: {tiles}{kept}>"

    def compute(self, **options: object) -> Tensor[Any]:
        """Return the tensor in blocks in this process; the options are those of ``dask.compute``."""
        introduce(options.get("scheduler"))
        return cast("Tensor[Any]", compute_all(self, options))

    def map_tiles(
        self, function: "Callable[[Array], npt.ArrayLike]", *, dtype: npt.DTypeLike | None = None
    ) -> "DaskBlocks":
        """Apply a function to the present tiles; absent tiles are unchanged.

        Parameters
        ----------
        function
            Takes an array of the tiles of one size, ``(n, *extents)``, and returns one of these extents. It
            is called once for each size in a part.
        dtype
            The type of the new elements; as before if not given.

        Raises
        ------
        ConversionError
            If the tiles have a symmetry, which the function might not keep.
        """
        if self.symmetry is not None:
            raise ConversionError(
                f"map_tiles: a function of tiles may not keep the symmetry {self.symmetry}: "
                "t.keep_tiles(t.pattern).to_dask() has all tiles, and ufuncs keep what they can"
            )
        made = self.dtype if dtype is None else to_dtype(dtype)
        name = name_of("mapped", self.name, function, made)
        tasks = {(name, k): (functools.partial(_mapped, function, made), key) for k, key in self._keys()}
        fill = cast_made(np.asarray(self.fill_value), made)[()]
        return self._over(name, tasks, made, fill)

    def tile_norms(self, ord: NormOrder = "fro") -> "DaskArray":  # noqa: A002 - as NumPy's norm has it
        """Return the norm of each stored tile, in their order, as an array of Dask."""
        name = name_of("norms", self.name, ord)
        tasks = {(name, k): (functools.partial(_norms, ord), key) for k, key in self._keys()}
        chunks = (tuple(np.diff(self.marks).tolist()),)
        return array_over(layer_of(name, tasks, [self]), name, chunks, np.dtype(np.float64))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        others = [own for own in inputs if not isinstance(own, DaskBlocks) and np.ndim(own)]
        if others or method != "__call__" or set(options) - {"dtype", "casting"} or ufunc.nout != 1:
            raise ConversionError(
                f"{ufunc.__name__} of a collection of tiles takes collections and numbers, one by one: "
                "compute() has all its tiles"
            )
        given = [own for own in inputs if isinstance(own, DaskBlocks)]
        if any(
            own.stored_pattern != self.stored_pattern
            or own.marks.tolist() != self.marks.tolist()
            or (own.symmetry is None) != (self.symmetry is None)
            for own in given
        ):
            raise ExtentMismatchError(
                f"{ufunc.__name__}: collections have other tiles, or other parts: keep_tiles(other.pattern)"
                " of a tensor, before to_dask(), gives it the same"
            )
        with np.errstate(all="ignore"):
            # Call it locally on tensors without tiles, to find the type, the fill or the error.
            sample: Any = ufunc(
                *[own._without_tiles() if isinstance(own, DaskBlocks) else own for own in inputs], **options
            )
        dtype, fill = sample.dtype, sample.fill_value
        name = name_of("ufunc", ufunc, options, *[getattr(own, "name", own) for own in inputs])
        places = [n for n, own in enumerate(inputs) if isinstance(own, DaskBlocks)]
        bound, numbers = functools.partial(ufunc, **options), list(_numbers_of(inputs))
        kept = None if self.symmetry is None else _kept_by(bound, numbers, places, given)
        call = functools.partial(_called, bound, numbers, places, kept)
        tasks = {(name, k): (call, *[(own.name, k) for own in given]) for k in range(len(self.marks) - 1)}
        return DaskBlocks(
            layer_of(name, tasks, list({own.name: own for own in given}.values())),
            name,
            self.stored_pattern,
            self.shape,
            dtype,
            self.marks,
            fill,
            kept,
        )

    def _without_tiles(self) -> Tensor[Any]:
        none = np.empty(0, self.dtype)
        return _tiles(_some(self.stored_pattern, 0, 0), none, self.fill_value, self.symmetry)

    def _keys(self) -> list[tuple[int, tuple[str, int]]]:
        return [(k, (self.name, k)) for k in range(len(self.marks) - 1)]

    def _over(
        self, name: str, tasks: Mapping[Any, object], dtype: "np.dtype[Any]", fill: object
    ) -> "DaskBlocks":
        graph = layer_of(name, tasks, [self])
        return DaskBlocks(graph, name, self.stored_pattern, self.shape, dtype, self.marks, fill)

    # The protocol of Dask's collections.

    def __dask_postcompute__(self) -> tuple[Callable[..., Tensor[Any]], tuple[object, ...]]:
        return _joined, (self.stored_pattern, self.dtype, self.fill_value, self.shape.is_box, self.symmetry)

    def __dask_postpersist__(self) -> "tuple[Callable[..., DaskBlocks], tuple[object, ...]]":
        own = (self.name, self.stored_pattern, self.shape, self.dtype, self.marks)
        return _rebuilt, (*own, self.fill_value, self.symmetry)


def contract_in_parts(
    equation: str,
    left: "Tensor[Any] | DaskBlocks",
    right: "Tensor[Any] | DaskBlocks",
    *,
    max_elements: int | None = None,
) -> DaskBlocks:
    """Return the contraction of two tensors in blocks as a collection: a task for each run of result tiles.

    A task needs the parts of collections that have a tile that meets; tensors are shared by all tasks.
    O(triples) here. A result that keeps a symmetry of its operands has one tile of each orbit.

    Parameters
    ----------
    equation
        As of `contract`; with a label in the result at least.
    left, right
        Tensors in blocks, or collections of these.
    max_elements
        How many elements of the result a part has at most; as many as Dask's configuration allows bytes for
        if not given. A tile is never cut.

    Raises
    ------
    LabelError, RankError, ExtentMismatchError, SizeOverflowError
        As `contraction`.
    ConversionError
        If the result has no labels.
    ModuleNotFoundError
        If Dask is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> cut = tw.Tiling([2, 2], [2, 2])
    >>> t = tw.blocks({(0, 0): np.eye(2), (1, 0): np.ones((2, 2))}, cut)
    >>> made = tw.interop.contract_in_parts("ij,jk->ik", t, t.to_dask(), max_elements=4)
    >>> made, made.compute(scheduler="sync").array_equal(tw.contract("ij,jk->ik", t, t))
    (<DaskBlocks Shape.tiled([2, 2], [2, 2]) float64: 2 tiles in 2 parts>, True)
    """
    sides = [_Facts(own.pattern, own.symmetry, own.dtype) for own in (left, right)]
    plan = contraction(equation, sides[0], sides[1])
    if not plan.pattern.rank:
        raise ConversionError("a contraction to one number has no tiles: `tw.contract` computes it")
    dtype = np.result_type(left.dtype, right.dtype)
    most = chunk_bytes() // dtype.itemsize if max_elements is None else to_int(max_elements, "max_elements")
    stored = plan.stored_pattern
    marks = _marks_of(stored, max(most, 1))
    name = name_of("contracted", plan, getattr(left, "name", left), getattr(right, "name", right), marks)
    triples = plan.triples()
    bounds = np.searchsorted(triples[:, 2], marks)
    tasks: dict[Any, Any] = {}
    for k, (a, b) in enumerate(pairwise(marks.tolist())):
        own = triples[bounds[k] : bounds[k + 1]]
        needed = [_needed(side, own[:, n]) for n, side in enumerate((left, right))]
        call = functools.partial(_contracted, plan.equation, _some(stored, a, b), dtype, plan.symmetry)
        tasks[name, k] = (call, *needed)
    sources = [own for own in (left, right) if isinstance(own, DaskBlocks)]
    graph = layer_of(name, tasks, list({own.name: own for own in sources}.values()))
    zero = np.zeros((), dtype)[()]
    return DaskBlocks(graph, name, stored, stored.tiling.shape, dtype, marks, zero, plan.symmetry)


class _Facts(NamedTuple):
    """Properties of an operand for a plan; not a tensor, so that two are never treated as the same."""

    pattern: BlockPattern[Any]
    symmetry: Symmetry | None
    dtype: "np.dtype[Any]"


def _needed(side: "Tensor[Any] | DaskBlocks", slots: IntArray) -> object:
    """Return the operand for a task: all of a tensor, or the parts of a collection with the tiles."""
    if isinstance(side, Tensor):
        return [side]
    stored, symmetry = side.stored_pattern, side.symmetry
    if symmetry is not None:
        slots = stored.slots(orientations(symmetry, side.pattern.tiles()[slots]).indices)
    parts = different(np.searchsorted(side.marks, slots, "right") - 1)
    return [(side.name, int(k)) for k in parts] or [
        _tiles(_some(stored, 0, 0), np.empty(0, side.dtype), 0, symmetry)
    ]


def _contracted(
    equation: str,
    run: BlockPattern[Any],
    dtype: "np.dtype[Any]",
    kept: Symmetry | None,
    left: Sequence[Tensor[Any]],
    right: Sequence[Tensor[Any]],
) -> Tensor[Any]:
    one, other = [own[0] if len(own) == 1 else _put_together(own) for own in (left, right)]
    if one is other and one.symmetry is not None:
        # For the same tensor twice, more tiles would remain than declared.
        other = one.copy()
    plan: Contraction = restricted(contraction(equation, one.pattern, other.pattern), run, kept)
    made = contract(plan, one, other).astype(dtype)
    made = made.tiled(run.tiling) if made.shape.is_box else made
    return _checked(made, kept, "contract")


def _put_together(parts: Sequence[Tensor[Any]]) -> Tensor[Any]:
    pattern = functools.reduce(lambda one, two: one | two, [own.stored_pattern for own in parts])
    return _joined(parts, pattern, parts[0].dtype, parts[0].fill_value, False, parts[0].symmetry)


def _marks_of(pattern: BlockPattern[Any], most: int) -> IntArray:
    """Return runs of present tiles of at most `most` elements each."""
    marks = Partition.by_volume(pattern.offsets(), most).marks
    return marks if len(marks) > 1 else np.array([0, pattern.count])


def _some(pattern: BlockPattern[Any], start: int, stop: int) -> BlockPattern[Any]:
    found: BlockPattern[Any] = make_block_pattern(pattern.tiling, pattern.ordinals()[start:stop])
    return found


def _tiles(
    pattern: BlockPattern[Any], values: Array, fill: object, symmetry: Symmetry | None = None
) -> Tensor[Any]:
    layout, own = packed_layout(pattern.tiling.shape), np.asarray(fill).astype(values.dtype)
    if symmetry is not None and not symmetry.is_zero:
        return make_tensor(layout, make_symmetric_blocks(pattern, values, symmetry, own))
    return make_tensor(layout, make_blocks(pattern, Dense(cast("Any", values)), own))


def _kept_by(
    ufunc: Callable[..., Any], numbers: "list[Any]", places: list[int], given: "Sequence[DaskBlocks]"
) -> Symmetry | None:
    """Return the symmetry that a ufunc of symmetric collections preserves, with these stored tiles."""
    none = [
        _tiles(_some(own.stored_pattern, 0, 0), np.empty(0, own.dtype), own.fill_value, own.symmetry)
        for own in given
    ]
    kept = _called(ufunc, numbers, places, None, *none).symmetry
    stored, every = given[0].stored_pattern, given[0].pattern
    if (every if kept is None else every.unique(kept)) != stored:
        raise ConversionError(
            f"{_name_of(ufunc)} of tiles with the symmetry {given[0].symmetry} leaves {kept}, which needs "
            "other tiles: t.keep_tiles(t.pattern).to_dask() has all of them"
        )
    return kept


def _name_of(function: Any) -> str:  # noqa: ANN401 - any function
    return getattr(getattr(function, "func", function), "__name__", "the function")


def _checked(made: Tensor[Any], kept: Symmetry | None, name: str) -> Tensor[Any]:
    """Return a part of a collection after checking that it has the declared symmetry."""
    if kept is not None and not kept.is_zero and made.symmetry != kept:
        raise ConversionError(
            f"{name}: elements that are not finite leave the symmetry {made.symmetry}, and not {kept}: "
            "t.keep_tiles(t.pattern).to_dask() has all tiles"
        )
    return made


def _joined(
    parts: Sequence[Tensor[Any]],
    pattern: BlockPattern[Any],
    dtype: "np.dtype[Any]",
    fill: object,
    is_box: bool,  # noqa: FBT001 - Dask gives it
    symmetry: Symmetry | None = None,
) -> Tensor[Any]:
    """Join runs of tiles to one tensor, copying each element once."""
    values: Array = np.concatenate([np.empty(0, dtype), *[own.packed_values() for own in parts]])
    made = _tiles(pattern, values, fill, symmetry)
    return made.untiled() if is_box else made


def _mapped(
    function: "Callable[[Array], npt.ArrayLike]", dtype: "np.dtype[Any]", part: Tensor[Any]
) -> Tensor[Any]:
    pattern: BlockPattern[Any] = part.pattern
    values, offsets, extents = part.packed_values(), pattern.offsets()[:-1], pattern.tile_extents()
    result: Array = np.empty(values.shape, dtype)
    sizes: list[list[int]] = np.unique(extents, axis=0).tolist()
    for own in sizes:
        chosen = np.flatnonzero((extents == own).all(axis=1))
        places = offsets[chosen, None] + np.arange(math.prod(own))
        tiles = values[places].reshape(len(chosen), *own)
        made = unmasked_array(function(tiles))
        if made.shape != tiles.shape:
            raise ExtentMismatchError(
                f"map_tiles: {tiles.shape} elements became {made.shape}: tiles keep their size"
            )
        result[places] = cast_made(made, dtype).reshape(places.shape)
    return _tiles(pattern, result, cast_made(np.asarray(part.fill_value), dtype)[()])


def _norms(ord: NormOrder, part: Tensor[Any]) -> Array:  # noqa: A002
    norms: Array = part.tile_norms(ord).to_numpy().reshape(-1)[part.stored_pattern.ordinals()]
    return norms


def _numbers_of(inputs: Sequence[Any]) -> "list[Any]":
    """Return operands with None for collections."""
    return [None if isinstance(own, DaskBlocks) else own for own in inputs]


def _called(
    function: Callable[..., Any],
    inputs: "list[Any]",
    places: list[int],
    kept: Symmetry | None,
    *parts: Tensor[Any],
) -> Tensor[Any]:
    given = list(inputs)
    for place, part in zip(places, parts, strict=True):
        given[place] = part
    return _checked(cast("Tensor[Any]", function(*given)), kept, _name_of(function))


def _rebuilt(
    graph: Mapping[Any, object],
    name: str,
    pattern: BlockPattern[Any],
    shape: Shape[Any],
    dtype: "np.dtype[Any]",
    marks: IntArray,
    fill: object,
    symmetry: Symmetry | None = None,
    *,
    rename: dict[str, str] | None = None,
) -> DaskBlocks:
    own = (rename or {}).get(name, name)
    return DaskBlocks(layer_of(own, graph), own, pattern, shape, dtype, marks, fill, symmetry)
