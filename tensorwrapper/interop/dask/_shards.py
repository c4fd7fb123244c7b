"""Views over chunks on workers: selections run on the workers, and only pieces move."""

import io
import itertools
import pickle
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.interop.dask._dask_api import compute_tasks, current_client, layer_of, name_of, places_of
from tensorwrapper.interop.dask._pieces import Cut, Placed, Recipe, cut, cuts_of, put_together
from tensorwrapper.selection import ArraySource, View, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import IntArray

Key: TypeAlias = tuple[Any, ...]


@final
@frozen(eq=False)
class Held:
    """Chunks of a source in Dask: their boundaries and their keys."""

    collection: Any
    name: str
    marks: tuple[IntArray, ...]
    shape: Shape[Any]
    dtype: "np.dtype[Any]"

    def key(self, chunk: Cut) -> Key:
        """Return the key of the chunk that a piece is of."""
        return (self.name, *chunk.chunk)


@final
@frozen
class Moves:
    """Transfers of a plan between workers.

    Attributes
    ----------
    nbytes
        The bytes of the pieces that are needed where they are not: less is not possible.
    total
        The bytes of all pieces.
    homes
        Worker that assembles each part; None if the chunks have no workers yet.
    """

    nbytes: int
    total: int
    homes: tuple[str | None, ...]


def held_by(source: object) -> Held | None:
    """Return the chunks of a source in Dask; None for another source."""
    own = getattr(source, "held", None)
    if isinstance(own, Held):
        return own
    if not isinstance(source, ArraySource):
        return None
    array: Any = source.array
    if not type(array).__module__.startswith("dask.array"):
        return None
    marks = tuple([np.cumsum((0, *sizes), dtype=np.int64) for sizes in array.chunks])
    return Held(array, array.name, marks, source.shape, source.dtype)


def lowered(view: View[Any]) -> tuple[View[Any], tuple[Held, ...]]:
    """Return a view with a `Placed` source in place of each source in Dask, and the chunks of these.

    A pickle has each source once, and everything else unchanged, including sources in memory.
    """
    held: list[Held] = []
    numbers: dict[str, int] = {}
    nullable: dict[int, bool] = {}

    class Out(pickle.Pickler):
        def persistent_id(self, value: object) -> int | None:
            own = held_by(value)
            if own is None:
                return None
            number = numbers.setdefault(own.name, len(held))
            if number == len(held):
                sides: Any = getattr(value, "sides", None)
                held.extend([own] if sides is None else [side for side in map(held_by, sides) if side])
                nullable[number] = sides is not None
            return number

    class In(pickle.Unpickler):
        def persistent_load(self, number: int) -> Placed:
            return Placed(number, held[number].shape, held[number].dtype, nullable[number])

    if not any(held_by(own) is not None for own in view.plan().away):
        return view, ()
    out, buffers = io.BytesIO(), list[pickle.PickleBuffer]()
    Out(out, 5, buffer_callback=buffers.append).dump(view)
    out.seek(0)
    return In(out, buffers=buffers).load(), tuple(held)


@final
@frozen(eq=False)
class _Part:
    """A part of the result: its reads, and their chunks."""

    view: View[Any]
    wanted: tuple[tuple[int, Wanted], ...]
    cuts: tuple[tuple[int, Held, Cut], ...]

    @classmethod
    def of(cls, view: View[Any], held: Sequence[Held]) -> "_Part":
        wanted: list[tuple[int, Wanted]] = []
        cuts: list[tuple[int, Held, Cut]] = []
        for read in view.plan().reads:
            source = read.source
            if not isinstance(source, Placed):
                continue
            own = held[source.number]
            for selection in read.selections:
                cuts.extend([(len(wanted), own, piece) for piece in cuts_of(selection, own.marks)])
                wanted.append((source.number, selection))
        return cls(view, tuple(wanted), tuple(cuts))

    def weights(self, places: Mapping[Key, Sequence[str]]) -> "Counter[str]":
        """Return how many of the needed bytes each worker has."""
        found: Counter[str] = Counter()
        for _, own, piece in self.cuts:
            for worker in places.get(own.key(piece), ()):
                found[worker] += piece.size * own.dtype.itemsize
        return found


