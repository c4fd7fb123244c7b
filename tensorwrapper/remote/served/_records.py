"""Rows of several fields of records, in one answer."""

from collections.abc import Sequence

import numpy as np

from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.protocol._events import AskRecords, FieldRows
from tensorwrapper.remote.served._element_reader import places_of
from tensorwrapper.remote.served._served_tensor import ServedTensor
from tensorwrapper.selection import Runs
from tensorwrapper.typing import IntArray


def share_splits(holdings: Sequence[ServedTensor]) -> None:
    """Give holdings with equal rows one table of them, so that it is sent once."""
    known: list[IntArray] = []
    for holding in holdings:
        splits = holding.splits
        if splits is not None:
            same = next((own for own in known if np.array_equal(own, splits)), None)
            holding.splits = splits if same is None else same
            known += [splits] if same is None else []


def rows_of_fields(request: AskRecords, holdings: Sequence[ServedTensor]) -> FieldRows:
    """Return the rows of fields that a request names: each table once, and elements if they are few.

    Raises
    ------
    RequestRefusedError
        If a row is missing, a field is neither rows nor a dense box, or the fields have other versions.
    """
    rows, limits = request.rows, holdings[0].limits
    tables: list[IntArray] = []
    numbers: list[int] = []
    for holding in holdings:
        splits = holding.splits
        place = -1
        if splits is not None:
            place = next((k for k, own in enumerate(tables) if own is splits), len(tables))
            tables += [splits] if place == len(tables) else []
        numbers.append(place)
    if 8 * (rows.size + rows.count) * len(tables) > limits.answer_bytes:
        raise RequestRefusedError("limit", f"{rows.size} rows are too many for one answer")
    wanted = _wanted(rows, holdings, numbers)
    version = holdings[0].facts.version
    # Without a table nothing is made for each row: a box may have any number of them.
    every = rows.numbers() if tables else rows.starts
    found = tuple([(own[rows.starts], own[every + 1] - own[every]) for own in tables])
    nbytes = sum(
        [own.size * holding.source.dtype.itemsize for own, holding in zip(wanted, holdings, strict=True)]
    )
    elements: list[tuple[memoryview, ...]] = []
    # Nulls have separate parts, and are read field by field.
    plain = not any(holding.is_nullable for holding in holdings)
    if plain and request.nbytes and nbytes <= min(request.nbytes, limits.answer_bytes):
        places: dict[int, IntArray] = {}
        for own, holding, number in zip(wanted, holdings, numbers, strict=True):
            if number >= 0 and holding.is_in_line:
                # Found once for all fields of one table.
                if number not in places:
                    places[number] = places_of(own.starts, own.lengths)
                read = holding.read_at(places[number])
            else:
                read = holding.read((own,), None)
            _check(request, read.version, version)
            elements.append(read.frames)
            # The bytes of strings are known only now.
            if sum([frame.nbytes for frames in elements for frame in frames]) > limits.answer_bytes:
                elements.clear()
                break
    for holding in holdings:
        _check(request, holding.facts.version, version)
    return FieldRows(version, found, tuple(numbers), tuple(elements))


def _wanted(rows: Runs, holdings: Sequence[ServedTensor], numbers: Sequence[int]) -> list[Runs]:
    """Return the runs of elements of each field, which are the same for all fields of one table."""
    known: dict[int, Runs] = {}
    wanted: list[Runs] = []
    for holding, number in zip(holdings, numbers, strict=True):
        if number < 0 or number not in known:
            known[number] = holding.runs_of(rows)
        wanted.append(known[number])
    return wanted


def _check(request: AskRecords, found: str, version: str) -> None:
    if found != version or request.version not in (version, ""):
        raise RequestRefusedError("changed", f"the records {request.name!r} are at version {found}")
