"""Products of labelled shapes against sets of indices, joined and projected one index at a time."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError
from tensorwrapper.testing import shapes

EXTENTS = {"i": 2, "j": 3, "k": 2, "l": 1}


# The model: an operand is a list of indices, and a label for each place.


def fibers(indices, mode):
    """The values that a mode takes under every prefix."""
    found = defaultdict(set)
    for index in indices:
        found[index[:mode]].add(index[mode])
    return found


def assignment(labels, index):
    """What an index says of labels; None if it says two things of one."""
    known = {}
    for label, value in zip(labels, index, strict=False):
        if known.setdefault(label, value) != value:
            return None
    return known


def agree(one, other):
    return all(other.get(label, value) == value for label, value in one.items())


def has_mismatch(operands):
    """Whether two modes with one label have different ranges under prefixes that go together."""
    places = [(o, m) for o, (_, labels) in enumerate(operands) for m in range(len(labels))]
    for (a, m), (b, n) in itertools.combinations(places, 2):
        mine, theirs = operands[a], operands[b]
        if mine[1][m] != theirs[1][n]:
            continue
        for one, values in fibers(mine[0], m).items():
            for other, others in fibers(theirs[0], n).items():
                left, right = assignment(mine[1], one), assignment(theirs[1], other)
                if left is not None and right is not None and agree(left, right) and values != others:
                    return True
    return False


def joined(operands):
    """All assignments of labels that every operand has."""
    rows = [{}]
    for indices, labels in operands:
        new = [assignment(labels, index) for index in indices]
        rows = [row | more for row in rows for more in new if more is not None and agree(row, more)]
    return rows


def has_loose_label(operands, rows, result):
    """Whether the range of a label is not known from the labels before it in the result."""
    for place, label in enumerate(result):
        number, mode = next(
            (o, labels.index(label)) for o, (_, labels) in enumerate(operands) if label in labels
        )
        indices, labels = operands[number]
        under = fibers(indices, mode)
        ranges = defaultdict(set)
        for row in rows:
            prefix = tuple(row[name] for name in labels[:mode])
            ranges[tuple(row[name] for name in result[:place])].add(frozenset(under[prefix]))
        if any(len(found) > 1 for found in ranges.values()):
            return True
    return False


# What is drawn: operands that often agree.


@st.composite
def boxes(draw):
    labels = draw(st.text("ijkl", max_size=3))
    extents = [draw(st.sampled_from([EXTENTS[label]] * 9 + [2])) for label in labels]
    return Shape(*extents), labels


@st.composite
def rows(draw):
    """Rows whose lengths depend on one or two labels; some have no extent but 1 or 2."""
    labels = draw(st.sampled_from(["ij", "ik", "il", "ki", "kj", "jk", "iji", "iij"]))
    first = EXTENTS[labels[0]]
    lengths = draw(st.sampled_from([[1, 2, 3], [2, 2, 2], [3, 3, 3], [1, 2, 1]]))[:first]
    if len(labels) == 2:
        return Shape.jagged(lengths), labels
    cells = [[draw(st.sampled_from([1, 2])) for _ in range(n)] for n in lengths]
    return Shape.jagged(cells), labels


@st.composite
def tiles(draw):
    cuts = [draw(st.sampled_from([[1, 2], [2, 2], [2, 1]])) for _ in range(draw(st.integers(1, 2)))]
    labels = draw(st.sampled_from(["ik", "ii", "ij"] if len(cuts) == 1 else ["ikab", "iiab", "ikaa", "iiaa"]))
    return Shape.tiled(*cuts), labels


@st.composite
def products(draw):
    pool = draw(st.lists(st.one_of(boxes(), rows(), rows(), tiles()), min_size=1, max_size=2))
    # An operand that comes again agrees with itself, under the same or other labels.
    operands = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
    if draw(st.booleans()):
        shape, labels = operands[-1]
        operands[-1] = (shape, labels[:-1] + "m" if labels else labels)
    known = sorted({label for _, labels in operands for label in labels})
    return operands, "".join(draw(st.permutations(known))[: draw(st.integers(0, len(known)))])


def shape_of(operands, result):
    product = operands[0][0](",".join(operands[0][1]))
    for shape, labels in operands[1:]:
        product = product * shape(",".join(labels))
    return product.shape(",".join(result))


@settings(max_examples=400)
@given(products())
def test_a_product_is_the_join_of_the_index_sets(product):
    operands, result = product
    sets = [(list(shape.indices()), labels) for shape, labels in operands]
    if has_mismatch(sets):
        event("mismatch")
        with pytest.raises(ExtentMismatchError):
            shape_of(operands, result)
        return
    expected = joined(sets)
    if has_loose_label(sets, expected, result):
        event("loose")
        with pytest.raises(JaggedModeError):
            shape_of(operands, result)
        return
    event("a shape")
    found = shape_of(operands, result)
    assert set(found.indices()) == {tuple(row[label] for label in result) for row in expected}
    keeps = [len({*labels} & {*result}) > 1 for shape, labels in operands if shape.kind == "jagged"]
    assert found.kind == "smooth" or any(keeps)


@given(shapes(["smooth", "jagged"]), st.data())
def test_labels_permute_as_modes_do(shape, data):
    order = data.draw(st.permutations(range(shape.rank)))
    names = "ijklmn"[: shape.rank]
    labelled = shape(",".join(names))
    wanted = ",".join(names[mode] for mode in order)
    try:
        expected = shape.permute(order)
    except JaggedModeError:
        with pytest.raises(JaggedModeError):
            labelled.shape(wanted)
        return

    assert labelled.shape(wanted) == expected
    assert (labelled + shape.copy()(",".join(names))).shape(wanted) == expected


@given(shapes(["smooth", "jagged"]), st.data())
def test_origins_and_empty_rows_go_where_their_labels_go(shape, data):
    """A shape times itself is itself, with the modes of a box wherever its labels are put."""
    names = "ijklmn"[: shape.rank]
    box = data.draw(shapes(["smooth"], max_rank=2))
    more = "uv"[: box.rank]
    product = shape(",".join(names)) * box(",".join(more)) * shape.copy()(",".join(names))

    found = product.shape(",".join([*names, *more]))

    pairs = itertools.product(shape.indices(), box.indices())
    assert list(found.indices()) == [index + rest for index, rest in pairs]
    assert found.rank == shape.rank + box.rank
    if box.size:
        assert product.shape(",".join(names)) == shape


@given(shapes(["jagged"]), st.data())
def test_modes_that_are_summed_are_left_out(shape, data):
    names = "ijklmn"[: shape.rank]
    kept = data.draw(st.permutations(range(shape.rank)))[: data.draw(st.integers(0, shape.rank))]
    try:
        found = shape(",".join(names)).shape(",".join(names[mode] for mode in kept))
    except JaggedModeError:
        return
    projected = {tuple(index[mode] for mode in kept) for index in shape.indices()}

    if all(shape.extent_bounds(mode)[0] for mode in range(shape.rank)):
        assert set(found.indices()) == projected
    else:
        # A sum over no index at all is still a sum.
        assert set(found.indices()) >= projected


# Cells without indices: a matrix of 0 x 3 has three columns, one of 0 x 0 none, and fits any.


sizes = st.integers(0, 3)


@given(st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=5))
def test_products_of_empty_matrices_have_the_extents_of_numpy(cells):
    left = Shape.from_cells((len(cells),), [(m, n) for m, n, _ in cells])
    right = Shape.from_cells((len(cells),), [(n, k) for _, n, k in cells])
    product = (left("p,i,j") * right("p,j,k")).shape("p,i,k")
    assert product == Shape.from_cells((len(cells),), [(m, k) for m, _, k in cells])
    assert left("p,i,j").shape("p,j") == (Shape.jagged([n for _, n, _ in cells]))


@given(st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=5), st.data())
def test_matrices_that_do_not_fit_are_refused_even_where_they_are_empty(cells, data):
    at, other = data.draw(st.integers(0, len(cells) - 1)), data.draw(sizes)
    left = Shape.from_cells((len(cells),), [(m, n) for m, n, _ in cells])
    right = Shape.from_cells(
        (len(cells),), [(other if p == at else n, k) for p, (_, n, k) in enumerate(cells)]
    )
    m, n, _ = cells[at]
    product = left("p,i,j") * right("p,j,k")
    if other == n or m == n == 0:
        product.shape("p,i,k")
    else:
        with pytest.raises(ExtentMismatchError, match=f"at p = {at}|'j' has the extent"):
            product.shape("p,i,k")


def rows_within(counts, lengths):
    """Rows of each p, all of one length."""
    inner = np.repeat(np.array(lengths, dtype=int), counts)
    return Shape.from_offsets([0, *np.cumsum(counts)], [0, *np.cumsum(inner)])


@given(st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=5), st.integers(0, 2))
def test_rows_that_lead_nowhere_say_nothing(cells, more):
    """Where one operand has no rows, the other tells how long they are."""
    counts, others, lengths = map(list, zip(*cells, strict=True))
    left = rows_within(counts, [j + more * (not b) for j, b in zip(lengths, others, strict=True)])
    right = rows_within(others, lengths)
    found = (left("p,a,j") * right("p,b,j")).shape("p,j")
    expected = [j + more * (not b) if a or b else 0 for a, b, j in cells]
    assert [found.extent_at((p,)) for p in range(len(cells))] == expected
