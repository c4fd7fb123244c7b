# ruff: noqa: T201 - it prints a table
"""The algebra of layouts, beside tensor-layouts and ``pycute``, the reference of CuTe in Python."""

import itertools
import random
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from tensorwrapper.layout import (
    Layout,
    coalesce,
    complement,
    compose,
    left_inverse,
    logical_divide,
    logical_product,
    right_inverse,
)
from tests.benchmarks.compare.measure import Row, Run, library

Verbs = tuple[Any, ...]
Drawn = tuple[tuple[int, ...], tuple[int, ...]]
"""Extents and strides."""
OURS: Verbs = (coalesce, compose, complement, right_inverse, left_inverse, logical_divide, logical_product)

FLAT, PERMUTED = ((2, 4, 6), (1, 2, 8)), ((2, 4, 6), (24, 1, 4))
OUTER, INNER, GAPS = ((4, 3), (3, 1)), (6, 2), ((2, 2, 4), (1, 4, 32))
EIGHT, MANY = ((8, 8), (8, 1)), ((2,) * 6, (1, 2, 4, 8, 16, 32))
CUBE, TILER = ((8, 8, 8), (64, 8, 1)), ((4, 1), (2, 4), (4, 2))


def _ours(layout: tuple[Any, Any]) -> Layout:
    return Layout.parse(f"{layout[0]}:{layout[1]}".replace(",)", ")").replace(" ", ""), order="colex")


def algebra() -> Iterator[Row]:
    """One operation of small layouts."""
    mine = _calls(OURS, _ours)
    found, absent = _peers()
    peers = {name: _calls(verbs, partial(_theirs, module)) for name, (module, verbs) in found.items()}
    for work, ours in mine.items():
        yield Row(
            "A1",
            work,
            ours,
            {name: calls[work] for name, calls in peers.items()},
            times=1,
            missing=" and ".join(absent) or None,
        )


def _peers() -> tuple[dict[str, tuple[Any, Verbs]], list[str]]:
    """Return module and verbs of each peer that is installed, and the names of the others."""
    found: dict[str, tuple[Any, Verbs]] = {}
    modules = {"tensor-layouts": library("tensor_layouts"), "pycute": library("pycute")}
    for name, module in modules.items():
        if module is not None:
            found[name] = (
                module,
                (
                    module.coalesce,
                    getattr(module, "compose", None) or module.composition,
                    module.complement,
                    module.right_inverse,
                    module.left_inverse,
                    module.logical_divide,
                    module.logical_product,
                ),
            )
    return found, [name for name, module in modules.items() if module is None]


def _theirs(module: Any, layout: tuple[Any, Any]) -> Any:
    return module.Layout(*layout)


def _calls(verbs: Verbs, make: Any) -> dict[str, Run]:
    coal, comp, compl, right, left, divide, product = verbs
    tiler = tuple(make(each) for each in TILER)
    return {
        "coalesce": partial(coal, make(FLAT)),
        "compose, one mode": partial(comp, make(OUTER), make(INNER)),
        "compose, six modes": partial(comp, make(EIGHT), make(MANY)),
        "complement": partial(compl, make(GAPS), 256),
        "right inverse": partial(right, make(PERMUTED)),
        "left inverse": partial(left, make(PERMUTED)),
        "logical divide, three modes": partial(divide, make(CUBE), tiler),
        "logical product": partial(product, make(FLAT), make(INNER)),
    }


# How often each is right, on layouts that are drawn. What is right is decided by tables of offsets alone.


def answers(count: int) -> None:
    """Print how many results of each are right, wrong and refused, of `count` drawn layouts an operation."""
    found, absent = _peers()
    makers = {"tensorwrapper": (_ours, OURS, _our_table)}
    for name, (module, verbs) in found.items():
        makers[name] = partial(_theirs, module), verbs, partial(_their_table, module)
    print("| operation | " + " | ".join(f"{name}: right, wrong, refused" for name in makers) + " |")
    print("| --- |" + " --- |" * len(makers))
    for number, (work, (draw, is_right)) in enumerate(LAWS.items()):
        seen = {name: [0, 0, 0] for name in makers}
        rng = random.Random(number)
        for _ in range(count):
            given = draw(rng)
            tables = [_table(part) if isinstance(part, tuple) else part for part in given]
            for name, (make, verbs, table) in makers.items():
                made = _made(make, verbs[number], table, given)
                seen[name][2 if made is None else 0 if is_right(made, *tables) else 1] += 1
        print(
            f"| {work} | " + " | ".join(", ".join(map(str, seen[name])) for name in makers) + " |", flush=True
        )
    for name in absent:
        print(f"{name} is not installed.", file=sys.stderr)


