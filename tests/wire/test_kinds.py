"""Tensors of every kind of shape, and views of them, come back as what they are; in messages and in files."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, wire
from tensorwrapper import selection as sel
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire.frames._label import dump_label
from tests.support.selection.counting_source import CountingSource

ROWS = Shape.jagged([[2, 1], [], [3]])
NESTED = [
    Shape.nested(Shape(2, 3), layers=(1, 1)),
    Shape.nested(Shape(2, 3, origin=(4, -1)), layers=(0, 2)),
    Shape.nested(Shape(2, 3, 4), layers=(1, 0, 2)),
    Shape.nested(Shape(0, 3), layers=(1, 1)),
    Shape.nested(Shape(), layers=()),
    Shape.nested(ROWS, layers=(1, 2)),
    Shape.nested(Shape.tiled([1, 3], [2, 2]), layers=(2, 2)),
    Shape.nested(Shape.triangular(4, "upper"), layers=(1, 1)),
]
TRIANGLES = [
    Shape.triangular(n, half, diagonal=diagonal)
    for n in (0, 1, 2, 5)
    for half in ("upper", "lower")
    for diagonal in (True, False)
]


def filled(shape):
    return tw.from_buffer(np.arange(1.0, shape.size + 1), shape)


def sent(tensor, **options):
    (found,) = wire.decode([bytes(f) for f in wire.encode([tensor], **options)]).tensors
    return found


def saved(folder, tensor):
    tw.save(folder / "x.tens", {"x": tensor})
    with tw.open(folder / "x.tens") as file:
        return file["x"].copy()


def assert_same(found, wanted):
    assert found.shape == wanted.shape
    assert found.shape.kind == wanted.shape.kind
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("shape", [*NESTED, *TRIANGLES], ids=repr)
def test_section_5_nested_and_triangular_tensors_come_back(shape, tmp_path):
    tensor = filled(shape)
    assert_same(sent(tensor), tensor)
    assert_same(saved(tmp_path, tensor), tensor)
    assert repr(sent(tensor).shape) == repr(shape)


@pytest.mark.parametrize("shape", NESTED, ids=repr)
def test_section_5_who_does_not_know_layers_reads_the_tensor_without_them(shape):
    label, *frames = wire.encode([filled(shape)])
    message = wire.decode([label, *frames])
    description = message.label_object["TENS"]["tensors"][0]
    assert description["layers"] == list(shape.layers)
    flat = wire.encode([filled(shape).flatten()])
    del description["layers"]
    assert wire.decode(flat).label_object["TENS"]["tensors"][0] == description


@pytest.mark.parametrize("compress", ["zlib", None])
def test_section_5_nested_tensors_are_compressed_sparse_and_of_strings(compress):
    shape = Shape.nested(Shape(40, 50), layers=(1, 1))
    ones = tw.from_buffer(np.ones(2000), shape)
    assert_same(sent(ones, compress=compress), ones)
    few = tw.sparse([(0, 1), (3, 2)], np.array([5, 7]), shape)
    assert_same(sent(few), few)
    assert sent(few).is_sparse
    words = tw.strings([["a", None], ["bc", ""]])
    nested = tw.from_buffer(words.buffer, Shape.nested(words.shape, layers=(1, 1)))
    assert_same(sent(nested), nested)


@pytest.mark.parametrize("layers", [[1], [1, 3], [-1, 3], [2.0], "ab", {}, [True, True], [2**70, 0]])
def test_section_5_layers_that_do_not_deal_the_modes_are_refused(layers):
    for shape in NESTED[0], NESTED[5]:
        message = wire.decode(wire.encode([filled(shape)]))
        label = message.label_object
        label["TENS"]["tensors"][0]["layers"] = layers
        with pytest.raises(RemoteProtocolError):
            wire.decode(wire.Message(label=dump_label(label), parts=message.parts).to_frames())


def sources():
    yield "box", tw.as_tensor(np.arange(12.0).reshape(3, 4)).window(Shape(2, 3, origin=(1, 1)))
    yield "jagged", tw.jagged([[1, 2, 3], [4], [], [5, 6]])
    yield "tiles", filled(Shape.tiled([1, 3], [2, 2]))
    yield "tiling", filled(Shape(4, 4)).tiled(tw.Tiling([2, 2], [1, 3]))
    yield "sparse", tw.sparse([(0, 1), (2, 3)], np.array([5, 7]), Shape(3, 4), fill_value=-1)
    yield "strings", tw.strings(["a", None, "bc"])
    yield "triangle", filled(Shape.triangular(3))


@pytest.mark.parametrize(("_kind", "tensor"), [*sources()], ids=[kind for kind, _ in sources()])
def test_s5_views_are_written_as_what_they_are(_kind, tensor, tmp_path):
    view = sel.as_view(tensor)
    computed = view.compute()
    for found in (sent(view), saved(tmp_path, view), tw.as_tensor(view)):
        assert_same(found, computed)
        assert found.is_sparse == tensor.is_sparse
    assert computed.shape == tensor.shape


def test_s5_a_window_of_a_view_keeps_its_origin(tmp_path):
    a = np.arange(6, dtype="<f4").reshape(2, 3)
    part = sel.as_view(a).window(Shape(2, 3)[1:2, 1:3])
    for found in (sent(part), saved(tmp_path, part), tw.as_tensor(part)):
        assert repr(found.shape) == "Shape(1, 2, origin=(1, 1))"
        assert found.tolist() == [[4.0, 5.0]]


def test_s5_a_message_takes_views_after_its_tensors():
    part = sel.as_view(tw.jagged([[1, 2], [3]]))[::-1]
    message = wire.decode(wire.encode([])).append(part)
    assert message.tensors[0].tolist() == [[3], [1, 2]]


def test_s5_a_view_of_a_source_has_the_origin_of_the_source():
    elements = np.arange(6.0).reshape(2, 3)
    source = CountingSource(elements, origin=(5, -1))
    view = sel.as_view(source)
    assert repr(view.shape) == "Shape(2, 3, origin=(5, -1))"
    assert repr(sent(view).shape) == "Shape(2, 3, origin=(5, -1))"
    assert sent(view).tolist() == elements.tolist()
    part = view.window(Shape(1, 2, origin=(6, 0)))
    assert (repr(part.compute().shape), part.compute().tolist()) == (
        "Shape(1, 2, origin=(6, 0))",
        [[4.0, 5.0]],
    )
    assert view[1, ::-1].compute().tolist() == [5.0, 4.0, 3.0]
    assert (view + 1).tolist() == (elements + 1).tolist()
    assert sel.concat([view, view]).compute().tolist() == np.concatenate([elements] * 2).tolist()
