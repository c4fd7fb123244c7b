"""Read Wire-Cell's tensor files: find the sets in an archive, and read members lazily."""

import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from tensorwrapper._json import parse_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.formats._npy import (
    MAGIC,
    NpyHead,
    check_stored,
    compressed_member,
    contents_of,
    head_or_loss,
    is_stored,
    left_over,
    map_whole,
    mapped_array,
    npy_head,
    npy_head_in,
    npy_refusal,
    span_of,
    unknown_packing,
)
from tensorwrapper.store.records._lazy_metadata import LazyMetadata, LazyMetadataByName, told_of
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._archive import Archive
from tensorwrapper.store.system._map import FileMemory
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.store.wirecell._names import MemberName, member_name
from tensorwrapper.store.wirecell._tar import TarMember, TarOther, map_tar, tar_members
from tensorwrapper.wire import Limits, no_elements

_SHOWN: Final = 60


@final
@frozen(eq=False)
class _Member:
    """One member of any archive."""

    name: str
    start: int
    size: int
    """Uncompressed size in bytes."""
    nbytes: int
    """Size in the file."""
    packing: str
    array: Callable[[], object]
    """Function that returns the array, without reading elements."""
    head: Callable[[str], NpyHead]
    """Function that returns the parsed header of a tensor with a given name."""
    text: Callable[[], bytes]
    """Function that returns all bytes."""
    refused: str | None = None
    """Reason why it cannot be unpacked, as the end of a sentence."""


def open_tar_sets(path: Path, kind: str, how: Opening) -> Contents:
    """Return the sets of a tar archive. A compressed archive is decompressed now.

    If no member belongs to a set, all arrays are tensors, as in a NumPy archive. Wire-Cell's `FrameFileSink`
    writes such archives.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or exceeds the limits.
    """
    limits = how.limits
    memory = map_tar(path, kind, limits.decompressed_bytes, how.opened)
    members: list[_Member | TarOther] = []
    with of_stranger(path, kind):
        for found in tar_members(memory):
            members.append(found if isinstance(found, TarOther) else _of_tar(memory, found))
            _check_count(path, members, limits)
    if any(member_name(member.name.rstrip("/")) is not None for member in members):
        return _contents(path, members, limits)
    return _arrays(memory, members, limits)


def open_zip_sets(path: Path, kind: str, how: Opening) -> Contents:
    """Return the sets of a zip archive, from its directory.

    Raises
    ------
    DataFileError
        As `open_tar_sets`.
    """
    memory, limits = map_whole(path, kind, how.opened), how.limits
    with of_stranger(path, kind):
        archive = Archive(memory)
    members = [
        TarOther(info.filename, "a folder") if info.filename.endswith("/") else _of_zip(archive, info, limits)
        for info in archive.infolist()
    ]
    _check_count(path, members, limits)
    return _contents(path, members, limits)


def check_members(path: Path) -> None:
    """Verify the checksums of the uncompressed members of a zip archive.

    Raises
    ------
    DataFileError
        If a checksum does not match.
    """
    memory = map_whole(path, ".zip")
    with of_stranger(path, ".zip"):
        for info in Archive(memory).infolist():
            if is_stored(info):
                check_stored(memory, span_of(memory, info)[0], info)


def _of_tar(memory: FileMemory, found: TarMember) -> _Member:
    end = found.begin + found.size
    return _Member(
        found.name,
        found.begin,
        found.size,
        found.size,
        "dense",
        partial(mapped_array, memory, found.begin, end),
        partial(npy_head_in, memory, found.begin, end),
        lambda: memory[found.begin : end],
    )


def _of_zip(archive: Archive, info: zipfile.ZipInfo, limits: Limits) -> _Member:
    memory, stored = archive.memory, is_stored(info)
    return _Member(
        info.filename,
        info.header_offset,
        info.file_size,
        info.compress_size,
        "dense" if stored else "deflated",
        lambda: (
            mapped_array(memory, *span_of(memory, info))
            if stored
            else compressed_member(archive, info, limits)
        ),
        partial(_head_in, archive, info),
        partial(_unpacked, archive, info),
        unknown_packing(info),
    )


