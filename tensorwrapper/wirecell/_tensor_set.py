"""`TensorSet`: numbered tensors with metadata, as Wire-Cell sends and stores them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, cast, final

from tensorwrapper._error_text import counted
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import TensorSetError
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import TensorCommon
from tensorwrapper.wire import DEFAULT_LIMITS, encode
from tensorwrapper.wirecell._paths import DataTree, shown
from tensorwrapper.wirecell._point_tree import PointTree, in_memory, read_point_tree, written_point_tree

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.wire import Message


@final
@value_class(eq=False, repr=False)
class TensorSet:
    """A set of tensors as Wire-Cell has them: a number, tensors, and metadata of each and of the whole.

    Parameters
    ----------
    ident
        The number of the set, which tells sets of a file or of a stream apart.
    tensors
        Tensors, views, or anything that `as_tensor` takes; ``tw.no_elements()`` where there is metadata
        alone. A sequence that reads them on access is kept.
    tensor_metadata
        Metadata of each tensor, objects of JSON. A ``datapath`` and a ``datatype`` are in it.
    metadata
        Metadata of the whole set.

    Raises
    ------
    ConversionError, DTypeError
        If something given is not a tensor, or `ident` no integer.
    TensorSetError
        If there is not one metadata for each tensor, or it is not an object.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> both = TensorSet(3, [[1.5, 2.5], tw.no_elements()], [{"datapath": "a"}, {"datapath": "b"}])
    >>> both, both.tree["a"].tensor.tolist()
    (TensorSet(3, 2 tensors), [1.5, 2.5])
    """

    ident: int
    """The number of the set."""
    tensors: "Sequence[Tensor[Any] | View[Any]]"
    """The tensors; those of a file are read when they are taken."""
    tensor_metadata: Sequence[Mapping[str, Any]]
    """Metadata of each tensor."""
    metadata: Mapping[str, Any]
    """Metadata of the set."""

    def __init__(
        self,
        ident: SupportsIndex,
        tensors: Sequence[object],
        tensor_metadata: Sequence[Mapping[str, Any] | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        said = [None] * len(tensors) if tensor_metadata is None else tensor_metadata
        if len(said) != len(tensors):
            raise TensorSetError(f"{len(tensors)} tensors have {len(said)} metadata; each has one")
        own = [_tensor(item) for item in tensors] if isinstance(tensors, list | tuple) else tensors
        object.__setattr__(self, "ident", to_int(ident, "the number of a set"))
        object.__setattr__(self, "tensors", own)
        object.__setattr__(
            self, "tensor_metadata", tuple([_object(item, f"tensor {k}") for k, item in enumerate(said)])
        )
        object.__setattr__(self, "metadata", _object(metadata, "the whole"))

    @classmethod
    def from_message(cls, message: "Message") -> "TensorSet":
        """Return the set that a message carries; the number of the message is that of the set.

        Raises
        ------
        RemoteProtocolError
            If the message describes its tensors badly.
        TensorSetError
            If the metadata of one is not an object.

        Examples
        --------
        >>> from tensorwrapper import wire
        >>> message = wire.decode(wire.encode([[1, 2]], seqno=7, tensor_metadata=[{"datapath": "a"}]))
        >>> TensorSet.from_message(message).tree["a"].tensor.tolist()
        [1, 2]
        """
        return cls(message.seqno, message.tensors, message.tensor_metadata, message.metadata)

    def to_frames(self, *, compat: Literal["strict"] | None = None) -> list[bytes | memoryview]:
        """Return the frames of a message that carries the set; elements are copied as by `encode`.

        Parameters
        ----------
        compat
            "strict" refuses values that readers in the field misread, including tensors of metadata alone.

        Raises
        ------
        LocalProtocolError
            If the format cannot represent them.
        """
        return encode(
            [in_memory(tensor) for tensor in self.tensors],
            seqno=self.ident,
            metadata=self.metadata or None,
            tensor_metadata=[item or None for item in self.tensor_metadata],
            metadata_depth=DEFAULT_LIMITS.depth,
            compat=compat,
        )

    @property
    def tree(self) -> DataTree:
        """The tensors by their paths; O(n) at each access.

        Raises
        ------
        TensorSetError
            If two have one path, or one has a path that is not text.
        """
        return DataTree(self.tensors, self.tensor_metadata)

    def point_tree(self, path: str = "") -> PointTree:
        """Return a tree of point clouds as jagged tensors; without a path, the first that there is.

        The parents of all nodes are read and checked now; sizes and points on access.

        Raises
        ------
        TensorSetError
            If the tensor there is not a pctree, or breaks the model.
        TensorNameError
            If there is none, or something that it names is missing.
        """
        return read_point_tree(self.tree, path)

    @classmethod
    def from_point_trees(
        cls,
        ident: SupportsIndex,
        trees: Mapping[str, PointTree],
        metadata: Mapping[str, Any] | None = None,
    ) -> "TensorSet":
        """Return the set of trees of point clouds, by the paths that they are to have.

        All that a tree names is written below its path, as Wire-Cell does: points of all nodes follow one
        another in an array, and another array has the sizes per node. Points that lie so are not copied.

        Raises
        ------
        TensorSetError
            If a tree has more nodes, or a node more points, than Wire-Cell can number.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tree = PointTree([0, 0, 0], {"3d": {"x": tw.jagged([[], [1.5, 2.5], [3.5]])}})
        >>> print(TensorSet.from_point_trees(0, {"pointtrees/7": tree}).tree)
        pointtrees/7                                   pctree
        pointtrees/7/pointclouds                       pcnamedset
        pointtrees/7/pointclouds/namedpcs/3d           pcdataset
        pointtrees/7/pointclouds/namedpcs/3d/arrays/x  pcarray
        pointtrees/7/lpcmaps                           pcdataset
        pointtrees/7/lpcmaps/arrays/3d                 pcarray
        """
        written = [item for path, tree in trees.items() for item in written_point_tree(tree, path)]
        return cls(ident, [tensor for tensor, _ in written], [said for _, said in written], metadata)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"TensorSet({self.ident}, {counted(len(self), 'tensor')})"


def _object(said: object, where: str) -> dict[str, Any]:
    # The metadata of a message may be any JSON.
    if said is not None and not isinstance(said, Mapping):
        raise TensorSetError(f"the metadata of {where} is an object, not {shown(str(said))}")
    return dict(cast("Mapping[str, Any]", said or {}))


def _tensor(item: object) -> "Tensor[Any] | View[Any]":
    return cast("Tensor[Any] | View[Any]", item) if isinstance(item, TensorCommon) else as_tensor(item)
