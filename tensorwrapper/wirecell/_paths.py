"""The tree of a set: tensors by their paths, and references between them in their metadata."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

from tensorwrapper._error_text import counted
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import TensorNameError, TensorSetError

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.tensor import Tensor

_SHOWN: Final = 60  # characters of a path in an error


def shown(text: str) -> str:
    """Return a possibly untrusted name, shortened for errors."""
    return repr(text[:_SHOWN])


def _plain(path: str) -> str:
    """Return a path as it is compared: slashes at its ends, or several in a row, say nothing."""
    return "/".join([step for step in path.split("/") if step])


@final
@value_class(eq=False, repr=False)
class DataItem:
    """One tensor of a set: its path in the tree, its metadata, and its references."""

    path: str
    """Path in the tree: steps separated by slashes."""
    number: int
    """Its place in the set."""
    metadata: Mapping[str, Any]
    """Metadata of the tensor."""
    _tree: "DataTree"

    def __init__(self, path: str, number: int, metadata: Mapping[str, Any], tree: "DataTree") -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "metadata", metadata)
        object.__setattr__(self, "_tree", tree)

    @property
    def tensor(self) -> "Tensor[Any] | View[Any]":
        """The tensor, which is read now if the set is one of a file."""
        return self._tree._tensors[self.number]

    @property
    def datatype(self) -> str:
        """Type of the tensor: "pcarray", "pctree", "frame"; empty without one."""
        said = self.metadata.get("datatype")
        return said if isinstance(said, str) else ""

    def follow(self, key: str) -> dict[str, "DataItem"]:
        """Return the tensors that the metadata references under a key, by name, or by number for a list.

        The model has ``arrays`` of a pcdataset, ``items`` of a pcnamedset, ``pointclouds`` and ``lpcmaps`` of
        a pctree, ``nodes`` and ``edges`` of a pcgraph or a cluster, ``traces`` and ``tracedata`` of a frame.
        One path alone has the key as its name; an empty one names nothing.

        Raises
        ------
        TensorSetError
            If there is no such key, or something else than paths.
        TensorNameError
            If the set has no tensor at such a path.

        Examples
        --------
        >>> from tensorwrapper.wirecell import TensorSet
        >>> points = {"datapath": "a", "datatype": "pcdataset", "arrays": {"x": "a/arrays/x"}}
        >>> tree = TensorSet(0, [[], [1, 2]], [points, {"datapath": "a/arrays/x"}]).tree
        >>> tree["a"].follow("arrays")["x"].tensor.tolist()
        [1, 2]
        """
        return {name: self._tree[path] for name, path in self._named(key).items()}

    def _named(self, key: str) -> dict[str, str]:
        value = self.metadata.get(key)
        found: dict[str, object]
        if isinstance(value, str):
            found = {key: value} if value else {}
        elif isinstance(value, Mapping):
            found = dict(cast("Mapping[str, object]", value))
        elif isinstance(value, list | tuple):
            found = {str(n): path for n, path in enumerate(cast("Sequence[object]", value))}
        else:
            raise TensorSetError(
                f"{shown(self.path)} names nothing under {key!r}; expected a path, or several of them"
            )
        for name, path in found.items():
            if not isinstance(path, str):
                raise TensorSetError(
                    f"{shown(self.path)} has {shown(str(path))} as {key!r}, {shown(name)}: a path is text"
                )
        return cast("dict[str, str]", found)

    def __repr__(self) -> str:
        return f"DataItem({self.path!r}, {self.datatype!r})"


@final
@value_class(eq=False, repr=False)
class DataTree(Mapping[str, DataItem]):
    """The tensors of a set by their paths: `TensorSet.tree`, a mapping in the order of the set.

    Tensors without a ``datapath`` are not in it. Slashes at the ends of a path are ignored.

    Examples
    --------
    >>> from tensorwrapper.wirecell import TensorSet
    >>> said = [{"datapath": path, "datatype": "pcarray"} for path in ("pc/0/arrays/x", "pc/0/arrays/y")]
    >>> tree = TensorSet(0, [[1], [2]], said).tree
    >>> print(tree)
    pc/0/arrays/x  pcarray
    pc/0/arrays/y  pcarray
    >>> tree.children("pc/0/arrays"), tree["pc/0/arrays/y"].tensor.tolist()
    (('x', 'y'), [2])
    """

    _tensors: "Sequence[Tensor[Any] | View[Any]]"
    _items: Mapping[str, DataItem]

    def __init__(
        self, tensors: "Sequence[Tensor[Any] | View[Any]]", metadata: Sequence[Mapping[str, Any]]
    ) -> None:
        items: dict[str, DataItem] = {}
        for number, said in enumerate(metadata):
            path = said.get("datapath")
            if path is None:
                continue
            if not isinstance(path, str):
                raise TensorSetError(f"tensor {number} has {shown(str(path))} as its path, which is text")
            plain = _plain(path)
            before = items.setdefault(plain, DataItem(plain, number, said, self))
            if before.number != number:
                raise TensorSetError(f"tensors {before.number} and {number} are both at {shown(plain)}")
        object.__setattr__(self, "_tensors", tensors)
        object.__setattr__(self, "_items", items)

    def __getitem__(self, path: str) -> DataItem:
        found = self._items.get(_plain(path))
        if found is None:
            raise TensorNameError(f"the set has no tensor at {shown(path)}")
        return found

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and _plain(path) in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        # As a mapping it would compare tensors, which are not equal unless they are the same.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def children(self, path: str = "") -> tuple[str, ...]:
        """Return the names one step below a path, of tensors or of inner nodes; O(n)."""
        before = _plain(path) + "/" if _plain(path) else ""
        steps = [own[len(before) :].partition("/")[0] for own in self._items if own.startswith(before)]
        return tuple([step for step in dict.fromkeys(steps) if step])

    def of_type(self, datatype: str) -> tuple[DataItem, ...]:
        """Return the items of one datatype, in the order of the set; O(n)."""
        return tuple([item for item in self._items.values() if item.datatype == datatype])

    def dataset(self, path: str = "") -> "dict[str, Tensor[Any] | View[Any]]":
        """Return the arrays of a point cloud by name; without a path, those of the first point cloud.

        Raises
        ------
        TensorSetError
            If the tensor there is not a pcdataset, or its arrays have not one extent along mode 0.
        TensorNameError
            If there is none, or one of its arrays is missing.

        Examples
        --------
        >>> from tensorwrapper.wirecell import TensorSet
        >>> points = {"datapath": "a", "datatype": "pcdataset", "arrays": {"x": "a/arrays/x"}}
        >>> tree = TensorSet(0, [[], [1, 2]], [points, {"datapath": "a/arrays/x"}]).tree
        >>> {name: array.tolist() for name, array in tree.dataset().items()}
        {'x': [1, 2]}
        """
        item = self.item_of("pcdataset", path)
        arrays = {name: own.tensor for name, own in item.follow("arrays").items()}
        counts: set[int] = set()
        for name, array in arrays.items():
            if not array.rank:
                raise TensorSetError(f"{shown(item.path)}: the array {shown(name)} has no mode of points")
            counts.add(array.shape.extent(0))
        if len(counts) > 1:
            raise TensorSetError(f"{shown(item.path)} has arrays of {sorted(counts)[:4]} points")
        return arrays

    def item_of(self, datatype: str, path: str = "") -> DataItem:
        """Return the item at a path, which must be of a datatype; without a path, the first of it.

        Raises
        ------
        TensorNameError
            If there is none.
        TensorSetError
            If the tensor there is of another datatype.
        """
        if path:
            found = self[path]
            if found.datatype != datatype:
                raise TensorSetError(f"{shown(path)} is a {shown(found.datatype)}, not a {datatype!r}")
            return found
        first = self.of_type(datatype)
        if not first:
            raise TensorNameError(f"the set has no {datatype}")
        return first[0]

    def __str__(self) -> str:
        width = max(map(len, self._items), default=0)
        return "\n".join([f"{path:{width}}  {item.datatype}".rstrip() for path, item in self._items.items()])

    def __repr__(self) -> str:
        return f"DataTree({counted(len(self), 'tensor')})"
