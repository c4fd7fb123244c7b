"""`DaskTensor`: a jagged tensor, split into runs of rows, each a Dask task or stored on a worker."""

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import shown_array
from tensorwrapper._error_text import counted
from tensorwrapper._hints import hint
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import ConversionError, ExtentError, ExtentMismatchError, IndexTypeError
from tensorwrapper.interop._operand import TensorLike
from tensorwrapper.interop.dask._along_rows import call_along_rows
from tensorwrapper.interop.dask._collected import Collected
from tensorwrapper.interop.dask._dask_api import (
    array_over,
    compute_all,
    compute_tasks,
    layer_of,
    name_of,
)
from tensorwrapper.interop.dask._pieces import CompletedRead, cut, cuts_of
from tensorwrapper.interop.dask._rows import (
    apply_function,
    join_rows,
    map_cells,
    map_each_row,
    marks_of,
    may_be_null,
    read_rows,
    reduce_cells,
    reduce_each_row,
    reduce_elements,
    reduce_found,
    reduce_rows,
    row_starts,
    sample_element,
    sample_row,
    sample_rows,
    side_of,
)
from tensorwrapper.interop.dask._serialize import introduce
from tensorwrapper.interop.dask._shards import Held, lowered, tasks_over
from tensorwrapper.selection import ReadHandle, View, Wanted, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import (
    DENSE,
    ROW_FUNCTIONS,
    check_beside,
    check_filled,
    is_foreign,
    read_operand,
)
from tensorwrapper.typing import Array, DaskArray, IntArray

if TYPE_CHECKING:
    # The operators of tensors return tensors; here they return collections.
    _Operators: TypeAlias = np.lib.mixins.NDArrayOperatorsMixin
else:
    from tensorwrapper.tensor.lowlevel import Operators as _Operators

_KNOWN: Final = {
    "__call__": {"dtype", "casting"},
    "accumulate": {"axis", "dtype"},
    "reduce": {"axis", "dtype", "initial", "keepdims"},
}
"""Ufunc methods that work part by part, with their options."""

RowFunction: TypeAlias = Callable[[Tensor[Any]], npt.ArrayLike]
TileFunction: TypeAlias = Callable[[Array], npt.ArrayLike]


def rows_of(value: TensorLike, marks: IntArray) -> "DaskTensor":
    """Split a jagged tensor or view into runs of rows, a task each."""
    pairs = list(pairwise(marks.tolist()))
    if isinstance(value, Tensor):
        name = name_of("tensorwrapper", value, marks)
        graph = layer_of(name, {(name, k): value[a:b] for k, (a, b) in enumerate(pairs)})
    else:
        lower, held = lowered(value)
        name = name_of("rechunk-split" if held else "tensorwrapper", value, marks)
        parts = [((name, k), lower[a:b]) for k, (a, b) in enumerate(pairs)]
        if held:
            graph = tasks_over(name, parts, held, as_array=False, pinned=True)
        else:
            graph = layer_of(name, {key: (read_rows, part) for key, part in parts})
    return DaskTensor(graph, name, value.shape, value.dtype, marks, may_be_null(value))


