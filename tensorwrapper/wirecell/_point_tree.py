"""Trees of point clouds: the points of all nodes are jagged tensors, with the nodes as their rows."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import value_class
from tensorwrapper.errors import JaggedModeError, TensorSetError
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import TensorCommon
from tensorwrapper.typing import Extents, IntArray
from tensorwrapper.wire import no_elements
from tensorwrapper.wirecell._paths import DataItem, DataTree, shown

if TYPE_CHECKING:
    from tensorwrapper.selection import View

_Points: TypeAlias = "Tensor[Any] | View[Any]"
_Clouds: TypeAlias = "Mapping[str, Mapping[str, _Points]]"
_Written: TypeAlias = "tuple[Tensor[Any], dict[str, Any]]"

_INT: Final = np.iinfo(np.int32)
_OWN: Final = frozenset({"datapath", "datatype", "arrays", "items", "pointclouds", "lpcmaps"})


def in_memory(tensor: _Points) -> Tensor[Any]:
    """Return a tensor itself, or a computed view."""
    return tensor if isinstance(tensor, Tensor) else tensor.compute()


@final
@value_class(eq=False, repr=False)
class PointTree:
    """A tree whose nodes have point clouds: Wire-Cell's pctree, with jagged tensors for the points.

    Node k is row k of every array of points; the order of the nodes is that of a descent.

    Parameters
    ----------
    parents
        For each node the number of its parent, which comes before it; its own for a root. Integers, (nodes,).
    clouds
        The point clouds by name, each of them arrays by name: jagged, (nodes, points of each, ...). The
        arrays of one cloud have equally many points in every node; later modes have one extent.
    metadata
        Further metadata of the tree.
    cloud_metadata
        Further metadata of a cloud, by its name.

    Raises
    ------
    TensorSetError
        If a parent comes after its child, or rows are not as many as nodes.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tree = PointTree([0, 0, 0, 2], {"3d": {"x": tw.jagged([[], [1.5, 2.5], [3.5], [4.5]])}})
    >>> tree.clouds["3d"]["x"][1].tolist(), tree.children().tolist()
    ([1.5, 2.5], [[1, 2], [], [3], []])
    """

    parents: Tensor[Any]
    """Number of the parent of each node; for a root, its own number."""
    clouds: _Clouds
    """Clouds by name, each with arrays by name; those of a file are read on access."""
    metadata: Mapping[str, Any]
    """Further metadata of the tree."""
    cloud_metadata: Mapping[str, Mapping[str, Any]]
    """Further metadata of each cloud."""

    def __init__(
        self,
        parents: object,
        clouds: Mapping[str, Mapping[str, object]],
        metadata: Mapping[str, Any] | None = None,
        cloud_metadata: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        own = as_tensor(parents)
        _check_parents(own)
        made = {
            name: {key: _of_nodes(points, own.size, name, key) for key, points in cloud.items()}
            for name, cloud in clouds.items()
        }
        _fill(self, own, made, dict(metadata or {}), dict(cloud_metadata or {}))

    def __len__(self) -> int:
        """Return how many nodes there are."""
        return self.parents.size

    def roots(self) -> IntArray:
        """Return the numbers of the nodes without parent; O(nodes)."""
        own = self._parents()
        return np.flatnonzero(own == np.arange(len(own)))

    def children(self) -> Tensor[Any]:
        """Return the numbers of the children of each node, as a jagged tensor (nodes, children); O(nodes)."""
        own = self._parents()
        below = np.flatnonzero(own != np.arange(len(own)))
        order = np.argsort(own[below], kind="stable")
        counts = np.bincount(own[below], minlength=len(own))
        return as_tensor(below[order]).unflatten(counts)

    def _parents(self) -> IntArray:
        return self.parents.elements().astype(np.int64)

    def __repr__(self) -> str:
        return f"PointTree({len(self)} nodes, {', '.join(map(repr, self.clouds)) or 'no clouds'})"


def _fill(
    tree: PointTree,
    parents: Tensor[Any],
    clouds: _Clouds,
    metadata: Mapping[str, Any],
    cloud_metadata: Mapping[str, Mapping[str, Any]],
) -> None:
    object.__setattr__(tree, "parents", parents)
    object.__setattr__(tree, "clouds", clouds)
    object.__setattr__(tree, "metadata", metadata)
    object.__setattr__(tree, "cloud_metadata", cloud_metadata)


def _check_parents(parents: Tensor[Any]) -> None:
    if parents.rank != 1 or parents.dtype.kind not in "iu" or not parents.shape.is_box:
        raise TensorSetError(
            f"parents are a row of integers, one for each node, not {parents.dtype} of shape {parents.shape}"
        )
    own = parents.elements()
    wrong = (own < 0) | (own > np.arange(len(own)))
    if wrong.any():
        node = int(wrong.argmax())
        raise TensorSetError(f"node {node} has {own[node]} as its parent; parents come before their children")


def _of_nodes(points: object, n_nodes: int, cloud: str, name: str) -> _Points:
    own = cast("_Points", points) if isinstance(points, TensorCommon) else as_tensor(points)
    if own.rank < 2 or own.shape.extent(0) != n_nodes:
        raise TensorSetError(
            f"the array {shown(name)} of the cloud {shown(cloud)} has the shape {own.shape}; it must "
            f"have a row for each of {n_nodes} nodes"
        )
    return own


# Reading.


@final
class _Lazy(Mapping[str, Any]):
    """Values that are made on access: an untrusted set may name one array a million times."""

    __slots__ = ("_make", "_names")

    def __init__(self, names: Mapping[str, DataItem], make: Callable[[str], object]) -> None:
        self._names = names
        self._make = make

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a cloud, or points
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_point_tree(tree: DataTree, path: str) -> PointTree:
    """Return the tree of point clouds at a path, or the first that there is; points are read when taken."""
    top = tree.item_of("pctree", path)
    parents = in_memory(top.tensor)
    _check_parents(parents)
    named = _one(top, "pointclouds")
    clouds = named.follow("items") if named is not None else {}
    maps = _one(top, "lpcmaps")
    sizes = maps.follow("arrays") if maps is not None else {}

    def cloud(name: str) -> Mapping[str, _Points]:
        lengths = _sizes(name, sizes.get(name), parents.size)
        arrays = clouds[name].follow("arrays")

        def points(key: str) -> _Points:
            array = arrays[key].tensor
            count = array.shape.extent(0) if array.rank and array.shape.is_box else None
            if count != int(lengths.sum()):
                raise TensorSetError(
                    f"the array {shown(key)} of the cloud {shown(name)} has the shape {array.shape}, "
                    f"and its nodes have {int(lengths.sum())} points"
                )
            return array.unflatten(lengths)

        return _Lazy(arrays, points)

    made = object.__new__(PointTree)
    said = {name: _beside(item) for name, item in clouds.items()}
    _fill(
        made,
        parents,
        cast("_Clouds", _Lazy(clouds, cloud)),
        _beside(top),
        {name: own for name, own in said.items() if own},
    )
    return made


def _one(item: DataItem, key: str) -> DataItem | None:
    if not isinstance(item.metadata.get(key), str):
        raise TensorSetError(f"{shown(item.path)} must have one path under {key!r}")
    return item.follow(key).get(key)


def _beside(item: DataItem) -> dict[str, Any]:
    return {key: value for key, value in item.metadata.items() if key not in _OWN}


def _sizes(name: str, item: DataItem | None, n_nodes: int) -> IntArray:
    if item is None:
        raise TensorSetError(f"nothing says to which nodes the points of {shown(name)} belong")
    sizes = in_memory(item.tensor)
    if sizes.rank != 1 or sizes.dtype.kind not in "iu" or not sizes.shape.is_box or sizes.size > n_nodes:
        raise TensorSetError(
            f"sizes of {shown(name)} are a row of integers, one for each of {n_nodes} nodes, not "
            f"{sizes.dtype} of shape {sizes.shape}"
        )
    own = sizes.elements()
    if own.size and not 0 <= int(own.min()) <= int(own.max()) <= _INT.max:
        raise TensorSetError(f"sizes of {shown(name)} go from {own.min()} to {own.max()}")
    # Older files end with the last node that has such points.
    lengths = np.zeros(n_nodes, dtype=np.int64)
    lengths[: own.size] = own
    return lengths


# Writing.


def written_point_tree(tree: PointTree, path: str) -> list[_Written]:
    """Return the tensors of a tree with their metadata: the tree first, then all that it references."""
    base = "/".join([step for step in path.split("/") if step])
    if len(tree) > _INT.max:
        raise TensorSetError(f"{len(tree)} nodes are more than Wire-Cell numbers")
    store, maps = f"{base}/pointclouds", f"{base}/lpcmaps"
    items: dict[str, str] = {}
    below: list[_Written] = []
    sizes: dict[str, Tensor[Any]] = {}
    for name, cloud in tree.clouds.items():
        items[name] = f"{store}/namedpcs/{name}"
        arrays: dict[str, Tensor[Any]] = {}
        lengths = np.zeros(len(tree), dtype=np.int64)
        for number, (key, points) in enumerate(cloud.items()):
            own, arrays[key] = _flat(in_memory(points), name, key)
            if number and not np.array_equal(own, lengths):
                raise TensorSetError(f"arrays of the cloud {shown(name)} have other sizes per node: {key!r}")
            lengths = own
        if lengths.size and int(lengths.max()) > _INT.max:
            raise TensorSetError(f"{int(lengths.max())} points of a node are more than Wire-Cell numbers")
        sizes[name] = as_tensor(lengths.astype(np.int32))
        below += _dataset(items[name], arrays, tree.cloud_metadata.get(name, {}))
    top = {
        **tree.metadata,
        "datapath": base,
        "datatype": "pctree",
        "pointclouds": store if items else "",
        "lpcmaps": maps if items else "",
    }
    written: list[_Written] = [(as_tensor(tree.parents.elements().astype(np.int32)), top)]
    if items:
        named = {"datapath": store, "datatype": "pcnamedset", "items": items}
        written += [(no_elements(), named), *below, *_dataset(maps, sizes, {})]
    return written


def _dataset(path: str, arrays: Mapping[str, Tensor[Any]], said: Mapping[str, Any]) -> list[_Written]:
    paths = {name: f"{path}/arrays/{name}" for name in arrays}
    top = {**said, "datapath": path, "datatype": "pcdataset", "arrays": paths}
    parts = [(own, {"datapath": paths[name], "datatype": "pcarray"}) for name, own in arrays.items()]
    return [(no_elements(), top), *parts]


def _flat(points: Tensor[Any], cloud: str, name: str) -> tuple[IntArray, Tensor[Any]]:
    """Return how many points each node has, and all points one after the other."""
    shape = points.shape if not points.shape.is_box else points.shape.as_jagged()
    lengths = shape.lengths(1)
    inner: Extents = ()
    if points.rank > 2:
        try:
            table = shape.cell_table().extents
        except JaggedModeError as error:
            raise _uneven(points, cloud, name) from error
        filled = table[table[:, 0] > 0, 1:]
        if (filled != filled[:1]).any():
            raise _uneven(points, cloud, name)
        known = filled if len(filled) else table[:, 1:]
        inner = tuple(known[0].tolist()) if len(known) else (0,) * (points.rank - 2)
    count = int(lengths.sum())
    if count * prod(inner) != points.size:
        raise _uneven(points, cloud, name)
    return lengths, as_tensor(points.elements().reshape(count, *inner))


def _uneven(points: Tensor[Any], cloud: str, name: str) -> TensorSetError:
    return TensorSetError(
        f"the array {shown(name)} of the cloud {shown(cloud)} has the shape {points.shape}: points "
        "have as many numbers each"
    )
