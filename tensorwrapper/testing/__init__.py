"""Tests for extensions of shapes: Hypothesis strategies, and the contract of a representation.

`ShapeContract` has every law that a shape must keep, as tests. To add a representation, derive a class from
it and name a strategy; the built-in representations are tested in the same way. The strategies draw shapes
of every kind, and views of them, for further tests.

Hypothesis and pytest are needed here and nowhere else: ``pip install 'tensorwrapper[testing]'``.
"""

import importlib.util

for _name in ("hypothesis", "pytest"):
    if importlib.util.find_spec(_name) is None:
        raise ModuleNotFoundError(
            f"tensorwrapper.testing needs Hypothesis and pytest, but {_name} is not installed: "
            "pip install 'tensorwrapper[testing]'",
            name=_name,
        )

import pytest

# Before the laws are imported: pytest then shows the values in an assertion that fails.
for _law in (
    "buffer_contract",
    "contract",
    "index_laws",
    "layout_contract",
    "mode_laws",
    "node_contract",
    "packing_contract",
    "part_laws",
    "source_contract",
    "value_laws",
):
    pytest.register_assert_rewrite(f"{__name__}._{_law}")

from tensorwrapper.testing._buffer_contract import BufferContract
from tensorwrapper.testing._contract import ShapeContract
from tensorwrapper.testing._layout_contract import LayoutContract
from tensorwrapper.testing._node_contract import NodeContract
from tensorwrapper.testing._packing_contract import PackingContract
from tensorwrapper.testing._source_contract import SourceContract
from tensorwrapper.testing._strategies import (
    jagged_shapes,
    nested_shapes,
    shapes,
    smooth_shapes,
    tiled_shapes,
    tilings,
    triangular_shapes,
    views,
)

__all__ = [
    "BufferContract",
    "LayoutContract",
    "NodeContract",
    "PackingContract",
    "ShapeContract",
    "SourceContract",
    "jagged_shapes",
    "nested_shapes",
    "shapes",
    "smooth_shapes",
    "tiled_shapes",
    "tilings",
    "triangular_shapes",
    "views",
]
