"""Conventions that assemble tensors from a group."""

from collections.abc import Callable, Mapping
from typing import Final

from tensorwrapper.store.formats.conventions._awkward import awkward_of
from tensorwrapper.store.formats.conventions._file_view import Group, Put, broken
from tensorwrapper.store.formats.conventions._nullable import nullable_of
from tensorwrapper.store.formats.conventions._sparse import sparse_of
from tensorwrapper.store.records._loss import Loss

_CONVENTIONS: Final[Mapping[str, Callable[[Group], Put | None]]] = {
    "a sparse matrix": sparse_of,
    "a nullable column": nullable_of,
    "an array of Awkward Array": awkward_of,
}


def put_together(group: Group) -> Put | Loss | None:
    """Return the tensors of a group, a loss if it violates its convention, or None if it declares none."""
    for convention, found_in in _CONVENTIONS.items():
        try:
            found = found_in(group)
        except Exception as error:  # noqa: BLE001 - whatever a library says of damage: the arrays stay readable
            return broken(group.name, convention, error)
        if found is not None:
            return found
    return None
