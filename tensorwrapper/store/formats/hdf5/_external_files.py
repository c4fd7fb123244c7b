"""HDF5 files that refer to others: external links, virtual datasets, and external storage.

References are followed only below the caller's `follow` folder. Without it, `open_hdf5` only lists them. HDF5
itself never resolves an external link here, because it would follow any path.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._checked_source import CheckedSource, UnchangedFiles
from tensorwrapper.store.formats._contents import Contents, Held, Opening
from tensorwrapper.store.formats._file_location import Where
from tensorwrapper.store.formats._follow import followed
from tensorwrapper.store.formats._names import FreeNames, renamed
from tensorwrapper.store.formats._npy import map_whole
from tensorwrapper.store.formats._origin_attributes import placed
from tensorwrapper.store.formats.hdf5._read import open_hdf5
from tensorwrapper.store.formats.hdf5._types import look_at
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss, unread
from tensorwrapper.store.system._map import stream_over
from tensorwrapper.store.system._system import reading

if TYPE_CHECKING:
    import h5py

    from tensorwrapper.selection import View

_DEEPEST: Final = 16
"""Limit on the length of a chain of files."""
_MOST_FILES: Final = 64
_MOST_PARTS: Final = 1024
"""Limit on the parts of one dataset in other files or datasets."""
_NUMBERS: Final = "biufcmM"


def open_linked(where: Where, how: Opening) -> Contents:
    """Return the contents of an HDF5 file, and of other files below `how.follow`.

    Raises
    ------
    DataFileError
        If the file is missing, or HDF5 cannot read it.
    """
    if how.follow is None or isinstance(where, Ranges):
        return open_hdf5(where, how)
    return _Outside(how, {}).open(where, ())


class _Outside:
    """Files that a file refers to, each opened once."""

    def __init__(self, how: Opening, opened: dict[Path, Contents]) -> None:
        self.how, self.opened = how, opened

    def open(self, path: Path, chain: tuple[Path, ...]) -> Contents:
        """Return the contents of a file; `chain` has the real paths of the files that referred to it."""
        import h5py  # noqa: PLC0415 - an extra

        contents = open_hdf5(path, self.how)
        led = [loss for loss in contents.losses if loss.code == "link" and loss.name]
        if not led:
            return contents
        own = (*chain, path.resolve())
        with reading(path, "HDF5"), h5py.File(path, "r") as file:
            for loss in led:
                try:
                    contents = self._with(contents, file, path, loss, own)
                except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what is damaged
                    told = unread(f"{loss.name!r} cannot be followed", loss.name, error)
                    contents = attrs.evolve(contents, losses=_without(contents.losses, loss, (told,)))
        return _with_soft(contents, led)

    def _with(
        self, contents: Contents, file: "h5py.File", path: Path, loss: Loss, chain: tuple[Path, ...]
    ) -> Contents:
        """Return the contents of a file, with the target of one name."""
        import h5py  # noqa: PLC0415 - an extra

        link = file.get(loss.name, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            found = self._linked(loss.name, link, path, chain)
        elif isinstance(link, h5py.HardLink) and isinstance(file[loss.name], h5py.Dataset):
            found = self._stored(loss.name, file, path)
        else:
            return contents
        if isinstance(found, Loss):
            return attrs.evolve(contents, losses=_without(contents.losses, loss, (found,)))
        return _joined(contents, found, loss, file)

    def _linked(
        self, name: str, link: "h5py.ExternalLink", path: Path, chain: tuple[Path, ...]
    ) -> Contents | Loss:
        """Return the target of an external link, under the name of the link."""
        what = f"the link {name!r}"
        target = followed(link.filename, path, self.how.follow, name, what)
        if isinstance(target, Loss):
            return target
        if target in chain or len(chain) > _DEEPEST:
            ends = "back to itself" if target in chain else f"through more than {_DEEPEST} files"
            return Loss(f"{what} leads {ends}, by the file {link.filename!r}", name, "link")
        if target not in self.opened:
            if len(self.opened) >= _MOST_FILES:
                return Loss(f"{what} leads to one of more than {_MOST_FILES} files", name, "link")
            self.opened[target] = self.open(target, chain)
        found = _below(self.opened[target], link.path, name)
        if found is None:
            text = f"{what} leads to {link.path!r} in the file {link.filename!r}, where there is no tensor"
            return Loss(text, name, "link")
        return found

    def _stored(self, name: str, file: "h5py.File", path: Path) -> Contents | Loss:
        """Return a dataset whose elements are in other files, if all of these may be followed."""
        found = _dataset(file, name)
        base = self._folder_of(found, file, name, path)
        if isinstance(base, Loss):
            return base
        if found.dtype.kind not in _NUMBERS or found.dtype.subdtype is not None:
            shown = str(found.dtype)[:60]
            text = f"the dataset {name!r} has elements {shown} in other files, where numbers are read"
            return Loss(text, name, "type")
        if max(found.shape, default=0) > self.how.limits.extent:
            text = f"{name!r} has the extents {found.shape}; {self.how.limits.extent} is the most"
            return Loss(text, name, "member", "limits=Limits(extent=...) can raise it")
        packing = "virtual" if found.is_virtual else "external"
        return Contents({name: Held(0, found.nbytes, packing, partial(self._read, path, name))})

    def _read(self, path: Path, name: str) -> "View[Any]":
        """Return a view of such a dataset. Check its files again, as they may have been replaced."""
        import h5py  # noqa: PLC0415 - an extra

        from tensorwrapper.selection import ArraySource, as_view  # noqa: PLC0415 - other kinds need no views

        file = h5py.File(path, "r")
        found = _dataset(file, name)
        base = self._folder_of(found, file, name, path)
        if isinstance(base, Loss):
            raise DataFileError(base)
        # HDF5 opens the other files by their paths, and reads a missing one as fill values.
        same = UnchangedFiles.at({base / own for own, _ in _targets(found) if own != "."})
        if not found.is_virtual:
            # HDF5 shares the folder of external files between all open handles of a dataset. Only a file with
            # another driver has its own.
            access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
            access.set_efile_prefix(str(base).encode())
            file = h5py.File(stream_over(memoryview(map_whole(path, "HDF5"))), "r")
            found = h5py.Dataset(h5py.h5d.open(file.id, name.encode(), access))
        labels = [own.label or None for own in found.dims]
        return placed(as_view(CheckedSource(ArraySource(found), path, "HDF5", name, same)), labels, None)

    def _folder_of(self, found: "h5py.Dataset", file: "h5py.File", name: str, path: Path) -> Path | Loss:
        """Return the folder of the files with the elements of a dataset, or why one is not followed."""
        what, targets = f"the dataset {name!r}", _targets(found)
        # HDF5 first searches for virtual datasets next to the file.
        folders = [path.parent, *([] if found.is_virtual else [Path(str(self.how.follow))])]
        if len(targets) > _MOST_PARTS:
            return Loss(f"{what} is in {len(targets)} parts; {_MOST_PARTS} are the most", name, "link")
        for target, source in targets:
            if "%" in target + (source or ""):
                return Loss(f"{what} leads to files by the pattern {target!r}, {source!r}", name, "link")
            if source is not None and target == ".":
                if not _is_plain(file, source):
                    return Loss(f"{what} leads to {source!r}, which is not a plain dataset", name, "link")
                continue
            place = followed(target, path, self.how.follow, name, what)
            if isinstance(place, Loss):
                return place
            folders = [own for own in folders if (own / target).resolve() == place]
            if not folders:
                return Loss(f"{what} leads to {target!r} and to files in other folders", name, "link")
            if source is not None:
                # Open without `follow`, because HDF5 would follow any reference in that file.
                alone = open_hdf5(place, attrs.evolve(self.how, follow=None, raw=True))
                if source.strip("/") not in alone.held:
                    text = f"{what} leads to {source!r} in {target!r}, which is not a plain dataset"
                    return Loss(text, name, "link")
        return folders[0].resolve()


def _dataset(file: "h5py.File", name: str) -> "h5py.Dataset":
    import h5py  # noqa: PLC0415 - an extra

    return h5py.Dataset(h5py.h5d.open(file.id, name.encode()))


def _is_plain(file: "h5py.File", name: str) -> bool:
    """Return True if a dataset has its elements in this file, and is not reached by a link."""
    import h5py  # noqa: PLC0415 - an extra

    parts = [own for own in name.split("/") if own]
    above = ["/".join(parts[: k + 1]) for k in range(len(parts))]
    if not all(isinstance(file.get(own, getlink=True), h5py.HardLink) for own in above):
        return False
    found = file[name]
    return isinstance(found, h5py.Dataset) and not isinstance(look_at(found, name), Loss)


def _targets(found: "h5py.Dataset") -> list[tuple[str, str | None]]:
    """Return the files with elements of a dataset, and for a virtual dataset the dataset in each."""
    if found.is_virtual:
        return list(dict.fromkeys([(own.file_name, own.dset_name) for own in found.virtual_sources()]))
    return [(str(own), None) for own in dict.fromkeys([own[0] for own in found.external or ()])]


def _renamed(path: str, name: str, own: str, held: Held | None = None) -> str | None:
    """Return a name at or below a path, with the path replaced; None for other names."""
    if own == path:
        return name
    if not path:
        return f"{name}/{own}"
    # Fields of records have the name of the dataset as a prefix with a dot.
    is_field = held is not None and held.packing == "field" and own.startswith(f"{path}.")
    return name + own[len(path) :] if is_field or own.startswith(f"{path}/") else None


def _below(contents: Contents, target: str, name: str) -> Contents | None:
    """Return the contents of a file at or below a path, under another name; None if empty."""
    path = target.strip("/")
    if contents.resolve is not None:
        path = contents.resolve(path) or path

    moved = partial(_renamed, path, name)

    def losses(given: Iterable[Loss]) -> tuple[Loss, ...]:
        pairs = [(loss, moved(loss.name)) for loss in given if loss.name]
        return tuple([_renamed_loss(loss, own) for loss, own in pairs if own is not None])

    def attributes() -> Mapping[str, Sequence[str] | Loss]:
        pairs = [(moved(own), keys) for own, keys in contents.attributes().items()]
        return {own: keys for own, keys in pairs if own is not None}

    held = {new: own for old, own in contents.held.items() if (new := moved(old, own)) is not None}
    aliases: dict[str, str] = {}
    listed: dict[str, str] = {}
    for old, own in contents.aliases.items():
        new, first = moved(old), moved(own, contents.held.get(own)) or listed.get(own)
        if new is None:
            continue
        if first is None:
            # The first name is not below the path.
            held[new] = contents.held[own]
            listed[own] = new
        else:
            aliases[new] = first
    found = losses(contents.losses)
    if not held and not found:
        return None
    return Contents(
        held,
        losses=found,
        aliases=aliases,
        attributes=attributes,
        unsaid=lambda: losses(contents.unsaid()),
        told=lambda: losses(contents.told()),
    )


def _renamed_loss(loss: Loss, name: str) -> Loss:
    return unread(f"{name!r} in another file", name, DataFileError(loss))


def _joined(contents: Contents, found: Contents, loss: Loss, file: "h5py.File") -> Contents:
    """Return the contents of a file, with the target of a name instead of its loss.

    Fields of records are renamed if another object has their name, as within one file.
    """
    fixed = {*found.aliases, *[name for name, own in found.held.items() if own.packing != "field"]}
    free = FreeNames({*contents.held, *contents.aliases, *fixed})
    told: list[Loss] = []

    def moved(held: Mapping[str, Held], taken: Callable[[str], bool]) -> dict[str, str]:
        """Return new names for the fields that must be renamed."""
        names: dict[str, str] = {}
        for name, own in held.items():
            if own.packing != "field" or not taken(name):
                continue
            names[name] = free.claim(name)
            while names[name] in file:
                names[name] = free.claim(name)
            told.append(renamed(name, names[name]))
        return names

    before = moved(contents.held, fixed.__contains__)
    others = {*contents.held, *contents.aliases}
    after = moved(found.held, lambda name: name in others or name in file)
    held = {before.get(name, name): own for name, own in contents.held.items()}
    held |= {after.get(name, name): own for name, own in found.held.items()}
    aliases = {name: before.get(own, own) for name, own in contents.aliases.items()}
    aliases |= {name: after.get(own, own) for name, own in found.aliases.items()}
    return attrs.evolve(
        contents,
        held=held,
        losses=(*_without(contents.losses, loss, found.losses), *told),
        aliases={name: own for name, own in aliases.items() if name not in held},
        attributes=lambda: {**contents.attributes(), **found.attributes()},
        unsaid=lambda: (*contents.unsaid(), *found.unsaid()),
        told=lambda: (*contents.told(), *found.told()),
    )


def _with_soft(contents: Contents, led: Sequence[Loss]) -> Contents:
    """Return the contents without losses of working soft links."""
    held, aliases, working = contents.held, dict(contents.aliases), list[Loss]()
    for loss in led:
        # `resolve` returns other names unchanged.
        target = None if contents.resolve is None else contents.resolve(loss.name)
        if target is None or target == loss.name:
            continue
        if target in held:
            aliases.setdefault(loss.name, target)
            working.append(loss)
        elif any(name.startswith(f"{target}/") for name in held):
            working.append(loss)
    losses = tuple([own for own in contents.losses if own not in working])
    return attrs.evolve(contents, losses=losses, aliases=aliases)


def _without(losses: tuple[Loss, ...], loss: Loss, others: tuple[Loss, ...]) -> tuple[Loss, ...]:
    return (*[own for own in losses if own is not loss], *others)
