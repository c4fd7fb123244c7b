"""Contents of files in other formats before reading, and results of writing, common to all formats."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, SupportsIndex, TypeAlias, cast, final

from tensorwrapper._integers import to_counts
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileSystemError,
    ExtentError,
    RankError,
    TensorWrapperError,
)
from tensorwrapper.store.records._loss import Loss, LossCode, loss_in, unread
from tensorwrapper.store.system._system import OpenedFile
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Extents, IntArray, NullRows
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits

Named: TypeAlias = tuple[str, object, Mapping[str, Any]]
"""The name of a tensor, the tensor, and its metadata."""

ChunksLike: TypeAlias = Sequence[SupportsIndex] | Mapping[str, Sequence[SupportsIndex]]
"""Chunk extents of all tensors, or a mapping from names to chunk extents."""


_NONE: Final[Mapping[Any, Any]] = MappingProxyType({})


@final
@frozen
class Opening:
    """Options for opening a file in another format."""

    limits: Limits = DEFAULT_LIMITS
    note: str = ""
    """Note from `recognise`."""
    null_rows: NullRows = "refuse"
    """Meaning of null lists."""
    raw: bool = False
    """True to list the arrays of a convention instead of its tensors."""
    follow: str | None = None
    """Folder, or address prefix, of other files that may be read."""
    opened: OpenedFile | None = None
    """The file at the path, if it is open already, as it was read to recognise its format.

    Its reader closes it. Readers that pass these options on to other files do not use it.
    """


@final
@frozen(eq=False)
class Held:
    """The content of a file under one name."""

    start: int
    """Start in the file; 0 if unknown."""
    nbytes: int | None
    """Size in the file in bytes; None if unknown."""
    packing: str | Callable[[], str]
    """The packing of the elements, or a function that returns it."""
    read: Callable[[], object]
    """Function that returns an array, a source, or a tensor, if possible without reading elements."""
    metadata: Mapping[str, Any] = _NONE
    pieces: int = 1
    """Number of records in the file."""
    take: Callable[[IntArray], Tensor[Any]] | None = None
    """Function that reads selected rows, with fewer bytes of structure than `read`."""


@final
@frozen(eq=False)
class Contents:
    """The contents of a file, by name."""

    held: Mapping[str, Held]
    metadata: Mapping[str, Any] = _NONE
    losses: tuple[Loss, ...] = ()
    """Losses: contents that are not tensors, a sentence each."""
    sets: Mapping[tuple[str, int], tuple[str, ...]] = _NONE
    """Names of the tensors of each Wire-Cell set, by prefix and number."""
    aliases: Mapping[str, str] = _NONE
    """Other names of tensors, with their listed names."""
    attributes: Callable[[], Mapping[str, Sequence[str] | Loss]] = dict[str, Sequence[str] | Loss]
    """Function that returns further attributes of a tensor, of a group, or of the file (""), by name.

    Unreadable attributes are returned as a loss.
    """
    unsaid: Callable[[], tuple[Loss, ...]] = tuple
    """Function that returns contents outside tensors, which conversion to another format would lose."""
    told: Callable[[], tuple[Loss, ...]] = tuple
    """Function that returns further losses, computed on access because they need more than names."""
    stored: Mapping[str, tuple[str, ...]] = _NONE
    """Names of records, each with its field names; fields are tensors with dotted names."""
    resolve: Callable[[str], str | None] | None = None
    """Function from a name to the listed name of its target, for names that are not in `aliases`."""

    def find(self, name: str) -> str | None:
        """Return the listed name of a name or an alias; None if there is none."""
        if name in self.held:
            return name
        found = self.aliases.get(name)
        if found is None and self.resolve is not None and isinstance(cast("object", name), str):
            found = self.resolve(name)
        return found if found in self.held else None


SCALES: Final = ("scale_factor", "add_offset")
"""Attributes that describe the meaning of an array's numbers."""


