"""Names that link to other names: HDF5 links, and symbolic links in Zarr stores."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Final, final

from tensorwrapper.store.records._loss import Loss

_FOLLOWED: Final = 64
"""Limit on the links followed for one name, as links may form a cycle."""


@final
class Links:
    """Names in a file that are links, or further names of an object."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}
        """Absolute targets of links, by the path of the link."""
        self.soft: set[str] = set()
        self.losses: list[Loss] = []
        self.types: list[Loss] = []
        """Losses for named datatypes, which are not arrays."""

    def resolve(self, path: str) -> str | None:
        """Return the first name of the target of a path; None for a cycle of links."""
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
        """Return other names of tensors with their first names, at most `most`; unlisted names also work.

        `fields` maps names of records to the suffixes and names of their fields.
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
        """Yield losses for soft links to unknown objects or to parts of rows."""
        for link in sorted(self.soft):
            own = self.resolve(link)
            if own is None or own not in known:
                there = "a part of rows" if own in parts else "no tensor or group"
                text = f"the link {link!r} leads to {self.targets[link]!r}, where there is {there}"
                yield Loss(text, link, "link")


def _ended(link: str, ends: Mapping[str, str], known: set[str]) -> dict[str, str]:
    """Return a link with each suffix, with its target; skip names that are taken."""
    return {f"{link}{end}": name for end, name in ends.items() if f"{link}{end}" not in known}


def _parts(path: str) -> list[str]:
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _below(ordered: list[str], above: str) -> Iterator[str]:
    for place in range(bisect_left(ordered, above), len(ordered)):
        if not ordered[place].startswith(above):
            return
        yield ordered[place]