@final
@frozen(eq=False, repr=False)
class DaskTensor(Collected, _Operators):
    """A jagged tensor as a Dask collection of runs of whole rows, created by `to_dask`.

    Part ``k`` has the rows ``marks[k]`` up to ``marks[k + 1]``, and the key ``(name, k)``. NumPy's ufuncs and
    operators work part by part, and so do the methods below. ``as_view(collection)``, and an index, return
    views, which move only the selected elements.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> rows = tw.jagged([[1, 2, 3], [], [5, 6]]).to_dask(max_elements=3)
    >>> rows.chunks, (rows * 10).compute(scheduler="sync").tolist()
    (((2, 1),), [[10, 20, 30], [], [50, 60]])
    >>> rows.reduce_tiles(np.add).compute(scheduler="sync").tolist(), rows[[2, 0]].shape
    ([6, 0, 11], Shape.jagged([2, 3]))
    """

    graph: Any
    """The tasks."""
    name: str
    """Prefix of the keys of the parts."""
    shape: Shape[Any]
    """The indices of all elements."""
    dtype: "np.dtype[Any]"
    """The type of the elements."""
    marks: IntArray
    """First row of each part, counted from 0, and (last) the number of rows."""
    is_nullable: bool = False
    """True if numbers may be nulls."""

    # Properties.

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape.size

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """Number of rows of each part."""
        return (tuple(np.diff(self.marks).tolist()),)

    def __len__(self) -> int:
        return int(self.marks[-1])

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ConversionError(
                f"the truth of {self.size} elements is not one answer: compute() has them all"
            )
        return bool(self.compute())

    def __contains__(self, value: object) -> bool:
        return value in self.compute()

    def __getitem__(self, key: Any) -> View[Any]:  # noqa: ANN401 - what a view takes
        for item in cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,):
            if isinstance(item, DaskTensor):
                raise IndexTypeError(
                    "a collection cannot be a key before it is computed; use `d[(d > 1).compute()]`"
                )
        return as_view(self)[key]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - as NumPy's protocol has it
        if copy is False:
            raise ConversionError("rows of a collection are computed, so that copy=False cannot be kept")
        raise ConversionError(_NO_ARRAY)

    def __repr__(self) -> str:
        return f"<DaskTensor {self.shape!r} {self.dtype} in {counted(len(self.marks) - 1, 'part')}>"

    # Computed.

    def compute(self, **options: object) -> Tensor[Any]:
        """Return all rows as a tensor in this process; the options are those of ``dask.compute``."""
        introduce(options.get("scheduler"))
        return cast("Tensor[Any]", compute_all(self, options))

    def repartition(
        self, *, max_elements: int | None = None, marks: npt.ArrayLike | None = None
    ) -> "DaskTensor":
        """Return the same rows in other parts; only rows that are missing on the new worker of a part move.

        Parameters
        ----------
        max_elements
            How many elements a part may have.
        marks
            Alternatively, the first row of each part, and the number of rows.

        Raises
        ------
        ExtentError
            If the parts are not all rows in order.
        """
        if (max_elements is None) == (marks is None):
            raise ConversionError("repartition takes either max_elements or marks")
        own = marks_of(self.shape, max_elements) if max_elements is not None else np.asarray(marks, np.int64)
        if own.ndim != 1 or own[:1].tolist() != [0] or own[-1] != len(self) or (np.diff(own) < 0).any():
            raise ExtentError(f"marks ascend from 0 to the {len(self)} rows, unlike {own.tolist()[:9]}")
        return rows_of(as_view(self), own)

    # Part by part.

    def map_tiles(
        self,
        function: TileFunction,
        *,
        shape: Shape[Any] | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> "DaskTensor":
        """Apply a function to the tiles: the innermost boxes, or the rows.

        Parameters
        ----------
        function
            Takes an array of the tiles of one size, ``(n, *extents)``, as ``np.linalg.inv`` does, and returns
            one of n new ones, of one size too. It is called once for each size in a part, with a copy.
        shape
            Shape of the result, over as many rows; by default unchanged.
        dtype
            The type of the new elements; as before if not given.
        """
        return self._mapped(map_cells, function, shape, dtype)

    def map_rows(
        self,
        function: RowFunction,
        *,
        shape: Shape[Any] | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> "DaskTensor":
        """Return the results of a function of each row of the outermost mode, which it gets as a tensor.

        As `map_tiles`, but the function is called for each row, which suits few long rows. Rows with nulls
        come as nullable tensors, and the results may have nulls. `map_tiles` refuses them.
        """
        return self._mapped(map_each_row, function, shape, dtype)

    def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> "DaskArray | DaskTensor":
        """Return one number for each tile, as `Tensor.reduce_tiles`: an array of Dask where that is a box."""
        return self._reduced(function, initial)

    def reduce_rows(
        self,
        function: "np.ufunc | RowFunction",
        *,
        initial: object = None,
        dtype: npt.DTypeLike | None = None,
    ) -> "DaskArray":
        """Return one number for each row of the outermost mode, as an array of Dask.

        Parameters
        ----------
        function
            A ufunc that takes elements in any order, or a function from a row, as a tensor, to a number.
        initial
            Takes part in every reduction by a ufunc; needed if a row is empty and it has no identity.
        dtype
            The type of the results of a function; by default that of its result for a row of ones.
            Computing raises `ConversionError` for a result that the type cannot hold.
        """
        if isinstance(function, np.ufunc):
            if dtype is not None:
                raise ConversionError(
                    f"dtype= is for functions; the operands determine the type of np.{function.__name__}"
                )
            name = f"{function.__name__}.reduce"
            axis = tuple(range(1, self.shape.rank))
            return cast("DaskArray", self._reduced_along(function, name, axis, initial=initial))
        if dtype is None:
            dtype = shown_array(function(sample_row(self.shape, self.dtype))).dtype
        wanted = to_dtype(dtype)
        # Texts of other rows may be longer.
        wanted = np.dtypes.StringDType() if wanted.kind == "U" else wanted
        name = name_of("rows", self.name, function, wanted)
        call = functools.partial(reduce_each_row, function, wanted)
        tasks = {(name, k): (call, key) for k, key in self._keys()}
        return array_over(layer_of(name, tasks, [self]), name, self.chunks, wanted)

    def reduce(self, ufunc: np.ufunc, *, initial: object = None) -> "DaskArray":
        """Return the reduction of all elements by a ufunc in any order: a Dask array of rank 0.

        Raises
        ------
        LayoutError
            If the result depends on the order of the elements.
        ExtentError
            If there is none, and the ufunc has no identity.
        """
        given: dict[str, Any] = {} if initial is None else {"initial": initial}
        dtype = ufunc.reduce(sample_rows(self.shape, self.dtype), axis=None, **given).dtype
        name = name_of("reduced", self.name, ufunc, initial)
        tasks: dict[Any, Any] = {
            (f"part-{name}", k): (functools.partial(reduce_elements, ufunc), key) for k, key in self._keys()
        }
        tasks[name,] = (functools.partial(reduce_found, ufunc, initial, dtype), list(tasks))
        return array_over(layer_of(name, tasks, [self]), name, (), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if any(_is_of_others(own) for own in inputs):
            return NotImplemented
        unknown = set(options) - _KNOWN.get(method, set())
        if method not in _KNOWN or unknown or ufunc.nout != 1 or ufunc.signature is not None:
            what = f" with {', '.join(sorted(unknown))}=" if unknown else ""
            raise ConversionError(f"{name} of a collection{what} is not known: compute() has all its rows")
        if method == "__call__":
            return self._call(functools.partial(ufunc, **options), name, inputs, (ufunc, options))
        if method == "accumulate":
            return self._call(functools.partial(ufunc.accumulate, **options), name, inputs, (ufunc, options))
        return self._reduced_along(ufunc, name, **options)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Sequence[type],
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
    ) -> Any:  # noqa: ANN401
        if function is np.where and len(arguments) == 3 and not options:
            return self._call(np.where, "where", arguments, np.where)
        if function in (np.ndim, np.shape, np.size):
            raise ConversionError(_NO_ARRAY)
        if function.__name__ in ROW_FUNCTIONS and arguments and arguments[0] is self:
            return call_along_rows(self, function, arguments, options)
        raise ConversionError(
            f"np.{function.__name__} of a collection is not known: compute() has all its rows, and "
            "map_rows() works row by row"
        )

    def _call(
        self, function: Callable[..., Any], name: str, inputs: Sequence[Any], token: object
    ) -> "DaskTensor":
        """Return the results of a function of NumPy for the elements of operands that fit, part by part."""
        inputs = [as_view(own) if _is_array(own) else own for own in inputs]
        operands: list[Any] = [own if type(own) in _OURS else read_operand(own, name) for own in inputs]
        shapes = [own.shape if type(own) in _OURS else np.shape(own) for own in operands]
        shape, modes = OperandShapes.fit(shapes, name)
        if any(type(own) in (Tensor, View) and own.shape.rank and own.is_sparse for own in operands):
            # Its own rows are dense.
            check_beside(name, (), [DENSE])
        shared = modes or [shape.rank] * len(operands)
        numbers = [
            None if count else read_operand(own, name) if type(own) in (Tensor, View) else own
            for own, count in zip(operands, shared, strict=True)
        ]
        whole = [
            self._beside(own, shape, count) for own, count in zip(operands, shared, strict=True) if count
        ]
        dtypes = iter([part.dtype for part in whole])
        with np.errstate(all="ignore"):
            # Call it locally on one element of each operand, to find the result dtype or the error.
            sample = function(*[sample_element(next(dtypes)) if own is None else own for own in numbers])
        label = name_of(name, token, [part.name for part in whole], numbers)
        call = functools.partial(apply_function, function, numbers)
        tasks = {(label, k): (call, *[(part.name, k) for part in whole]) for k, _ in self._keys()}
        graph = layer_of(label, tasks, whole)
        may_be = any(part.is_nullable for part in whole) or any(map(may_be_null, numbers))
        return DaskTensor(graph, label, shape, sample.dtype, self.marks, may_be)

    def _beside(self, other: Any, shape: Shape[Any], modes: int) -> "DaskTensor":  # noqa: ANN401 - an operand
        """Return an operand with the given modes of a shape, in parts of the same rows."""
        if modes < shape.rank:
            numbers: View[Any] = as_view(other)
            other = numbers.broadcast(shape)
        elif type(other) is np.ndarray:
            other = as_view(other)
        if type(other) is not DaskTensor:
            return rows_of(other, self.marks)
        return other if np.array_equal(other.marks, self.marks) else other.repartition(marks=self.marks)

    def _reduced_along(
        self, ufunc: np.ufunc, name: str, axis: object = 0, **options: object
    ) -> "DaskArray | DaskTensor":
        """Return one number for each prefix, by the local reduction of each part."""
        reduce: Any = ufunc.reduce
        call = functools.partial(reduce, axis=axis, **options)
        sample = call(sample_rows(self.shape, self.dtype))
        if not sample.shape.rank:
            if options.pop("dtype", None) is not None or options.pop("keepdims", False):
                raise ConversionError(
                    f"{name} of all elements of a collection takes axis= and initial= alone"
                )
            return self.reduce(ufunc, **cast("Any", options))
        self._check_filled(ufunc, sample.shape.rank, options.get("initial"), "row")
        label = name_of(name, self.name, ufunc, axis, options)
        tasks = {(label, k): (functools.partial(reduce_rows, call), key) for k, key in self._keys()}
        return self.of_parts(label, tasks, self.shape.leading(sample.shape.rank), sample.dtype)

    def of_parts(
        self, name: str, tasks: Mapping[Any, object], outer: Shape[Any], dtype: "np.dtype[Any]"
    ) -> "DaskArray | DaskTensor":
        """Return a collection of the results of tasks on the parts of this one."""
        graph = layer_of(name, tasks, [self])
        if outer.rank == 1:
            return array_over(graph, name, self.chunks, dtype)
        if outer.is_box:
            rest = tuple([(extent,) for extent in outer.extents[1:]])
            return array_over(graph, name, (*self.chunks, *rest), dtype)
        return DaskTensor(graph, name, outer, dtype, self.marks)

    def _keys(self) -> "list[tuple[int, tuple[str, int]]]":
        return [(k, (self.name, k)) for k in range(len(self.marks) - 1)]

    def _mapped(
        self,
        how: Callable[..., object],
        function: object,
        shape: Shape[Any] | None,
        dtype: npt.DTypeLike | None,
    ) -> "DaskTensor":
        whole = self.shape if shape is None else shape
        made = self.dtype if dtype is None else to_dtype(dtype)
        if whole.is_box or whole.extent_at(()) != len(self):
            raise ExtentMismatchError(f"{whole!r} has not the {len(self)} rows of {self.shape!r}")
        name = name_of("mapped", self.name, how.__name__, function, whole, made)
        first = whole.origin_at(())
        ends = (self.marks + first).tolist()
        targets = [whole[a:b] for a, b in pairwise(ends)]
        tasks = {
            (name, k): (functools.partial(how, function, _at_zero(target), made), key)
            for (k, key), target in zip(self._keys(), targets, strict=True)
        }
        may_be = self.is_nullable and how is map_each_row
        return DaskTensor(layer_of(name, tasks, [self]), name, whole, made, self.marks, may_be)

    def _check_filled(self, ufunc: np.ufunc, modes: int, initial: object, what: str) -> None:
        """Raise if a reduction without identity is empty; a part does not know its position."""
        if initial is None:
            check_filled(ufunc, [np.diff(OperandShapes.splits_under(self.shape, modes)) > 0], what)

    def _reduced(self, function: Any, initial: object) -> "DaskArray | DaskTensor":  # noqa: ANN401
        name = name_of("tiles", self.name, function, initial)
        if isinstance(function, np.ufunc):
            given: dict[str, Any] = {} if initial is None else {"initial": initial}
            dtype = function.reduce(sample_rows(self.shape, self.dtype), axis=-1, **given).dtype
            self._check_filled(function, self.shape.outer_rank, initial, "tile")
        else:
            rank = self.shape.rank - self.shape.outer_rank
            ones = np.ones((1,) * (rank + 1), self.dtype)
            dtype = np.asarray(function(ones, axis=tuple(range(1, rank + 1)))).dtype
        held = None if isinstance(function, np.ufunc) else dtype
        call = functools.partial(reduce_cells, function, initial, held)
        tasks = {(name, k): (call, key) for k, key in self._keys()}
        return self.of_parts(name, tasks, self.shape.leading(self.shape.outer_rank), dtype)

    def as_source(self) -> "RowSource":
        """Return the source of views."""
        return RowSource(self)

    def _side(self, side: Literal["values", "valid"]) -> "DaskTensor":
        """Return the values or the validity of nullable elements."""
        name = name_of(side, self.name)
        tasks = {(name, k): (functools.partial(side_of, side), key) for k, key in self._keys()}
        dtype = np.dtype(np.bool_) if side == "valid" else self.dtype
        return DaskTensor(layer_of(name, tasks, [self]), name, self.shape, dtype, self.marks)

    # The protocol of Dask's collections.

    def __dask_postcompute__(self) -> tuple[Callable[..., Tensor[Any]], tuple[object, ...]]:
        return join_rows, (self.shape, self.dtype)

    def __dask_postpersist__(self) -> "tuple[Callable[..., DaskTensor], tuple[object, ...]]":
        return _rebuilt, (self.name, self.shape, self.dtype, self.marks, self.is_nullable)


@final
@frozen(eq=False)
class RowSource:
    """A collection of rows as a source of views; equal if the parts have the same name."""

    rows: DaskTensor

    @property
    def shape(self) -> Shape[Any]:
        """The indices of all rows."""
        return self.rows.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.rows.dtype

    @property
    def sides(self) -> "tuple[RowSource, RowSource] | None":
        """Sources of the values and of the validity; None if not nullable."""
        rows = self.rows
        return (RowSource(rows._side("values")), RowSource(rows._side("valid"))) if rows.is_nullable else None

    @property
    def held(self) -> Held:
        """Starts of the parts, and their keys; O(cells)."""
        rows = self.rows
        return Held(rows, rows.name, (row_starts(rows.shape)[rows.marks],), rows.shape, rows.dtype)

    @property
    def version(self) -> str:
        """Version of the source; empty, because results of tasks do not change."""
        return ""

    @property
    def abilities(self) -> frozenset[Any]:
        """Runs of elements."""
        return frozenset(("runs",))

    def cost(self, selection: Wanted) -> int:
        """Return the size of the elements in bytes."""
        return selection.size * self.dtype.itemsize

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Compute selections part by part with Dask's configured scheduler."""
        name, held = name_of("read", self, list(selections)), self.held
        tasks, targets = dict[Any, Any](), list[Array]()
        for selection, target in zip(selections, out, strict=True):
            for piece in cuts_of(selection, held.marks):
                tasks[name, len(tasks)] = (cut, held.key(piece), piece.local)
                targets.append(target[piece.place])
        found = compute_tasks(layer_of(name, tasks, [self.rows]), list(tasks), None)
        for target, own in zip(targets, found, strict=True):
            write_elements(target, own)
        return CompletedRead(len(selections))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowSource) and self.rows.name == other.rows.name

    def __hash__(self) -> int:
        return hash(self.rows.name)

    def __dask_tokenize__(self) -> object:
        return "tensorwrapper.RowSource", self.rows.name


def _rebuilt(
    graph: Mapping[Any, object],
    name: str,
    shape: Shape[Any],
    dtype: "np.dtype[Any]",
    marks: IntArray,
    is_nullable: bool = False,  # noqa: FBT001, FBT002 - as Dask hands it over
    *,
    rename: dict[str, str] | None = None,
) -> DaskTensor:
    own = (rename or {}).get(name, name)
    return DaskTensor(layer_of(own, graph), own, shape, dtype, marks, is_nullable)


def _at_zero(shape: Shape[Any]) -> Shape[Any]:
    """Return the rows of a part with origin zero, as for slices of tensors."""
    return shape.translate_by((-shape.origin_at(()), *[0] * (shape.rank - 1)))


_NO_ARRAY: Final = (
    "a collection of rows is not an array: `d.compute()` has them as a tensor, and `d.compute().to_padded()` "
    "is a box"
)


def _is_of_others(value: object) -> bool:
    """Return True if an operand is a foreign collection, which is not computed here."""
    lazy = hasattr(value, "__dask_graph__")
    return type(value) is not DaskTensor and (is_foreign(value) or lazy) and not _is_array(value)


def _is_array(value: Any) -> bool:  # noqa: ANN401 - anything
    """Return True for an array of Dask, such as the reduction of a collection."""
    return type(value).__module__.startswith("dask.array") and hasattr(value, "chunks")


_OURS: Final = (DaskTensor, Tensor, View)
"""Types that are transferred only when a part is computed."""

hint(DaskTensor, "DaskTensor")
