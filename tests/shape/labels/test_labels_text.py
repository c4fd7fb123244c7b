"""Labels as a sequence: the grammar of their text, and what one or two of them answer."""

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, LabelError, LayerError
from tensorwrapper.shape import Labels

S, V, M, T = map(Labels.parse, ["", "i", "i,j", "i,jk,l"])


@pytest.mark.parametrize(
    ("text", "names", "layers"),
    [
        ("", (), None),
        ("  ", (), None),
        ("i", ("i",), None),
        (" i , j ", ("i", "j"), None),
        ("i,\tj\n", ("i", "j"), None),
        ("i,jk,l", ("i", "jk", "l"), None),
        ("_1,\N{GREEK SMALL LETTER MU},Atom", ("_1", "\N{GREEK SMALL LETTER MU}", "Atom"), None),
        ("i,j;m", ("i", "j", "m"), (2, 1)),
        (";", (), (0, 0)),
        ("i;", ("i",), (1, 0)),
        (" ; j,k", ("j", "k"), (0, 2)),
        ("i,i", ("i", "i"), None),
    ],
)
def test_text_is_names_with_commas_and_layers_with_semicolons(text, names, layers):
    labels = Labels.parse(text)

    assert (labels.names, labels.layers) == (names, layers)
    assert Labels.parse(str(labels)) == labels
    assert list(labels) == list(names)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("i, ", "label 1 is empty in 'i, '"),
        (",", "label 0 is empty in ','"),
        (",i", "label 0 is empty"),
        ("i,,j", "label 1 is empty"),
        ("i,;j", "label 1 is empty"),
        ("my index,k", "'my index' is not an identifier in 'my index,k'"),
        ("i j", "'i j' is not an identifier"),
        ("1", "'1' is not an identifier"),
        ("i-j", "'i-j' is not an identifier"),
        ("i'", "is not an identifier"),
        ("i->j", "'i->j' is not an identifier"),
        ("...", "'...' is not an identifier"),
        ("i\0", "is not an identifier"),
        ("(" * 10_000, "is not an identifier"),
    ],
)
def test_text_that_is_no_labels_says_what_is_wrong(text, what):
    with pytest.raises(LabelError) as caught:
        Labels.parse(text)

    assert what in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("given", [None, 3, ["i", "j"], b"i,j", ("i",)])
def test_labels_are_text(given):
    with pytest.raises(ConversionError, match="labels are text"):
        Shape(2, 3)(given)


def test_labels_made_from_names_are_checked_too():
    assert Labels(("i", "j"), (1, 1)) == Labels.parse("i;j")
    with pytest.raises(LabelError, match="a label is an identifier, not '1'"):
        Labels(("i", "1"))
    for layers in [(2,), (), (1, 0), (1, 1, 1), (3, -1)]:
        with pytest.raises(LayerError, match="does not deal 2 labels"):
            Labels(("i", "j"), layers)


def test_labels_may_be_given_as_labels():
    assert Shape(2, 3)(Labels.parse("i,j")) == Shape(2, 3)("i,j")
    assert Shape(2, 3)("i,j").shape(Labels(("j", "i"))) == Shape(3, 2)


# What upstream's dummy indices answer.


def test_sizes_and_repeats():
    assert [len(labels) for labels in (S, V, M, T)] == [0, 1, 2, 3]
    assert Labels.parse("i,i").distinct == ("i",)
    assert [labels.has_repeats for labels in (S, V, M, T)] == [False] * 4
    assert Labels.parse("i,i").has_repeats


@pytest.mark.parametrize(
    ("labels", "other", "expected"),
    [(M, "j,i", True), (M, "i,k", False), (V, "j", False), (S, V, False), ("i,i,j", "i,j,j", False)],
)
def test_is_permutation_counts_each_label(labels, other, expected):
    labels = Labels.parse(labels) if isinstance(labels, str) else labels

    assert labels.is_permutation(other) is expected