def unsaid_attributes(attributes: Mapping[str, Sequence[str] | Loss]) -> list[Loss]:
    """Return losses for other attributes of tensors, groups and the file, which are not converted."""
    found: list[Loss] = []
    for name, keys in attributes.items():
        if isinstance(keys, Loss):
            found.append(keys)
            continue
        shown = ", ".join([repr(key[:40]) for key in keys[:8]]) + ", ..." * (len(keys) > 8)
        of = f"of {name!r}" if name else "of the file"
        found.append(Loss(f"the attributes {shown} {of}", name, "kind"))
    return found


def scaled(name: str) -> Loss:
    """Return a loss which notes that the numbers of a tensor are the stored, unscaled values."""
    return Loss(
        f"{name!r} has a scale_factor or an add_offset, which are not applied",
        name,
        "scaled",
        "multiply by the one, and add the other",
    )


@final
@frozen
class Conversion:
    """Result of a conversion: the written tensors, and losses of content that the format cannot represent."""

    names: tuple[str, ...]
    """Names of the tensors, in the order in which they were read."""
    nbytes: int
    """Size of their elements in bytes."""
    lost: tuple[Loss, ...]
    """Contents that were lost, a sentence each."""


@final
@frozen
class Options:
    """Options of writing, for tensors that can be written in several ways."""

    chunks: ChunksLike | None = None
    compress: Compression | Mapping[str, Compression | None] | None = None
    strict: bool = True
    """True to raise if a tensor cannot be read or written; otherwise it is skipped with a loss."""
    way_out: str = ""
    """End of such an error, naming the option that skips the tensor; empty if there is none."""
    keep_views: bool = False
    """True to write stored views as views."""

    def chunks_of(self, name: str, extents: Extents) -> Extents | None:
        """Return the chunk extents requested for a tensor; None if the layout determines them.

        Raises
        ------
        RankError
            If the rank of the chunks differs from that of the tensor.
        ExtentError
            If a chunk has no elements.
        """
        given = self.chunks.get(name) if isinstance(self.chunks, Mapping) else self.chunks
        if given is None:
            return None
        found = to_counts(given, f"the chunks of {name!r}")
        if len(found) != len(extents):
            raise RankError(f"the chunks {found} of {name!r} do not match rank {len(extents)}")
        if not all(found):
            raise ExtentError(f"a chunk of {name!r} has an extent of 0: {found}")
        return found

    def codec_of(self, name: str, codecs: Mapping[str, str], kind: str) -> str | None:
        """Return the format's name of a tensor's codec; None if the tensor is stored uncompressed.

        Raises
        ------
        ConversionError
            If the format has no such codec.
        """
        given = self.compress.get(name) if isinstance(self.compress, Mapping) else self.compress
        if given is None:
            return None
        if given not in codecs:
            allowed = ", ".join([repr(own) for own in codecs]) or "none"
            raise ConversionError(f"{kind} files do not support the codec {given!r}; allowed: {allowed}")
        return codecs[given]


@contextmanager
def leaving_out(name: str, options: Options, lost: list[Loss]) -> Generator[None, None, None]:
    """Record a skipped tensor as a loss, if the block cannot read or write it and skipping is allowed.

    Null rows are always skipped, as no written format supports them.
    """
    try:
        yield
    except DataFileSystemError:
        # The disk failed, not the tensor.
        raise
    except TensorWrapperError as error:
        said = loss_in(error)
        # Reading refuses null rows; writing refuses null elements.
        is_null_rows = said is not None and said.code == "null" and isinstance(error, DataFileError)
        if options.strict and not is_null_rows:
            if options.way_out and isinstance(error, ConversionError):
                raise ConversionError(f"{error}; {options.way_out}") from error
            raise
        # An unreadable file has its own error; all others are limits of the target's format.
        otherwise: LossCode = "damage" if isinstance(error, DataFileError) else "kind"
        lost.append(unread(f"{name!r} is left out", name, error, otherwise))


@final
@frozen(eq=False)
class Done:
    """A read that completed synchronously."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing, because the read is complete."""
