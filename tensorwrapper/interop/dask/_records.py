"""`DaskRecords`: records, split into runs of rows, each a Dask task for all fields."""

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex, cast, final

from tensorwrapper._error_text import counted
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.fields import Records
from tensorwrapper.interop.dask._collected import Collected
from tensorwrapper.interop.dask._dask_api import (
    chunk_bytes,
    compute_all,
    layer_of,
    name_of,
)
from tensorwrapper.interop.dask._serialize import introduce
from tensorwrapper.selection import concat
from tensorwrapper.shape import Partition
from tensorwrapper.shape.lowlevel import OperandShapes


def records_to_dask(records: Records, *, max_elements: SupportsIndex | None = None) -> "DaskRecords":
    """Return records as a Dask collection of runs of whole rows, without reading or copying.

    Parameters
    ----------
    records
        Tensors, whose memory is shared, or views, of which a run of rows is read when it is computed.
    max_elements
        How many indices of the shape a run has at most; if not given, as many as Dask's configuration allows
        bytes for. A row that has more is a run by itself.

    Raises
    ------
    ConversionError
        If the records have rank 0.
    ModuleNotFoundError
        If Dask is not installed.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> tw.interop.records_to_dask(e, max_elements=3)
    <DaskRecords in 2 parts>
    """
    if not records.rank:
        raise ConversionError("a collection of Dask has rows, and records of rank 0 are one")
    if max_elements is None:
        most = max(chunk_bytes() * max(records.size, 1) // max(records.nbytes, 1), 1)
    else:
        most = to_int(max_elements, "a number of elements")
    marks = Partition.by_volume(OperandShapes.splits_under(records.shape, 1), most).marks.tolist()
    pairs = list(pairwise(marks)) or [(0, 0)]
    name = name_of("tensorwrapper", records, pairs)
    graph = layer_of(name, {(name, k): (_read, records[a:b]) for k, (a, b) in enumerate(pairs)})
    return DaskRecords(graph, name, len(pairs))


def _read(records: Records) -> Records:
    return records.compute()


def _joined(parts: Sequence[Records]) -> Records:
    return parts[0] if len(parts) == 1 else concat(parts).compute()


def _applied(function: Callable[[Records], object], part: Records) -> Records:
    made = function(part)
    if not isinstance(made, Records):
        raise ConversionError(f"map_partitions makes records of records, not a {type(made).__name__}")
    return made.compute()


@final
@frozen(eq=False, repr=False)
class DaskRecords(Collected):
    """Records as a Dask collection of runs of whole rows, created by `Records.to_dask`.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> parts = e.to_dask(max_elements=3).map_partitions(lambda r: r[r["t"] > 4])
    >>> parts.compute(scheduler="sync").to_dict()
    {'t': [[5, 7], [], [9]], 'run': [10, 20, 30]}
    """

    graph: Any
    """The tasks."""
    name: str
    """Prefix of the keys of the parts."""
    n_parts: int
    """Number of parts."""

    def __repr__(self) -> str:
        return f"<DaskRecords in {counted(self.n_parts, 'part')}>"

    def compute(self, **options: object) -> Records:
        """Return all rows as records in this process; the options are those of ``dask.compute``."""
        introduce(options.get("scheduler"))
        return cast("Records", compute_all(self, options))

    def map_partitions(
        self, function: Callable[..., Records], *arguments: object, **options: object
    ) -> "DaskRecords":
        """Return the results of a function of the records of each part, a task for each.

        Raises
        ------
        ConversionError
            If the function does not return records; raised when computed.
        """
        name = name_of("mapped", self.name, function, arguments, options)
        call = functools.partial(_applied, functools.partial(_called, function, arguments, options))
        tasks = {(name, k): (call, (self.name, k)) for k in range(self.n_parts)}
        return DaskRecords(layer_of(name, tasks, [self]), name, self.n_parts)

    # The protocol of Dask's collections.

    def _keys(self) -> list[tuple[int, tuple[str, int]]]:
        return [(k, (self.name, k)) for k in range(self.n_parts)]

    def __dask_postcompute__(self) -> tuple[Callable[..., Records], tuple[()]]:
        return _joined, ()

    def __dask_postpersist__(self) -> "tuple[Callable[..., DaskRecords], tuple[str, int]]":
        return _rebuilt, (self.name, self.n_parts)


def _called(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    options: Mapping[str, object],
    part: Records,
) -> object:
    return function(part, *arguments, **options)


def _rebuilt(
    graph: Mapping[Any, object], name: str, count: int, *, rename: dict[str, str] | None = None
) -> DaskRecords:
    own = (rename or {}).get(name, name)
    return DaskRecords(layer_of(own, graph), own, count)
