"""Contents of files of other formats before they are read, and results of writing one, for all formats."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, SupportsIndex, TypeAlias, cast, final

import attrs

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
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Extents, IntArray, NullRows
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits

__all__ = [
    "SCALES",
    "ChunksLike",
    "Contents",
    "Conversion",
    "Done",
    "Held",
    "Named",
    "Opening",
    "Options",
    "leaving_out",
    "scaled",
    "unsaid_attributes",
]

Named: TypeAlias = tuple[str, object, Mapping[str, Any]]
"""The name of a tensor, the tensor, and its metadata."""

ChunksLike: TypeAlias = Sequence[SupportsIndex] | Mapping[str, Sequence[SupportsIndex]]
"""The extents of the chunks of all tensors, or of each by name."""


@final
@frozen
class Opening:
    """The options with which a file of another kind is opened."""

    limits: Limits = DEFAULT_LIMITS
    note: str = ""
    """The note of `recognise`."""
    null_rows: NullRows = "refuse"
    """The meaning of a null where a list is expected."""
    raw: bool = False
    """True if the parts of a convention's tensor are listed instead of the tensor."""
    follow: str | None = None
    """The folder, or the front of the addresses, of the other files that this one may lead to."""


@final
@frozen(eq=False)
class Held:
    """Content of a file under one name."""

    start: int
    """Start in the file; 0 if unknown."""
    nbytes: int | None
    """The bytes that it takes there; None where only its elements can be counted."""
    packing: str | Callable[[], str]
    """The packing of the elements, or a function that returns it."""
    read: Callable[[], object]
    """Function that reads its description, if possible without elements: an array, a source, or a tensor."""
    metadata: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    pieces: int = 1
    """In how many records of the file it is."""
    take: Callable[[IntArray], Tensor[Any]] | None = None
    """A function that reads some rows, with fewer bytes of structure than `read` needs."""


@final
@frozen(eq=False)
class Contents:
    """Contents of a file, by name."""

    held: Mapping[str, Held]
    metadata: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    losses: tuple[Loss, ...] = ()
    """Contents that are not tensors, a sentence each."""
    sets: Mapping[tuple[str, int], tuple[str, ...]] = attrs.field(
        factory=dict[tuple[str, int], tuple[str, ...]]
    )
    """Names of the tensors of each of Wire-Cell's sets, by prefix and number."""
    aliases: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """Other names of tensors, with those that are listed."""
    attributes: Callable[[], Mapping[str, Sequence[str] | Loss]] = dict[str, Sequence[str] | Loss]
    """Function that returns further attributes by the name of a tensor or group, or "" for the file.

    Unreadable attributes are returned as a loss.
    """
    unsaid: Callable[[], tuple[Loss, ...]] = tuple
    """Function that returns further contents, of no tensor, which another format would lose."""
    told: Callable[[], tuple[Loss, ...]] = tuple
    """Function that returns further losses, which need more than names: they are computed on access."""
    stored: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict[str, tuple[str, ...]])
    """The names of records, and of the fields that they have: these are tensors with dotted names."""
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
    """Return the loss of further attributes of tensors, groups and the file, which only this file has."""
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
    """Return that the numbers of a tensor are those that are stored."""
    return Loss(
        f"{name!r} has a scale_factor or an add_offset, which are not applied",
        name,
        "scaled",
        "multiply by the one, and add the other",
    )


@final
@frozen
class Conversion:
    """Written tensors, and losses that the format of the file cannot represent."""

    names: tuple[str, ...]
    """The tensors, in the order in which they were read."""
    nbytes: int
    """The bytes of their elements."""
    lost: tuple[Loss, ...]
    """Contents that were lost, a sentence each."""


@final
@frozen
class Options:
    """Options of writing, for tensors that can be written in several ways."""

    chunks: ChunksLike | None = None
    compress: Compression | Mapping[str, Compression | None] | None = None
    strict: bool = True
    """True if a tensor that cannot be read or written is an error; else it is left out, with a loss."""
    way_out: str = ""
    """End of such an error, with the option that leaves the tensor out; empty where there is none."""
    keep_views: bool = False
    """True if stored views stay views."""

    def chunks_of(self, name: str, extents: Extents) -> Extents | None:
        """Return the chunks that the user wants for a tensor; None if he leaves it to the layout.

        Raises
        ------
        RankError
            If there are chunks for another number of modes.
        ExtentError
            If a chunk has no elements.
        """
        given = self.chunks.get(name) if isinstance(self.chunks, Mapping) else self.chunks
        if given is None:
            return None
        found = to_counts(given, f"the chunks of {name!r}")
        if len(found) != len(extents):
            raise RankError(f"the chunks {found} of {name!r} do not fit {len(extents)} modes")
        if not all(found):
            raise ExtentError(f"a chunk of {name!r} has an extent of 0: {found}")
        return found

    def codec_of(self, name: str, codecs: Mapping[str, str], kind: str) -> str | None:
        """Return a format's name of the codec of a tensor; None if it is stored uncompressed.

        Raises
        ------
        ConversionError
            If that kind of file has no such codec.
        """
        given = self.compress.get(name) if isinstance(self.compress, Mapping) else self.compress
        if given is None:
            return None
        if given not in codecs:
            allowed = ", ".join([repr(own) for own in codecs]) or "none"
            raise ConversionError(f"{kind} files are not compressed by {given!r}; allowed: {allowed}")
        return codecs[given]


@contextmanager
def leaving_out(name: str, options: Options, lost: list[Loss]) -> Generator[None, None, None]:
    """Tell of a tensor that it is left out, if the block cannot read or write it and that is allowed.

    Null rows are left out always: no kind of file that is written has them.
    """
    try:
        yield
    except DataFileSystemError:
        # The disk, and not the tensor.
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
    """A read that was done when it was started."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing: all has arrived."""