@pytest.mark.parametrize(
    ("labels", "other", "expected"),
    [
        ("", "", ()),
        ("i", "i", (0,)),
        ("i,j", "i,j", (0, 1)),
        ("i,j", "j,i", (1, 0)),
        ("j,i", "i,j", (1, 0)),
        ("i,jk,l", "jk,i,l", (1, 0, 2)),
        ("i,jk,l", "l,jk,i", (2, 1, 0)),
        ("i,jk,l", "i,l,jk", (0, 2, 1)),
        ("i,jk,l", "l,i,jk", (1, 2, 0)),
        ("i,jk,l", "jk,l,i", (2, 0, 1)),
    ],
)
def test_a_permutation_says_where_each_label_is_in_the_other(labels, other, expected):
    assert Labels.parse(labels).permutation(other) == expected


@pytest.mark.parametrize(("labels", "other"), [("", "i"), ("i,i", "i,j"), ("i,j", "i,i"), ("i", "j")])
def test_labels_that_are_no_permutation_raise(labels, other):
    with pytest.raises(LabelError, match="not a permutation"):
        Labels.parse(labels).permutation(other)


@pytest.mark.parametrize(
    ("labels", "label", "expected"), [("i,i", "i", (0, 1)), ("i,j", "j", (1,)), ("i", "j", ()), ("", "i", ())]
)
def test_places_are_every_mode_of_a_label(labels, label, expected):
    assert Labels.parse(labels).places(label) == expected
    assert Labels.parse(labels).count(label) == len(expected)


def test_equality_is_ordered_and_case_counts():
    assert Labels.parse(" i , j ") == M
    assert Labels.parse("I,j") != M
    assert Labels.parse("j,i") != M
    assert Labels.parse("i;j") != M
    assert M != "i,j"


@pytest.mark.parametrize(
    ("labels", "other", "expected"),
    [(V, M, "i,i,j"), (M, "i,j,l,s", "i,j,i,j,l,s"), (S, M, "i,j")],
)
def test_concatenation_keeps_repeats(labels, other, expected):
    assert str(labels.concatenation(other)) == expected


@pytest.mark.parametrize(
    ("labels", "other", "expected"), [(V, M, "i"), (M, V, "i"), (M, "k,l", ""), (M, "i,j,i,j,l,s", "i,j")]
)
def test_intersection_has_the_common_labels_in_order(labels, other, expected):
    assert str(labels.intersection(other)) == expected


@pytest.mark.parametrize(
    ("labels", "other", "expected"),
    [(V, M, ""), (M, V, "j"), (M, M, ""), (M, "k,l", "i,j"), (V, "k,l", "i")],
)
def test_difference_has_the_labels_that_the_other_has_not(labels, other, expected):
    assert str(labels.difference(other)) == expected


@pytest.mark.parametrize(
    ("result", "left", "right", "expected"),
    [
        *[(labels, labels, labels, True) for labels in (S, V, M, T)],
        (M, "j,i", "i,j", True),
        (M, "i,j", "j,i", True),
        ("i,i", M, M, False),
        (M, "i,i", M, False),
        (M, M, "i,i", False),
        (M, "i,k", "k,j", False),
        (M, "i,j,k", "i,k,j", False),
        ("i,j,k,l", M, "k,l", False),
    ],
)
def test_a_hadamard_product_has_the_same_labels_everywhere(result, left, right, expected):
    result = Labels.parse(result) if isinstance(result, str) else result

    assert result.is_hadamard_product(left, right) is expected


@pytest.mark.parametrize(
    ("result", "left", "right", "expected"),
    [
        (M, "i,k", "k,j", True),
        (M, "k,j", "i,k", True),
        ("i", "i,k,m", "k", True),
        (M, M, M, False),
        (M, M, "j,i", False),
        ("i,i", "i,k", "k,i", False),
        (M, "i,i", "i,j", False),
        (M, "i,j", "j,j", False),
        (M, "i,j,k", "i,k,j", False),
        ("i,j,k,l", M, "k,l", False),
    ],
)
def test_a_contraction_sums_all_common_labels(result, left, right, expected):
    result = Labels.parse(result) if isinstance(result, str) else result

    assert result.is_contraction(left, right) is expected
