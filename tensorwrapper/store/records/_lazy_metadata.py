"""Metadata of tensors and sets, parsed on access, because most readers never use them."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, final

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._loss import Loss, unread


def told_of(reads: Mapping[str, Callable[[], object]]) -> Callable[[], tuple[Loss, ...]]:
    """Return a function that reads all metadata once, and returns the losses of damaged metadata."""

    @cache
    def told() -> tuple[Loss, ...]:
        found: list[Loss] = []
        for name, read in reads.items():
            try:
                read()
            except DataFileError as error:
                found.append(unread(f"what is said of {name!r} cannot be read", name, error))
        return tuple(found)

    return told


@final
class LazyMetadata(Mapping[str, Any]):
    """Metadata of one object, parsed on first access."""

    __slots__ = ("_known", "_read")

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self._read = read
        self._known: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - what JSON says
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


@final
class LazyMetadataByName(Mapping[str, Any]):
    """Metadata of several objects by name, each parsed on access."""

    __slots__ = ("_reads",)

    def __init__(self, reads: Mapping[str, Callable[[], dict[str, Any]]]) -> None:
        self._reads = reads

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - what JSON says
        return self._reads[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._reads)

    def __len__(self) -> int:
        return len(self._reads)
