"""Labelled nested shapes: each label keeps its layer, the outermost wins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import ExtentMismatchError, LayerError
from tensorwrapper.testing import shapes

A = Shape(10, 20, 30)
N12 = Shape.nested(A, layers=(1, 2))
N21 = Shape.nested(A, layers=(2, 1))
N111 = Shape.nested(A, layers=(1, 1, 1))


def nested(extents, layers):
    return Shape.nested(Shape(*extents), layers=layers)


@pytest.mark.parametrize(
    ("expression", "result", "expected"),
    [
        (N12("i,j,k") + N12("i,j,k"), "i,j,k", N12),
        (N12("i,j,k") - N12("i,j,k"), "i,k,j", nested((10, 30, 20), (1, 2))),
        (N12("i,j,k") * N12("i,j,k"), "i,j", nested((10, 20), (1, 1))),
        (N12("i,j,k") * N12("i,j,k"), "j,k", nested((20, 30), (0, 2))),
        (N12("i,j,k") * N12("i,j,k"), "i", nested((10,), (1, 0))),
        (N12("i,j,k") * N12("i,j,k"), "", nested((), (0, 0))),
        (N12("i,j,k") * N21("i,j,k"), "j,k", nested((20, 30), (1, 1))),
        (N21("i,j,k") * N12("i,j,k"), "j,k", nested((20, 30), (1, 1))),
        (N12("i;j,k") * N21("i,j;k"), "j;k", nested((20, 30), (1, 1))),
        (N12("i;j,k"), "i;k", nested((10, 30), (1, 1))),
        (N12("i;j,k"), ";k", nested((30,), (0, 1))),
        (2 * N12("i;j,k") / 3, "i;j,k", N12),
        (N12("i;j,k") * N111("i;j;k"), "i,j,k", nested((10, 20, 30), (1, 2, 0))),
        # Tensors of tensors times plain ones: labels of plain shapes alone are in the outermost layer.
        (
            Shape(4, 5)("i,j") * nested((5, 6, 7, 8), (2, 2))("j,k;m,n"),
            "i,k;m,n",
            nested((4, 6, 7, 8), (2, 2)),
        ),
        (
            Shape(4, 5)("i,j") * nested((5, 6, 7, 8), (2, 2))("j,k;m,n"),
            "i,k,m,n",
            nested((4, 6, 7, 8), (2, 2)),
        ),
        (Shape(8, 3)("n,x") * nested((5, 7, 8), (1, 2))("j;m,n"), "j;m,x", nested((5, 7, 3), (1, 2))),
        # Plain operands, and a result with layers.
        (Shape(4, 5)("i,j") * Shape(5, 6)("j,k"), "i;k", nested((4, 6), (1, 1))),
        (Shape(4, 5)("i,j"), ";j,i;", nested((5, 4), (0, 2, 0))),
        (
            Shape.nested(Shape.jagged([1, 2]), layers=(1, 1))("i;j") * Shape.jagged([1, 2])("i,k"),
            "i;j,k",
            Shape.nested(Shape.jagged([Shape(1, 1), Shape(2, 2)]), layers=(1, 2)),
        ),
        (Shape.nested(Shape(5, 5), layers=(1, 1))("i;i"), "i", nested((5,), (1, 0))),
    ],
)
def test_the_result_keeps_the_layer_of_every_label(expression, result, expected):
    assert expression.shape(result) == expected


@pytest.mark.parametrize(
    ("combine", "result", "what"),
    [
        (
            lambda: N12("i,j,k") + N21("i,j,k"),
            "i,j,k",
            "'j' is in layer 0 of term 1 of a sum, but in",
        ),
        (lambda: N12("i,j,k") + A("i,j,k"), "i,j,k", "term 1 of a sum has no layers, but term 0 has"),
        (lambda: A("i,j,k") + N12("i,j,k"), "i,j,k", "term 0 of a sum has no layers, but term 1 has"),
        (lambda: N12("i,j,k") + N111("i,j,k"), "i,j,k", "term 1 of a sum has 3 layers, but term 0 has 2"),
        (lambda: N12("i,j,k"), "j,i", "'i' of layer 0 comes after 'j' of layer 1 in the result 'j,i'"),
        (lambda: N12("i,j,k") * Shape(4)("x"), "i,j,x", "'x' of layer 0 comes after 'j' of layer 1"),
        (lambda: N12("i,j,k"), "i,j;k", "'j' in layer 0, but it is in layer 1"),
        (lambda: N12("i,j,k"), "i;j;k", "'i;j;k' has 3 layers, but the operands 2"),
        (lambda: N12("i,j;k"), "", r"layers of \(2, 1\) modes, but the nested shape has \(1, 2\)"),
        (lambda: N12("i;j;k"), "", r"layers of \(1, 1, 1\) modes"),
    ],
)
def test_layers_that_do_not_fit_raise(combine, result, what):
    with pytest.raises(LayerError, match=what):
        combine().shape(result)


def test_extents_are_compared_across_layers():
    with pytest.raises(ExtentMismatchError, match="label 'k'"):
        (N12("i;j,k") * nested((10, 20, 31), (1, 2))("i;j,k")).shape("i")


@given(shapes(["nested"]), shapes(["nested"]), st.data())
def test_the_layers_add_nothing_but_layers(left, right, data):
    """The result without layers is that of the operands without layers, each label in its outermost layer."""
    names = [",".join("ijkl"[: left.rank]), ",".join("mnop"[: right.rank])]
    product = left(names[0]) * right(names[1])
    kept = data.draw(st.integers(0, left.rank))
    homes = {
        name: layer
        for shape, labels in ((left, "ijkl"), (right, "mnop"))
        for name, layer in zip(
            labels, [k for k, count in enumerate(shape.layers) for _ in range(count)], strict=False
        )
    }
    known = [*"ijkl"[: left.rank][:kept], *"mnop"[: right.rank]]
    # A jagged shape keeps its order, since the sort is stable.
    result = ",".join(sorted(known, key=homes.__getitem__))

    found = product.shape(result)

    plain = (left.flatten()(names[0]) * right.flatten()(names[1])).shape(result)
    depth = max(len(left.layers), len(right.layers))
    counts = [sum(homes[name] == layer for name in known) for layer in range(depth)]
    assert found == Shape.nested(plain, layers=counts)
