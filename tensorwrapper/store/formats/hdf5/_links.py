"""All names in an HDF5 file, with their targets.

Soft links, hard links and groups under several names are resolved inside the file by path. External links are
never opened.
"""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from tensorwrapper.store.formats._links import Links
from tensorwrapper.store.records._loss import Loss, unread

if TYPE_CHECKING:
    import h5py

_DEPTH: Final = 256
"""Limit on the nesting depth of groups."""
_Enter: TypeAlias = "Callable[[str, h5py.Group | h5py.Dataset], Collection[str] | None]"
"""Callback for named objects; returns the members of a group to hide, or None to skip all."""


def walk(file: "h5py.File", enter: _Enter) -> Links:
    """Call `enter` once for each dataset and group, in the order of names; return the other names."""
    links = Links()
    first = {place_of(file.id): ""}
    root = iter(_names("", file, enter("", file) or (), links))
    left: list[tuple[str, h5py.Group, Iterator[str]]] = [("", file, root)]
    while left:
        above, group, names = left[-1]
        own = next(names, None)
        if own is None:
            left.pop()
            continue
        name = f"{above}/{own}" if above else own
        if _is_elsewhere(group, own, name, above, links):
            continue
        found = _new_at(group, own, name, first, links)
        try:
            parts = None if found is None else enter(name, found)
        except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what is damaged
            links.losses.append(unread(f"{name!r} cannot be read", name, error))
            continue
        if parts is None:
            continue
        if len(left) > _DEPTH:
            links.losses.append(Loss(f"the group {name!r} is deeper than {_DEPTH} groups", name, "member"))
            continue
        inner = cast("h5py.Group", found)
        try:
            left.append((name, inner, iter(_names(name, inner, parts, links))))
        except Exception as error:  # noqa: BLE001 - as above
            links.losses.append(unread(f"the group {name!r} cannot be read", name, error))
    return links


def _names(above: str, group: "h5py.Group", parts: Collection[str], links: Links) -> list[str]:
    """Return the valid names in a group, without those of parts, and record losses for the others."""
    found: list[str] = []
    for own in group:
        # h5py returns bytes for names that are not UTF-8.
        if isinstance(cast("object", own), bytes):
            name = cast("bytes", own).decode("utf-8", "backslashreplace")
            text = f"the name {own!r} in the group {above or '/'!r} is not UTF-8"
            loss = Loss(text, f"{above}/{name}" if above else name, "name", f"h5py opens it: group[{own!r}]")
            links.losses.append(loss)
        elif own not in parts:
            found.append(own)
    return sorted(found)


def _is_elsewhere(group: "h5py.Group", own: str, name: str, above: str, links: Links) -> bool:
    """Record a soft or external link; return True if the name is such a link."""
    import h5py  # noqa: PLC0415 - an extra

    try:
        link = group.get(own, getlink=True)
    except Exception as error:  # noqa: BLE001 - h5py has no one word for links of other kinds, or that are no text
        text = f"the link {name!r} is of a kind that h5py does not know, or is not text: {error}"
        links.losses.append(Loss(text, name, "link"))
        return True
    if isinstance(link, h5py.ExternalLink):
        text = f"the link {name!r} leads to {link.path!r} in the file {link.filename!r}, and is not followed"
        links.losses.append(Loss(text, name, "link", "tw.open of that file has it"))
    elif isinstance(link, h5py.SoftLink):
        links.soft.add(name)
        links.targets[name] = link.path if link.path.startswith("/") else f"{above}/{link.path}"
    return not isinstance(link, h5py.HardLink)


def _new_at(
    group: "h5py.Group", own: str, name: str, first: dict[tuple[int, ...], str], links: Links
) -> "h5py.Group | h5py.Dataset | None":
    """Return the target of a name if it is a group or dataset that was not visited yet."""
    import h5py  # noqa: PLC0415 - an extra

    try:
        found = group[own]
        place = place_of(found.id)
    except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what it cannot open
        links.losses.append(unread(f"{name!r} cannot be opened", name, error))
        return None
    if isinstance(found, h5py.Datatype):
        text = f"{name!r} is a type of elements, and no array"
        links.types.append(Loss(text, name, "member", "h5py's file[name] has it"))
        return None
    if place in first:
        links.targets[name] = first[place]
        return None
    first[place] = name
    return found


def place_of(found: object) -> tuple[int, ...]:
    """Return the identity of an object among all open objects."""
    import h5py  # noqa: PLC0415 - an extra

    # Do not use `h5o.get_info`, which measures the whole chunk index.
    said = h5py.h5g.get_objinfo(found)
    return *said.fileno, *said.objno
