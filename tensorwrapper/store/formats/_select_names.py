"""Select tensors of a file: by names, or by shell patterns."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import cast, final

from tensorwrapper._error_text import brief
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.store.records._loss import Loss


@final
@frozen
class NameFilter:
    """Tensors to include, by default all, and tensors to exclude from these."""

    only: tuple[str, ...] | None
    skip: tuple[str, ...]

    @classmethod
    def of(cls, only: str | Iterable[str] | None, skip: str | Iterable[str]) -> "NameFilter":
        """Return the filter for a caller's arguments; a single string is one entry."""
        entries = None if only is None else _entries(only, "only")
        return cls(entries, _entries(skip, "skip"))

    def with_fields(self, fields: Mapping[str, Sequence[str]]) -> "NameFilter":
        """Return a filter in which names of records are replaced by the names of all of their fields."""
        entries = [
            None if own is None else tuple([name for entry in own for name in fields.get(entry, (entry,))])
            for own in (self.only, self.skip)
        ]
        return NameFilter(entries[0], entries[1] or ())

    def among(self, names: Sequence[str], aliases: Mapping[str, str], losses: Sequence[Loss]) -> list[str]:
        """Return the selected names, in order.

        Raises
        ------
        TensorNameError
            If an entry matches no name.
        """
        known = [*names, *aliases, *[loss.name for loss in losses if loss.name]]
        there = set(known)
        for entry in (*(self.only or ()), *self.skip):
            if entry not in there and not any(fnmatchcase(name, entry) for name in known):
                shown = ", ".join(map(repr, names[:8]))
                raise TensorNameError(f"{entry!r} matches none of the names {shown}")
        taken = {aliases.get(name, name) for name in known if self._is_wanted(name, there)}
        # Skipping an alias does not skip the first name.
        return [name for name in names if name in taken and not _fits(name, self.skip, there)]

    def told(self, losses: Iterable[Loss]) -> list[Loss]:
        """Return the losses of tensors that were requested."""
        kept = list(losses)
        names = {loss.name for loss in kept}
        return [loss for loss in kept if not loss.name or self._is_wanted(loss.name, names)]

    def _is_wanted(self, name: str, there: set[str]) -> bool:
        taken = self.only is None or _fits(name, self.only, there)
        return taken and not _fits(name, self.skip, there)


def _entries(given: str | Iterable[str], what: str) -> tuple[str, ...]:
    if not isinstance(cast("object", given), Iterable):
        raise ConversionError(f"{what} must be a name, a pattern or a list of them, not {brief(given)}")
    entries = (given,) if isinstance(given, str) else tuple(given)
    for entry in entries:
        if not isinstance(cast("object", entry), str):
            raise TensorNameError(f"{what} must have names or patterns of type str, not {entry!r}")
    return entries


def _fits(name: str, entries: tuple[str, ...], there: set[str]) -> bool:
    """Return True if a name is one of the entries, or matches an entry that is not a name."""
    return any(name == entry or (entry not in there and fnmatchcase(name, entry)) for entry in entries)