def _head_in(archive: Archive, info: zipfile.ZipInfo, name: str) -> NpyHead:
    with archive.open(info) as member:
        return npy_head(member, name)


def _unpacked(archive: Archive, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as member:
        # Read at most the declared size, whatever the actual decompressed size.
        return member.read(info.file_size)


def _check_count(path: Path, members: list[_Member | TarOther], limits: Limits) -> None:
    if len(members) > limits.parts:
        raise DataFileError(
            f"{path} has more than {limits.parts} members; limits=Limits(parts=...) can raise it"
        )


def _sorted(
    members: list[_Member | TarOther],
) -> tuple[dict[str, tuple[MemberName, _Member]], list[Loss], set[str]]:
    """Return the members of sets by name, the losses of others, and the tensors without elements.

    Members with a repeated name are left out.
    """
    found: dict[str, tuple[MemberName, _Member]] = {}
    losses: list[Loss] = []
    told: set[str] = set()
    twice: set[str] = set()
    for member in members:
        role = member_name(member.name.rstrip("/"))
        if role is None:
            losses.append(_no_member(member))
            continue
        if isinstance(member, TarOther):
            losses.append(_no_file(role, member))
            if role.role == "array":
                told.add(role.name)
            continue
        if role.member in twice:
            continue
        head = _head_of(role.name, member)
        refused = _refusal(role.name, head)
        if role.member in found:
            del found[role.member]
            twice.add(role.member)
            text = f"the archive holds {role.member[:_SHOWN]!r} several times"
            refused = Loss(text, role.name, "name", "unpacking keeps the last one of them")
        if refused is None:
            found[role.member] = role, member
            losses += left_over(role.name, head, member.size) if isinstance(head, NpyHead) else []
            continue
        losses.append(refused)
        if role.role == "array":
            told.add(role.name)
    return found, losses, told


def _arrays(memory: FileMemory, members: list[_Member | TarOther], limits: Limits) -> Contents:
    """Return the arrays of a tar archive by name, without repeated names.

    The first bytes of a member determine if it is an array.
    """
    found: list[tuple[str, np.dtype[Any] | None, Held]] = []
    losses: list[Loss] = []
    names = [member.name.removeprefix("./").removesuffix(".npy") for member in members]
    counts = Counter(names)
    for name, member in zip(names, members, strict=True):
        if isinstance(member, TarOther) or memory[member.start : member.start + len(MAGIC)] != MAGIC:
            losses.append(_no_member(member, "array"))
        elif counts[name] > 1:
            text = f"the archive holds {name[:_SHOWN]!r} {counts[name]} times"
            losses.append(Loss(text, name, "name", "unpacking keeps the last one of them"))
        else:
            head = _head_of(name, member)
            if isinstance(head, Loss):
                losses.append(head)
                continue
            held = Held(member.start, member.nbytes, member.packing, member.array)
            found.append((name, None if head is None else head.dtype, held))
            losses += [] if head is None else left_over(name, head, member.size)
    if len(found) > limits.tensors:
        raise DataFileError(
            f"{memory.filename} has {len(found)} arrays, but the limit is {limits.tensors}; "
            f"limits=Limits(tensors=...) can raise it"
        )
    return contents_of(found, list(dict.fromkeys(losses)))


def _no_member(member: _Member | TarOther, what: str = "member of a tensor set") -> Loss:
    is_what = f"is {member.what}, and " if isinstance(member, TarOther) else ""
    text = f"the archive holds {member.name[:_SHOWN]!r}, which {is_what}is not a {what}"
    return Loss(text, member.name, "member")


def _no_file(role: MemberName, member: TarOther) -> Loss:
    text = f"the member {member.name[:_SHOWN]!r} is {member.what}, which is not read here"
    is_link, has_bytes = "a link" in member.what, "a file" in member.what
    advice = "`tar -x` makes a file of it" if is_link or has_bytes else ""
    return Loss(text, role.name, "link" if is_link else "member", advice)


def _contents(path: Path, members: list[_Member | TarOther], limits: Limits) -> Contents:
    found, losses, told = _sorted(members)
    said = {
        role.name: partial(_parsed, path, member, limits)
        for role, member in found.values()
        if role.role != "array"
    }
    _check_texts(path, [pair for pair in found.values() if pair[0].role != "array"], limits)
    held: dict[str, Held] = {}
    sets: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for role, member in found.values():
        own = sets.setdefault((role.prefix, role.ident), [])
        # Metadata of an existing array are not a separate tensor.
        has_array = MemberName(role.prefix, role.ident, role.index, "array").member in found
        if role.role == "set" or role.name in told or (role.role == "metadata" and has_array):
            continue
        own.append((role.index, role.name))
        read = member.array if role.role == "array" else no_elements
        metadata = LazyMetadata(said[role.name]) if role.name in said else dict[str, Any]()
        is_array = role.role == "array"
        held[role.name] = Held(
            member.start,
            member.nbytes if is_array else 0,
            member.packing if is_array else "none",
            read,
            metadata,
        )
    most = max([len(own) for own in sets.values()], default=0)
    if most > limits.tensors:
        raise DataFileError(
            f"{path} has a set of {most} tensors, but the limit is {limits.tensors}; "
            f"limits=Limits(tensors=...) can raise it"
        )
    of_sets = {role.name: said[role.name] for role, _ in found.values() if role.role == "set"}
    ordered = {key: tuple([name for _, name in sorted(own)]) for key, own in sets.items()}
    return Contents(held, LazyMetadataByName(of_sets), tuple(losses), ordered, told=told_of(said))


def _head_of(name: str, member: _Member) -> NpyHead | Loss | None:
    """Return the header of an array, or the loss of an unread member; None for a damaged array.

    Reading a damaged array raises later.
    """
    if member.refused is not None:
        return Loss(f"the member {member.name[:_SHOWN]!r} {member.refused}", name, "codec")
    return head_or_loss(partial(member.head, name)) if member.name.endswith(".npy") else None


def _refusal(name: str, head: NpyHead | Loss | None) -> Loss | None:
    return npy_refusal(name, head.dtype) if isinstance(head, NpyHead) else head


def _check_texts(path: Path, texts: list[tuple[MemberName, _Member]], limits: Limits) -> None:
    """Raise if the metadata of one set, or of all sets, are too large for a message."""
    sizes: dict[object, int] = {}
    for role, member in texts:
        key = None if role.role == "set" else (role.prefix, role.ident)
        sizes[key] = sizes.get(key, 0) + member.size
    if max(sizes.values(), default=0) > limits.label_bytes:
        raise DataFileError(
            f"{path} has metadata of {max(sizes.values())} bytes, but the limit is "
            f"{limits.label_bytes}; limits=Limits(label_bytes=...) can raise it"
        )


def _parsed(path: Path, member: _Member, limits: Limits) -> dict[str, Any]:
    what = f"the member {member.name[:_SHOWN]!r}"
    with of_stranger(path, path.suffix.lower()):
        raw = member.text()
    try:
        found = parse_json(
            raw,
            what,
            depth=limits.depth,
            digits=limits.digits,
            items=limits.label_items,
            max_bytes=limits.label_bytes,
        )
    except ParseError as error:
        raise DataFileError(f"{path}: {error}") from error
    if found is None:
        # jsoncpp writes missing metadata as null.
        return {}
    if not isinstance(found, dict):
        raise DataFileError(f"{path}: {what} must have an object, not {str(found)[:_SHOWN]}")
    return found
