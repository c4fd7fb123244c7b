# ruff: noqa: T201, PLW0108 - it prints a table; what is timed are functions without arguments
"""Views of rows and of many parts beside Awkward Array and NumPy: times in turns, and peaks, in one run.

``python tests/benchmarks/selection/peers.py [WORDS]`` prints a line for each piece of work whose name has one
of the words: processor time, the least of many rounds in which all take turns, and the traced peak in MiB,
the result included.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import awkward as ak
import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel

Case = dict[str, Callable[[], Any]]

SECONDS = 3.0
RANDOM = np.random.default_rng(1)


def main() -> None:
    words = sys.argv[1:]
    for group in (joined_rows, rows, rows_of_rows, two_tensors, small, shards):
        for name, contenders in group():
            if not words or any(word in name for word in words):
                print(f"{name}: {'; '.join(measured(contenders))}", flush=True)


def measured(contenders: Case) -> Iterator[str]:
    best = dict.fromkeys(contenders, float("inf"))
    for run in contenders.values():
        run()
    end = time.process_time() + SECONDS
    for number in range(200):
        if number > 2 and time.process_time() > end:
            break
        for who, run in contenders.items():
            begin = time.process_time()
            made = run()
            best[who] = min(best[who], time.process_time() - begin)
            del made
    for who, run in contenders.items():
        tracemalloc.start()
        made = run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del made
        yield f"{who} {best[who] * 1e3:.3f} ms, {peak / 2**20:.0f} MiB"


def splits_of(counts: Any) -> Any:
    """Return where rows begin that have so many elements, as whoever does it by hand."""
    return np.concatenate([[0], np.cumsum(counts)])


def lists(starts: Any, counts: Any, elements: Any, step: int = 1) -> Any:
    """Return splits and elements of rows that begin anywhere, by one table of places."""
    offsets = splits_of(counts)
    within = np.arange(offsets[-1])
    return offsets, elements[np.repeat(starts - step * offsets[:-1], counts) + step * within]


def splits_and_elements(count: int, longest: int = 7) -> tuple[Any, Any]:
    splits = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(RANDOM.integers(0, longest + 1, count), out=splits[1:])
    return splits, RANDOM.random(int(splits[-1]))


def tensor(splits: Any, elements: Any) -> Any:
    return tw.from_buffer(elements, tw.Shape.from_offsets(splits))


def array(splits: Any, elements: Any) -> Any:
    numbers = ak.contents.NumpyArray(elements)
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(splits), numbers))


def joined_rows() -> Iterator[tuple[str, Case]]:
    parts = [splits_and_elements(10**4) for _ in range(1000)]
    ours, theirs = [tensor(*own) for own in parts], [array(*own) for own in parts]

    def by_hand() -> object:
        lengths = np.concatenate([np.diff(splits) for splits, _ in parts])
        return np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([own for _, own in parts])

    yield (
        "1000 parts of 10^4 rows joined",
        {
            "tensorwrapper": lambda: sel.concat(ours).compute(),
            "NumPy": by_hand,
            "Awkward": lambda: ak.concatenate(theirs),
        },
    )
    view, many, few = sel.concat(ours), RANDOM.integers(0, 10**7, 10**6), RANDOM.integers(0, 10**7, 1000)
    yield (
        "10^6 rows from anywhere of 1000 parts",
        {
            "tensorwrapper": lambda: view[many].compute(),
            "Awkward, which joins first": lambda: ak.to_packed(ak.concatenate(theirs)[many]),
        },
    )
    yield "1000 rows from anywhere of 1000 parts", {"tensorwrapper": lambda: view[few].compute()}
    yield "ten rows of 1000 parts, written", {"tensorwrapper": lambda: view[5_000_000:5_000_010]}
    yield "ten rows of 1000 parts, computed", {"tensorwrapper": lambda: view[5_000_000:5_000_010].compute()}
    yield "rows of 1000 parts turned, written", {"tensorwrapper": lambda: view[::-1]}


def rows() -> Iterator[tuple[str, Case]]:
    splits, elements = splits_and_elements(10**6)
    whole, theirs = tensor(splits, elements), array(splits, elements)
    view, lengths, more = sel.as_view(whole), np.diff(splits), theirs > 0.5
    anywhere = RANDOM.integers(0, 10**6, 10**6)
    ascending = np.sort(RANDOM.choice(10**6, 5 * 10**5, replace=False))

    def by_hand() -> object:
        starts = splits[anywhere]
        counts = splits[anywhere + 1] - starts
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return offsets, elements[np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])]

    def masked_by_hand() -> object:
        chosen = elements > 0.5
        return np.concatenate([[0], np.cumsum(chosen)])[splits], elements[chosen]

    def ascending_by_hand() -> object:
        starts = splits[ascending]
        return lists(starts, splits[ascending + 1] - starts, elements)

    def first_by_hand() -> object:
        filled = lengths > 0
        return splits_of(filled), elements[splits[:-1][filled]]

    def positions_by_hand() -> object:
        return chosen, elements[np.repeat(splits[:-1], counts) + places]

    def padded_by_hand() -> object:
        out = np.zeros((10**6, 7))
        out[np.arange(7) < lengths[:, np.newaxis]] = elements
        return out

    yield (
        "10^6 rows from anywhere",
        {
            "tensorwrapper": lambda: view[anywhere].compute(),
            "NumPy": by_hand,
            "Awkward": lambda: ak.to_packed(theirs[anywhere]),
        },
    )
    for name, key, hand in (
        ("5 10^5 rows that ascend", ascending, ascending_by_hand),
        ("10^6 rows turned", np.s_[::-1], lambda: lists(splits[:-1][::-1], lengths[::-1], elements)),
        ("each of 10^6 rows backwards", np.s_[:, ::-1], lambda: lists(splits[1:] - 1, lengths, elements, -1)),
        ("the first of each of 10^6 rows", np.s_[:, :1], first_by_hand),
    ):
        yield (
            name,
            {
                "tensorwrapper": lambda key=key: view[key].compute(),
                "NumPy": hand,
                "Awkward": lambda key=key: ak.to_packed(theirs[key]),
            },
        )
    mask = whole > 0.5
    yield (
        "10^6 rows by a mask of their own",
        {
            "tensorwrapper": lambda: view[mask].compute(),
            "NumPy": masked_by_hand,
            "Awkward": lambda: theirs[more],
        },
    )
    counts = np.minimum(lengths, RANDOM.integers(0, 4, 10**6))
    chosen = np.concatenate([[0], np.cumsum(counts)])
    places = (RANDOM.random(int(chosen[-1])) * np.repeat(lengths, counts)).astype(np.int64)
    positions, their_positions = tensor(chosen, places), array(chosen, places)
    yield (
        "10^6 rows by positions of their own",
        {
            "tensorwrapper": lambda: view[positions].compute(),
            "NumPy, which looks at none": positions_by_hand,
            "Awkward": lambda: ak.to_packed(theirs[their_positions]),
        },
    )
    yield (
        "where of 10^6 rows",
        {
            "tensorwrapper": lambda: sel.where(mask, view, 0.0).compute(),
            "NumPy": lambda: np.where(elements > 0.5, elements, 0.0),
            "Awkward": lambda: ak.where(more, theirs, 0.0),
        },
    )
    yield (
        "10^6 rows padded to 7",
        {
            "tensorwrapper": lambda: view.pad_rows(7).compute(),
            "NumPy": padded_by_hand,
            "Awkward": lambda: ak.fill_none(ak.pad_none(theirs, 7), 0.0),
        },
    )
    numbers = RANDOM.random(10**6)
    one_each = sel.as_view(numbers)
    yield (
        "one number for each of 10^6 rows",
        {
            "tensorwrapper": lambda: one_each.broadcast(whole.shape).compute(),
            "NumPy": lambda: np.repeat(numbers, lengths),
            "Awkward": lambda: ak.broadcast_arrays(numbers, theirs)[0],
        },
    )


def rows_of_rows() -> Iterator[tuple[str, Case]]:
    long_splits, long_elements = np.arange(10**4 + 1) * 1000, RANDOM.random(10**7)
    long, their_long = sel.as_view(tensor(long_splits, long_elements)), array(long_splits, long_elements)
    some = RANDOM.integers(0, 10**4, 10**4)
    by_row = long_elements.reshape(10**4, 1000)
    yield (
        "10^4 rows of 1000 from anywhere",
        {
            "tensorwrapper": lambda: long[some].compute(),
            "NumPy, which knows that all have 1000": lambda: by_row[some],
            "Awkward": lambda: ak.to_packed(their_long[some]),
        },
    )
    outer = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 3, 250_000))])
    inner = splits_and_elements(int(outer[-1]))
    deep = sel.as_view(sel.as_view(tensor(*inner)).unflatten(np.diff(outer)).compute())
    their_deep = ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(outer), array(*inner).layout))
    few = RANDOM.integers(0, 250_000, 250_000)
    yield (
        "250 000 rows of rows from anywhere",
        {
            "tensorwrapper": lambda: deep[few].compute(),
            "Awkward": lambda: ak.to_packed(their_deep[few]),
        },
    )


def two_tensors() -> Iterator[tuple[str, Case]]:
    parts = [splits_and_elements(5 * 10**5) for _ in range(2)]
    ours, theirs = [tensor(*own) for own in parts], [array(*own) for own in parts]
    (first, numbers), (second, others) = parts

    def woven(begins: Any, moves: Any) -> object:
        out = np.empty(begins[-1])
        for splits, elements, move in ((first, numbers, moves[0]), (second, others, moves[1])):
            counts = np.diff(splits)
            out[np.repeat(move - splits[:-1], counts) + np.arange(splits[-1])] = elements
        return begins, out

    def in_turns() -> object:
        counts = np.stack([np.diff(first), np.diff(second)], axis=1).reshape(-1)
        begins = splits_of(counts)
        return woven(begins, (begins[:-1:2], begins[1::2]))

    def side_by_side() -> object:
        begins = first + second
        return woven(begins, (begins[:-1], begins[:-1] + np.diff(first)))

    yield (
        "2 times 5 10^5 rows in turns",
        {"tensorwrapper": lambda: sel.interleave(ours).compute(), "NumPy": in_turns},
    )
    yield (
        "2 times 5 10^5 rows side by side",
        {
            "tensorwrapper": lambda: sel.concat(ours, mode=1).compute(),
            "NumPy": side_by_side,
            "Awkward": lambda: ak.concatenate(theirs, axis=1),
        },
    )
    few = splits_and_elements(4)
    four, their_four = tensor(*few), array(*few)
    view = sel.as_view(four)
    yield (
        "two of four rows",
        {
            "tensorwrapper": lambda: view[[3, 0]].compute(),
            "Awkward": lambda: their_four[[3, 0]],
        },
    )
    yield (
        "four rows twice",
        {
            "tensorwrapper": lambda: sel.concat([four, four]).compute(),
            "Awkward": lambda: ak.concatenate([their_four, their_four]),
        },
    )


def small() -> Iterator[tuple[str, Case]]:
    x = np.arange(100.0).reshape(10, 10)
    own, mask = tw.as_tensor(x), x > 50
    view = sel.as_view(own)
    yield (
        "10 x 10, joined",
        {
            "tensorwrapper": lambda: sel.concat([own, own]).compute(),
            "NumPy": lambda: np.concatenate([x, x]),
        },
    )
    yield (
        "10 x 10, padded",
        {
            "tensorwrapper": lambda: sel.pad(own, [(1, 1), (1, 1)]).compute(),
            "NumPy": lambda: np.pad(x, 1),
        },
    )
    yield (
        "10 x 10, chosen by a mask",
        {
            "tensorwrapper": lambda: sel.where(mask, own, 0.0).compute(),
            "NumPy": lambda: np.where(mask, x, 0.0),
        },
    )
    yield (
        "100 random numbers",
        {
            "tensorwrapper": lambda: sel.random((100,), seed=1).compute(),
            "NumPy": lambda: np.random.default_rng(1).random(100),
        },
    )
    yield "10 x 10, a slice", {"tensorwrapper": lambda: view[1:3].compute(), "NumPy": lambda: x[1:3].copy()}


def shards() -> Iterator[tuple[str, Case]]:
    for count in (10**3, 10**4, 10**5):
        parts = [tw.as_tensor(np.arange(10.0)) for _ in range(count)]
        arrays = [np.asarray(own) for own in parts]
        view, places = sel.concat(parts), RANDOM.integers(0, 10 * count, 1000)
        yield f"{count} shards, joined", {"tensorwrapper": lambda parts=parts: sel.concat(parts)}
        yield (
            f"{count} shards, joined and computed",
            {
                "tensorwrapper": lambda parts=parts: sel.concat(parts).compute(),
                "NumPy": lambda arrays=arrays: np.concatenate(arrays),
            },
        )
        yield f"{count} shards, computed again", {"tensorwrapper": view.compute}
        yield f"{count} shards, backwards", {"tensorwrapper": lambda view=view: view[::-1].compute()}
        yield (
            f"1000 places of {count} shards",
            {
                "tensorwrapper": lambda view=view, places=places: view[places].compute(),
                "NumPy": lambda arrays=arrays, places=places: np.concatenate(arrays)[places],
            },
        )


if __name__ == "__main__":
    main()