def _made(make: Any, verb: Any, table: Any, given: tuple[Any, ...]) -> list[int] | None:
    """Return the offsets of a result; None if it is refused, by whatever fails first."""
    try:
        made: list[int] = table(verb(*[make(part) if isinstance(part, tuple) else part for part in given]))
    except Exception:  # noqa: BLE001
        return None
    return made


def _table(drawn: Drawn) -> list[int]:
    """Return the offset of each ordinal, the first mode fastest."""
    offsets = [0]
    for extent, stride in zip(*drawn, strict=True):
        offsets = [before + k * stride for k in range(extent) for before in offsets]
    return offsets


def _our_table(layout: Layout) -> list[int]:
    return [layout.offset_of_ordinal(k) for k in range(layout.shape.size)]


def _their_table(module: Any, layout: Any) -> list[int]:
    return [layout(k) for k in range(module.size(layout))]


def _drawn(rng: random.Random, most: int = 8) -> Drawn:
    """Return a layout of one to three modes: any strides, or those of a permuted box, some with gaps."""
    extents = tuple(rng.randint(1, most) for _ in range(rng.randint(1, 3)))
    if rng.random() < 0.3:
        return extents, tuple(rng.choice([0, 1, 2, 3, 4, 6, 8, 12, 16]) for _ in extents)
    strides, step = [0] * len(extents), rng.choice([1, 1, 1, 2, 3])
    for mode in rng.sample(range(len(extents)), len(extents)):
        strides[mode] = step
        step *= extents[mode] * rng.choice([1, 1, 1, 2, 3])
    return extents, tuple(strides)


def _apart(rng: random.Random) -> Drawn:
    """Return a layout of which no two elements share a place."""
    while True:
        drawn = _drawn(rng)
        if len(set(_table(drawn))) == len(_table(drawn)):
            return drawn


def _inside(rng: random.Random, *, apart: bool = False) -> tuple[Drawn, Drawn]:
    """Return two layouts of which the second stays in the ordinals of the first."""
    while True:
        outer, inner = _drawn(rng), (_apart(rng) if apart else _drawn(rng, 4))
        if max(_table(inner)) < len(_table(outer)):
            return outer, inner


def _fills(made: list[int], given: list[int], size: int) -> bool:
    """Tell whether it ascends from 0, no sum comes twice, and all below `size` are reached that can be."""
    sums = {place + other for place in given for other in made}
    ascends = made[:1] == [0] and all(a < b for a, b in itertools.pairwise(made))
    return (
        ascends
        and len(sums) == len(made) * len(given)
        and (set(range(size)) <= sums or not _tiles(given, size))
    )


def _tiles(given: list[int], size: int) -> bool:
    """Tell whether moved copies of some places can cover all below `size`: each begins at the first gap."""
    reached: set[int] = set()
    for place in range(size):
        if place not in reached:
            copy = {place + own for own in given}
            if reached & copy or min(copy) < place:
                return False
            reached |= copy
    return True


def _divides(made: list[int], outer: list[int], tile: list[int]) -> bool:
    """Tell whether the tile comes first, and each element of the outer layout once in all."""
    return made[: len(tile)] == [outer[place] for place in tile] and sorted(made) == sorted(outer)


def _repeats(made: list[int], block: list[int], grid: list[int]) -> bool:
    """Tell whether the block is there once for each place of the grid, and no two share an element."""
    n = len(block)
    parts = [made[n * k : n * (k + 1)] for k in range(len(grid))]
    copies = all(
        place - part[0] == own - block[0] for part in parts for place, own in zip(part, block, strict=False)
    )
    return len(made) == n * len(grid) and made[:n] == block and copies and len(set(made)) == len(made)


LAWS: dict[str, tuple[Any, Any]] = {
    "coalesce": (lambda rng: (_drawn(rng),), lambda made, a: made == a),
    "compose": (_inside, lambda made, a, b: made == [a[place] for place in b]),
    "complement": (
        lambda rng: (_apart(rng), rng.choice([16, 64, 256, 512])),
        _fills,
    ),
    "right inverse": (
        lambda rng: (_drawn(rng),),
        lambda made, a: [a[k] for k in made] == [*range(len(made))],
    ),
    "left inverse": (
        lambda rng: (_apart(rng),),
        lambda made, a: max(a) < len(made) and [made[k] for k in a] == [*range(len(a))],
    ),
    "logical divide": (partial(_inside, apart=True), _divides),
    "logical product": (lambda rng: (_apart(rng), _apart(rng)), _repeats),
}


ROWS = {"A1": algebra}
