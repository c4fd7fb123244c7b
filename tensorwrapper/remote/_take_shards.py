"""`take_shards`: copy the parts that a plan assigns to a server, and serve them under a new name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from tensorwrapper._integers import to_ints
from tensorwrapper.errors import ExtentMismatchError, OutOfBoundsError, TensorNameError
from tensorwrapper.remote._server import Server
from tensorwrapper.remote._sharded_remote import connect_shards
from tensorwrapper.remote.client._pending_request import IDLE
from tensorwrapper.remote.shards._catalogue import Catalogue
from tensorwrapper.remote.shards._reshard import ReshardPlan
from tensorwrapper.remote.shards._sharding import Holder, HolderLike, Sharding
from tensorwrapper.remote.shards._tensor import ShardedTensor
from tensorwrapper.selection import View, as_view, concat
from tensorwrapper.transport import KeyPair
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import ViewLike


def take_shards(
    server: Server,
    plan: ReshardPlan,
    name: str,
    new_name: str,
    tiles: Iterable[SupportsIndex] | None = None,
    *,
    holder: HolderLike | None = None,
    keys: KeyPair | None = None,
    timeout: float = 5.0,
    deadline: float | None = None,
    idle: float | None = IDLE,
) -> int:
    """Copy the parts that a plan assigns to a server in this process, serve them, and return the bytes read.

    Each new part is assembled from old parts on this server, including replicas, and from parts of other
    holders. Each element is read once. In addition to the served parts, only one part at a time is in memory.
    Calls may be repeated. So a task scheduler such as Dask can execute a plan, with a task per holder, or per
    few tiles of a holder, on the machine of its server. `docs/guide/remote-shards.md` has an example.

    Parameters
    ----------
    server
        The server of one of the new holders.
    plan
        The plan of the transfers.
    name
        Name of the existing tensor.
    new_name
        Name of the new parts. It must differ, because the old parts are read meanwhile.
    tiles
        Numbers of new tiles; by default all that the plan assigns to the holder.
    holder
        The holder of this server, if the plan uses another address for it.
    keys, timeout, deadline, idle
        As in `connect_shards`.

    Raises
    ------
    ConversionError
        If the server is not a holder of the plan.
    TensorNameError
        If the two names are equal.
    OutOfBoundsError
        If the plan does not assign one of the tiles to the holder.
    ShardsLostError
        If no holder has some of the old parts. New parts created before are served.
    ExtentMismatchError
        If row lengths contradict the new sharding.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> from tensorwrapper.remote import Catalogue, Sharding, connect_shards, reshard_plan
    >>> x = np.arange(24).reshape(4, 6)
    >>> with tw.serve({"x/0.0": x[:1]}) as a, tw.serve({"x/1.0": x[1:]}) as b:
    ...     old = Sharding(tw.Tiling([1, 3], [6]), x.dtype, [a.address, b.address])
    ...     plan = reshard_plan(old, Sharding(tw.Tiling([4], [2, 4]), x.dtype, [a.address, b.address]))
    ...     plan.moved, [take_shards(server, plan, "x", "y") for server in (a, b)]
    ...     with connect_shards(Catalogue({"y": plan.new})) as shards:
    ...         bool((np.asarray(shards["y"].compute()) == x).all())
    (80, [48, 32])
    True
    """
    if name == new_name:
        raise TensorNameError(f"new parts of {name!r} need another name: the old ones are read meanwhile")
    own = Holder(server.address) if holder is None else holder
    theirs = plan.new.tiles_of(own)
    chosen = theirs.tolist() if tiles is None else to_ints(tiles, "tiles")
    others = np.setdiff1d(chosen, theirs)
    if len(others):
        raise OutOfBoundsError(f"the plan assigns to {own} none of the tiles {others[:8].tolist()}")
    here = _held_here(server.tensors, plan.old, name, own)
    catalogue = Catalogue({name: plan.old.without_layers()})
    came = 0
    with connect_shards(catalogue, keys=keys, timeout=timeout, deadline=deadline, idle=idle) as shards:
        for tile in chosen:
            part = _part_of(shards[name], plan.new, tile, here)
            came += part.plan().bytes_received
            made = part.compute()
            if made.shape.size != plan.new.tiling.volumes().reshape(-1)[tile]:
                raise ExtentMismatchError(
                    f"rows of tile {tile} have {made.shape.size} elements, not the planned number"
                )
            server.replace(plan.new.part_name(new_name, tile), made)
    return came


def _held_here(
    tensors: "Mapping[str, ViewLike]", old: Sharding, name: str, own: HolderLike
) -> dict[int, View[Any]]:
    """Return the old tiles on a holder, by number."""
    addresses = [one.address for one in old.holders]
    if (own.address if isinstance(own, Holder) else own) not in addresses:
        return {}
    found: dict[int, View[Any]] = {}
    for tile in old.tiles_of(own).tolist():
        part = tensors.get(old.part_name(name, tile))
        if part is not None:
            found[tile] = as_view(part)
    return found


def _part_of(old: ShardedTensor, new: Sharding, tile: int, here: Mapping[int, View[Any]]) -> View[Any]:
    """Return a new part as a view of local parts, and of parts on the holders."""
    if new.rows is not None:
        first, last = new.row_marks[tile : tile + 2].tolist()
        cuts = [_segments(first, last, old.sharding.row_marks)]
    else:
        box = new.box_of(tile)
        marks = zip(box, old.sharding.tiling.marks, strict=True)
        cuts = [_segments(own.start, own.stop, mode) for own, mode in marks]
    return _joined(old, cuts, (), here)


def _segments(first: int, last: int, marks: IntArray) -> list[tuple[int, int, int]]:
    """Return the tiles that overlap a run of positions, each with its positions in the run."""
    begins, ends = np.maximum(marks[:-1], first), np.minimum(marks[1:], last)
    hit = np.flatnonzero(begins < ends)
    found = list(zip(hit.tolist(), begins[hit].tolist(), ends[hit].tolist(), strict=True))
    # An empty range also has a piece, which defines the dtype and the other extents.
    return found or [(-1, first, last)]


def _joined(
    old: ShardedTensor,
    cuts: list[list[tuple[int, int, int]]],
    chosen: tuple[tuple[int, int, int], ...],
    here: Mapping[int, View[Any]],
) -> View[Any]:
    """Return the grid of pieces from segments of the modes, joined mode by mode."""
    mode = len(chosen)
    if mode < len(cuts):
        parts = [_joined(old, cuts, (*chosen, own), here) for own in cuts[mode]]
        return parts[0] if len(parts) == 1 else concat(parts, mode=mode)
    place = tuple([slice(begin, end) for _, begin, end in chosen])
    index = tuple([number for number, _, _ in chosen])
    sharding = old.sharding
    known = None if -1 in index else here.get(sharding.number_of(index))
    if known is None:
        return old[place]
    starts = [sharding.row_marks] if sharding.rows is not None else sharding.tiling.marks
    shifts = [int(own[k]) for own, k in zip(starts, index, strict=True)]
    return known[tuple([slice(own.start - k, own.stop - k) for own, k in zip(place, shifts, strict=True)])]
