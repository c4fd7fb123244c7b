"""All names that an HDF5 file has: what each leads to, and which of them lead to the same thing.

Soft links, second names and groups under several names are followed inside the file, by their text. What
leads to another file is never opened.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, cast, final

from tensorwrapper.store.records._loss import Loss, unread

if TYPE_CHECKING:
    import h5py

__all__ = ["Links", "walk"]

_DEPTH: Final = 256
"""Groups in groups that are gone into."""
_FOLLOWED: Final = 64
"""Links that one name may go through: in a circle there is no end."""

_Enter: TypeAlias = "Callable[[str, h5py.Group | h5py.Dataset], Collection[str] | None]"
"""Takes note of what has a name; says what in a group has no name of its own, or that nothing in it has."""


@final
class Links:
    """The names of a file that are not the first of what they lead to."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}
        """By the path of a link the path that it leads to, from the root on."""
        self.soft: set[str] = set()
        self.losses: list[Loss] = []

    def resolve(self, path: str) -> str | None:
        """Return the first name of what a path leads to; None if it goes in a circle."""
        found, followed, left = "", 0, _parts(path)
        while left:
            part = left.pop()
            found = f"{found}/{part}" if found else part
            target = self.targets.get(found)
            if target is not None:
                followed += 1
                if followed > _FOLLOWED:
                    return None
                left += _parts(target)
                found = ""
        return found

    def aliases(
        self, names: list[str], groups: set[str], most: int, fields: Mapping[str, Mapping[str, str]]
    ) -> dict[str, str]:
        """Return the other names of tensors, with the first names; at most so many: others work as well.

        `fields` has by the name of records what its fields add to it, with the names of these.
        """
        known, ordered = set(names), sorted(names)
        links = sorted(self.targets)
        direct = {link: own for link in links if (own := self.resolve(link)) is not None}
        ends: dict[str, Mapping[str, str]] = {**fields, **{name: {"": name} for name in known}}
        found: dict[str, str] = {}
        for link, own in direct.items():
            found |= _ended(link, ends.get(own, {}), known)
            if len(found) >= most:
                return found
        for link, own in direct.items():
            if own not in groups:
                continue
            above = f"{own}/" if own else ""
            for name in _below(ordered, above):
                found.setdefault(f"{link}/{name[len(above) :]}", name)
                if len(found) >= most:
                    return found
            for other in _below(links, above):
                inner = ends.get(direct.get(other, ""), {})
                found = _ended(f"{link}/{other[len(above) :]}", inner, known) | found
        return found

    def broken(self, known: set[str], parts: set[str]) -> Iterator[Loss]:
        """Yield what is to be said of soft links that lead to none of what is known, or to parts of rows."""
        for link in sorted(self.soft):
            own = self.resolve(link)
            if own is None or own not in known:
                there = "a part of rows" if own in parts else "no tensor or group"
                text = f"the link {link!r} leads to {self.targets[link]!r}, where there is {there}"
                yield Loss(text, link, "link")


def _ended(link: str, ends: Mapping[str, str], known: set[str]) -> dict[str, str]:
    """Return a link with each end, and what that is a name of; no name that something else has."""
    return {f"{link}{end}": name for end, name in ends.items() if f"{link}{end}" not in known}


def _parts(path: str) -> list[str]:
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _below(ordered: list[str], above: str) -> Iterator[str]:
    for place in range(bisect_left(ordered, above), len(ordered)):
        if not ordered[place].startswith(above):
            return
        yield ordered[place]


def walk(file: "h5py.File", enter: _Enter) -> Links:
    """Show all datasets and groups once, in the order of their names, and return the other names."""
    links = Links()
    first = {_place_of(file): ""}
    left: list[tuple[str, h5py.Group, Iterator[str]]] = [("", file, iter(sorted(file)))]
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
            links.losses.append(Loss(f"the group {name!r} lies deeper than {_DEPTH} groups", name, "member"))
            continue
        inner = cast("h5py.Group", found)
        left.append((name, inner, iter(sorted(set(inner).difference(parts)))))
    return links


def _is_elsewhere(group: "h5py.Group", own: str, name: str, above: str, links: Links) -> bool:
    """Take note of a name that leads to something by its text; tell whether it is one."""
    import h5py  # noqa: PLC0415 - an extra

    try:
        link = group.get(own, getlink=True)
    except TypeError:
        text = f"the link {name!r} is of a kind that h5py does not know"
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
    group: "h5py.Group", own: str, name: str, first: dict[tuple[int, int], str], links: Links
) -> "h5py.Group | h5py.Dataset | None":
    """Return what a name leads to, if it is a group or a dataset that no other name led to before."""
    import h5py  # noqa: PLC0415 - an extra

    try:
        found = group[own]
        place = _place_of(found)
    except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what it cannot open
        links.losses.append(unread(f"{name!r} cannot be opened", name, error))
        return None
    if isinstance(found, h5py.Datatype):
        return None
    if place in first:
        links.targets[name] = first[place]
        return None
    first[place] = name
    return found


def _place_of(found: "h5py.Group | h5py.Dataset | h5py.Datatype") -> tuple[int, int]:
    import h5py  # noqa: PLC0415 - an extra

    said = h5py.h5o.get_info(found.id)
    return said.fileno, said.addr
