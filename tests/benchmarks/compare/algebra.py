"""The algebra of layouts, beside tensor-layouts and ``pycute``, the reference of CuTe in Python."""

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

FLAT, PERMUTED = ((2, 4, 6), (1, 2, 8)), ((2, 4, 6), (24, 1, 4))
OUTER, INNER, GAPS = ((4, 3), (3, 1)), (6, 2), ((2, 2, 4), (1, 4, 32))
EIGHT, MANY = ((8, 8), (8, 1)), ((2,) * 6, (1, 2, 4, 8, 16, 32))
CUBE, TILER = ((8, 8, 8), (64, 8, 1)), ((4, 1), (2, 4), (4, 2))


def _ours(layout: tuple[Any, Any]) -> Layout:
    return Layout.parse(f"{layout[0]}:{layout[1]}".replace(",)", ")").replace(" ", ""), order="colex")


def algebra() -> Iterator[Row]:
    """One operation of small layouts."""
    mine = _calls(
        (coalesce, compose, complement, right_inverse, left_inverse, logical_divide, logical_product), _ours
    )
    peers: dict[str, dict[str, Run]] = {}
    absent = []
    for name, module in (("tensor-layouts", library("tensor_layouts")), ("pycute", library("pycute"))):
        if module is None:
            absent.append(name)
            continue
        verbs = (
            module.coalesce,
            getattr(module, "compose", None) or module.composition,
            module.complement,
            module.right_inverse,
            module.left_inverse,
            module.logical_divide,
            module.logical_product,
        )
        peers[name] = _calls(verbs, partial(_theirs, module))
    for work, ours in mine.items():
        yield Row(
            "A1",
            work,
            ours,
            {name: calls[work] for name, calls in peers.items()},
            times=1,
            missing=" and ".join(absent) or None,
        )


def _theirs(module: Any, layout: tuple[Any, Any]) -> Any:
    return module.Layout(*layout)


def _calls(verbs: tuple[Any, ...], make: Any) -> dict[str, Run]:
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


ROWS = {"A1": algebra}