def _homes(parts: Sequence[_Part], places: Mapping[Key, Sequence[str]]) -> list[str | None]:
    """Return for each part the worker that has most of it; of equal ones that with least to do so far."""
    homes: list[str | None] = []
    load: Counter[str] = Counter()
    for part in parts:
        weights = part.weights(places)
        home = min(weights, key=lambda own: (-weights[own], load[own], own)) if weights else None
        if home is not None:
            load[home] += part.view.nbytes
        homes.append(home)
    return homes


def _places(held: Iterable[Held]) -> dict[Key, list[str]]:
    client = current_client()
    if client is None:
        return {}
    keys = [
        (own.name, *number)
        for own in held
        for number in itertools.product(*[range(len(marks) - 1) for marks in own.marks])
    ]
    return places_of(client, keys)


def moves_of(views: Sequence[View[Any]], held: Sequence[Held]) -> Moves:
    """Return the transfers between workers for parts of a view that `lowered` returned."""
    places = _places(held)
    parts = [_Part.of(view, held) for view in views]
    homes = _homes(parts, places)
    sizes = [
        (piece.size * own.dtype.itemsize, places.get(own.key(piece), ()), home)
        for part, home in zip(parts, homes, strict=True)
        for _, own, piece in part.cuts
    ]
    moved = sum([size for size, where, home in sizes if home not in where])
    return Moves(moved, sum([size for size, _, _ in sizes]), tuple(homes))


def tasks_over(
    name: str, parts: Sequence[tuple[Key, View[Any]]], held: Sequence[Held], *, as_array: bool, pinned: bool
) -> Any:  # noqa: ANN401 - a graph
    """Return the graph of parts of a view that `lowered` gave, under their keys.

    The workers of chunks are looked up now. A part is assembled where most of it is, and pieces are cut on
    the workers of their chunks. Without a cluster whole chunks are passed on; so they are, unless `pinned`,
    within a cluster: only a graph that runs without optimization may be pinned.
    """
    places, alone = _places(held), current_client() is None
    made = [_Part.of(view, held) for _, view in parts]
    homes = _homes(made, places)
    tasks: dict[Any, object] = {}
    # The scheduler treats keys with this prefix as fast tasks, and does not move them to another worker.
    apart_name = name_of("rechunk-split", name)
    cuts: dict[Any, object] = {}
    where: dict[Any, list[str]] = {}
    for (key, _), part, home in zip(parts, made, homes, strict=True):
        uses: list[tuple[int, tuple[slice, ...], Wanted | None]] = []
        keys: list[Any] = []
        for which, own, piece in part.cuts:
            chunk = own.key(piece)
            here = places.get(chunk, ())
            if alone or (pinned and home in here):
                uses.append((which, piece.place, piece.local))
                keys.append(chunk)
                continue
            apart = (apart_name, len(cuts))
            cuts[apart] = (cut, chunk, piece.local)
            if here:
                where[apart] = [here[0]]
            uses.append((which, piece.place, None))
            keys.append(apart)
        tasks[key] = (put_together, Recipe(part.view, part.wanted, tuple(uses), as_array), keys)
        if home is not None:
            where[key] = [home]
    collections = [own.collection for own in held]
    graph = layer_of(apart_name, cuts, collections, where)
    return layer_of(name, tasks, [*collections, (graph, [apart_name])], where)


def compute_over(view: View[Any], scheduler: object) -> Tensor[Any]:
    """Return a view computed by a scheduler of Dask: pieces are cut where the chunks are, and meet here."""
    lower, held = lowered(view)
    if not held:
        return view.compute()
    part = _Part.of(lower, held)
    name = name_of("pieces", view)
    tasks = {
        (name, number): (cut, own.key(piece), piece.local) for number, (_, own, piece) in enumerate(part.cuts)
    }
    places = _places(held)
    where = {
        (name, number): list(places[own.key(piece)])
        for number, (_, own, piece) in enumerate(part.cuts)
        if own.key(piece) in places
    }
    graph = layer_of(name, tasks, [own.collection for own in held], where)
    found = compute_tasks(graph, list(tasks), scheduler)
    uses = tuple([(which, piece.place, None) for which, _, piece in part.cuts])
    return as_tensor(put_together(Recipe(part.view, part.wanted, uses, as_array=False), found))
