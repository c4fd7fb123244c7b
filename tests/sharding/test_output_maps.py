"""Whether what single indices write tiles the output: decided from the map, against counting."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.sharding import BlockOperation, IndexMap, Operand, Projection, coverage_findings


def findings(projection, index, output):
    return BlockOperation("k", index, {}, {"y": Operand(output, projection)}).findings()


@st.composite
def writers(draw):
    """A projection, an index and an output; often digits of one mode, which tile it."""
    inputs, outputs = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    sizes = draw(st.lists(st.integers(1, 3), min_size=inputs, max_size=inputs))
    extents = draw(st.lists(st.integers(1, 3), min_size=outputs, max_size=outputs))
    rows = [[0] * inputs for _ in range(outputs)]
    runs = list(extents)
    for c in draw(st.permutations(range(inputs))):
        if outputs:
            d = draw(st.integers(0, outputs - 1))
            rows[d][c] = runs[d] * draw(st.sampled_from([-1, 1]))
            runs[d] *= sizes[c]
    if outputs and inputs and draw(st.booleans()):
        rows[draw(st.integers(0, outputs - 1))][draw(st.integers(0, inputs - 1))] = draw(st.integers(-4, 4))
    offset = draw(st.lists(st.integers(-5, 5), min_size=outputs, max_size=outputs))
    projection = Projection(IndexMap(rows, offset, input_rank=inputs), extents)
    index = Shape.smooth(sizes, origin=draw(st.lists(st.integers(-2, 2), min_size=inputs, max_size=inputs)))
    return projection, index, projection.of_box(index)


@given(writers())
def test_the_decision_is_that_of_counting(case):
    projection, index, output = case
    assume(output.size < 10**5)
    boxes = [projection(i) for i in index.indices()]

    assert bool(findings(projection, index, output)) == bool(coverage_findings(output, boxes))


@given(writers(), st.data())
@example((Projection("(i) -> (2*i)", (2,)), Shape(3), Shape(6)), None)
def test_another_output_is_never_tiled(case, data):
    projection, index, output = case
    assume(output.rank and data is not None)
    extents = list(output.extents)
    extents[data.draw(st.integers(0, output.rank - 1))] += data.draw(st.sampled_from([-1, 1]))

    assert findings(projection, index, Shape.smooth(extents, origin=output.origin))


@pytest.mark.parametrize(
    ("text", "index", "output", "fault"),
    [
        ("(i, j) -> (j)", (2, 3), (3,), "all 2 indices of input 0 write to one place: its column is zero"),
        (
            "(i) -> (i, i)",
            (3,),
            (3, 3),
            "input 0 moves the modes 0, 1 of the output together, and leaves gaps",
        ),
        ("(i) -> (2*i)", (3,), (5,), "runs of 1 in mode 0 of the output leave gaps: input 0 moves them by 2"),
        (
            "(i) -> (i) by (2)",
            (3,),
            (4,),
            "runs of 2 in mode 0 of the output overlap: input 0 moves them by 1",
        ),
        (
            "(i, j) -> (i + j)",
            (3, 3),
            (5,),
            "runs of 3 in mode 0 of the output overlap: input 1 moves them by 1",
        ),
        ("(i) -> (i)", (3,), (4,), "the map reaches [0:3], but the output is [0:4]"),
        ("(i) -> (i)", (0,), (4,), "nothing is written of the output [0:4]"),
    ],
)
def test_the_fault_is_named(text, index, output, fault):
    found = findings(text, index, output)

    assert len(found) == 1
    assert found[0].where == "outputs.y[0]"
    assert found[0].text == fault


@pytest.mark.parametrize(
    ("text", "index", "output"),
    [
        ("(i, j) -> (10*i + j)", (5, 10), (50,)),
        ("(i, j) -> (-10*i - j + 49)", (5, 10), (50,)),
        ("(i, j, k) -> (i + 6*k, 2*j) by (1, 2)", (6, 4, 3), (18, 8)),
        ("(i, j) -> (7*i + 5*j)", (1, 1), (1,)),
        ("(i) -> (i)", (0,), (0,)),
        ("() -> ()", (), ()),
    ],
)
def test_digits_of_a_mode_tile_it(text, index, output):
    assert findings(text, index, output) == ()


def test_any_size_is_decided_at_once():
    n = 10**30

    assert findings(Projection(IndexMap([[n, 1]])), Shape(n, n), Shape(n * n)) == ()
    assert len(findings(Projection(IndexMap([[n + 1, 1]])), Shape(n, n), Shape(n * n + n - 1))) == 1
