"""Block sharding of a hundred thousand shards, beside counting indices on a grid."""

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.sharding import (
    BlockOperation,
    BoxTable,
    Graph,
    Operand,
    Projection,
    TensorNode,
    check_coverage,
)

ROWS, COLUMNS = 400, 250
WHOLE = Shape(7 * ROWS, 5 * COLUMNS)
ROW, COLUMN = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
TABLE = BoxTable.from_arrays(np.stack([7 * ROW, 5 * COLUMN], axis=1), np.tile([7, 5], (len(ROW), 1)))
STOPS = TABLE.stops
SHUFFLED = BoxTable.from_arrays(
    TABLE.origins[np.random.default_rng(0).permutation(len(ROW))], np.tile([7, 5], (len(ROW), 1))
)
WINDOW = Projection("(i, j) -> (2*i - j, j)", (3, 5))
RELU = BlockOperation(
    "relu", WHOLE, {"x": Operand(WHOLE, "(i, j) -> (i, j)")}, {"y": Operand.result(WHOLE, "(i, j) -> (i, j)")}
)
SMALL = RELU.split_grid((70, 50))


def count_on_a_grid():
    count = np.zeros(WHOLE.extents, dtype=np.int8)
    for (a, b), (c, d) in zip(TABLE.origins.tolist(), STOPS.tolist(), strict=True):
        count[a:c, b:d] += 1
    assert (count == 1).all()


def graph_of_shards():
    x = TensorNode(dtype="float32", box=WHOLE)
    graph, _ = Graph().add_operation(RELU, {"x": x}, blocks=SMALL.blocks)
    return graph


GRAPH = graph_of_shards()
TEXT = GRAPH.to_json()

WORK = {
    "coverage of 10^5 boxes": lambda: check_coverage(WHOLE, TABLE),
    "coverage of 10^5 boxes in any order": lambda: check_coverage(WHOLE, SHUFFLED),
    "coverage of 10^5 boxes, counted on a grid in NumPy": count_on_a_grid,
    "10^5 shards are cut": lambda: RELU.split_grid((7, 5)),
    "10^5 boxes are projected": lambda: WINDOW.of_boxes(TABLE.origins, TABLE.extents),
    "10^5 shards are checked": RELU.split_grid((7, 5)).check,
    "a graph of 1000 shards is made": graph_of_shards,
    "a graph of 1000 shards is checked": GRAPH.check,
    "a graph of 1000 shards is written": GRAPH.to_json,
    "a graph of 1000 shards is read": lambda: Graph.from_json(TEXT),
}


@pytest.mark.parametrize("name", WORK)
def test_sharding(benchmark, name):
    benchmark(WORK[name])
