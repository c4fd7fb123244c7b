"""The contract of sources: guarantees for views of any source."""

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from types import EllipsisType
from typing import Any, cast

import numpy as np

from tensorwrapper.selection import Outer, Runs, Source, Wanted, WritableSource, as_view, concat
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array


class SourceContract(ABC):
    """Abstract: `source`, one source with a few elements, and `expected`, its elements.

    Derive a class that pytest collects; every method is one law. A law that cannot hold is switched off by
    name: ``test_... = None``. The ``abilities`` that a source declares are tested as well.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> class TestTensor(SourceContract):
    ...     def source(self):
    ...         return sel.TensorSource(tw.as_tensor(np.arange(12.0).reshape(3, 4)))
    ...     def expected(self):
    ...         return np.arange(12.0).reshape(3, 4)
    >>> TestTensor().test_all_that_is_wanted_arrives_once()
    """

    __slots__ = ()

    @abstractmethod
    def source(self) -> Source:
        """Return the source, or an equal one, each time."""

    @abstractmethod
    def expected(self) -> "Tensor[Any] | Array":
        """Return all elements: an array, or a tensor of the shape."""

    def test_it_says_what_it_is(self) -> None:
        """Test that shape, dtype, version and abilities have the declared types and do not change."""
        source, tensor = self.source(), self._tensor()
        assert source.shape.same_elements(tensor.shape) or source.shape.is_congruent(tensor.shape)
        assert source.dtype == tensor.dtype
        assert isinstance(source.version, str)
        assert source.version == source.version
        assert self._abilities() <= {"runs", "threads", "write", "atomic", "casts"}
        assert source.shape.is_box or "runs" in self._abilities()
        assert source == source  # noqa: PLR0124 - and hashed: sources are keys
        assert hash(source) == hash(source)

    def test_a_view_of_it_reads_nothing(self) -> None:
        """Test that ``as_view`` of the source has its shape and dtype, without reading."""
        source = self.source()
        view = as_view(source)
        assert view.shape == source.shape
        assert view.dtype == source.dtype
        assert view.plan().bytes_read == source.shape.size * source.dtype.itemsize

    def test_all_that_is_wanted_arrives_once(self) -> None:
        """Test one request of many selections; each is complete once its number is yielded, in any order."""
        source = self.source()
        wanted = self._wanted()
        out: list[Array] = [np.empty(own.extents, source.dtype) for own in wanted]
        arrived: list[int] = []
        for number in source.read(wanted, out).completed():
            if number is not None:
                _agree(out[number], self._part(wanted[number]))
                arrived.append(number)
        assert sorted(arrived) == list(range(len(wanted)))

    def test_targets_have_any_strides(self) -> None:
        """Test targets that are parts of arrays, reversed or permuted."""
        source = self.source()
        for own in self._wanted():
            if not own.size:
                continue
            large: Array = np.zeros([2 * n + 1 for n in own.extents[::-1]], source.dtype)
            odd: tuple[slice | EllipsisType, ...] = (*[slice(1, None, 2)] * large.ndim, ...)
            back: tuple[slice | EllipsisType, ...] = (*[slice(None, None, -1)] * large.ndim, ...)
            target = large[odd].T[back]
            before = large.copy()
            for _ in source.read([own], [target]).completed():
                pass
            _agree(target, self._part(own))
            target[...] = np.zeros((), source.dtype)
            assert (large == before).all()

    def test_costs_are_the_same_each_time(self) -> None:
        """Test that ``cost`` is repeatable and never negative, and reads at least one element if any."""
        source = self.source()
        version = source.version
        for own in self._wanted():
            cost = source.cost(own)
            assert cost == source.cost(own)
            assert cost >= 0
            assert not own.size or cost >= source.dtype.itemsize
        assert source.version == version

    def test_reading_changes_no_version(self) -> None:
        """Test that reading twice gives equal elements, of one version."""
        source = self.source()
        version = source.version
        first, second = as_view(source).compute(), as_view(source).compute()
        assert first.tolist() == second.tolist()
        assert source.version == version

    def test_a_read_that_is_cancelled_ends(self) -> None:
        """Test that ``cancel`` may be called early and twice, and that the source stays readable."""
        source = self.source()
        wanted = self._wanted()
        handle = source.read(wanted, [np.empty(own.extents, source.dtype) for own in wanted])
        handle.cancel()
        handle.cancel()
        _agree(as_view(source).compute().elements(), self._flat())

    def test_views_of_it_are_views_of_the_tensor(self) -> None:
        """Test that slices, reordered rows, and joined views have the elements of those of a tensor."""
        source, tensor = self.source(), as_view(self._tensor())[...]
        view = as_view(source)[...]
        if not view.rank:
            return
        for key in (slice(None, None, -1), slice(1, None, 2), slice(0, 0), [0, -1, 0]):
            if isinstance(key, list) and not source.shape.extent(0):
                continue
            assert view[key].compute().tolist() == tensor[key].compute().tolist()
        joined, wanted = (concat([own[1:], own, own[::-1]]) for own in (view, tensor))
        assert joined.compute().tolist() == wanted.compute().tolist()

    def test_threads_read_it_at_once(self) -> None:
        """Test reads in four threads at a time, if the source declares them."""
        if "threads" not in self._abilities():
            return
        source, flat = self.source(), self._flat()
        with ThreadPoolExecutor(4) as pool:
            for found in [pool.submit(as_view(source).compute) for _ in range(8)]:
                _agree(found.result().elements(), flat)

    def test_elements_are_cast_where_they_are(self) -> None:
        """Test that elements read into a narrower dtype are cast as a tensor casts them."""
        if "casts" not in self._abilities() or self.source().dtype.itemsize < 2:
            return
        for dtype in ("f4", "i2", "i1"):
            try:
                expected = self._tensor().astype(dtype)
            except (OverflowError, TypeError):
                continue
            cast_view = as_view(self.source()).astype(dtype)
            assert cast_view.compute().array_equal(expected, equal_nan=True)

    def test_what_is_written_is_read(self) -> None:
        """Test that selections are written, and nothing else, if the source declares writes."""
        if "write" not in self._abilities():
            return
        source = cast("WritableSource", self.source())
        flat = self._flat().copy()
        for own in self._wanted():
            places = self._places(own)
            values = flat[places][..., ::-1].copy() if own.extents else flat[places]
            source.write([own], [values])
            flat[places] = values
            _agree(as_view(source).compute().elements(), flat)

    # Selections, and their elements.

    def _tensor(self) -> Tensor[Any]:
        return as_tensor(self.expected())

    def _flat(self) -> Array:
        return self._tensor().elements()

    def _abilities(self) -> frozenset[str]:
        return getattr(self.source(), "abilities", frozenset[str]())

    def _wanted(self) -> list[Wanted]:
        shape = self.source().shape
        found: list[Wanted] = []
        if shape.is_box:
            extents = shape.extents
            found += [
                Outer([range(n) for n in extents]),
                Outer([range(0, n, 2) for n in extents]),
                Outer([range(n // 2, n) for n in extents]),
                Outer([[k for k in range(n) if k % 4 != 1] for n in extents]),
                Outer([range(max(n - 1, 0), n) for n in extents]),
                Outer([range(0) for _ in extents]),
            ]
        if not shape.is_box or "runs" in self._abilities():
            size = shape.size
            found += [
                Runs(0, size),
                Runs(range(0, size, 3)),
                Runs([k for k in range(size) if k % 5 in {0, 1, 3}]),
                Runs([], []),
            ]
        return found

    def _places(self, own: Wanted) -> Any:  # noqa: ANN401 - an array of integers
        """Return the row-major ordinals of a selection, as an array of its extents."""
        if isinstance(own, Runs):
            return own.numbers()
        shape = self.source().shape
        if not shape.rank:
            return np.zeros((), dtype=np.int64)
        grid = np.ix_(*[np.asarray(mode, dtype=np.int64) for mode in own.modes])
        return np.ravel_multi_index(np.broadcast_arrays(*grid), shape.extents) if own.size else _none(own)

    def _part(self, own: Wanted) -> Array:
        return np.asarray(self._flat()[self._places(own)])


def _none(own: Wanted) -> Any:  # noqa: ANN401 - an array of integers
    return np.empty(own.extents, dtype=np.int64)


def _agree(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    same = (found == wanted) | ((found != found) & (wanted != wanted))  # noqa: PLR0124 - not-a-number
    assert same.all(), (found.tolist(), wanted.tolist())
