"""What works for users of other libraries: the hints of errors, and that they cost nothing else."""

import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper._hints import ARRAY_NAMES, Hinted, answered, hint
from tests.support.advice import advice_tests

# What somebody writes, and what the error says that works; all that it says is run.
MISTAKES = {
    "tw.Tensor([1, 2])": "tw.as_tensor([1, 2])",
    "tw.Tensor(x)": "tw.as_tensor([1, 2])",
    "tw.Tensor((2, 3))": "tw.as_tensor([1, 2])",
    "tw.Tensor()": "tw.as_tensor([1, 2])",
    "tw.zeros(2, 3)": "tw.zeros((2, 3))",
    'tw.zeros((2, 3), "i4")': "tw.zeros((2, 3))",
    'tw.zeros((2, 3), order="F")': "tw.zeros((2, 3))",
    "tw.ones((2, 3))": "tw.full((2, 3), 1.0)",
    "tw.full((2, 3))": "tw.full((2, 3), 1)",
    'tw.full((2, 3), 1, "f4")': "tw.full((2, 3), 1)",
    "tw.full(2, 3, 1)": "tw.full((2, 3), 1)",
    "tw.empty(2, 3)": "tw.empty((2, 3))",
    "tw.empty_like(t)": "tw.empty(t.shape, dtype=t.dtype)",
    "tw.zeros_like(t)": "tw.zeros(t.shape, dtype=t.dtype)",
    "tw.array([1, 2])": "tw.as_tensor([1, 2])",
    "tw.asarray([1, 2])": "tw.as_tensor([1, 2])",
    "tw.arange(3)": "tw.as_tensor(np.arange(3))",
    "tw.linspace(0, 1, 3)": "sel.linspace(0, 1, 5)",
    "tw.concatenate([t, t])": "tw.concat([t, t])",
    "tw.hstack([t, t])": "tw.concat([t, t])",
    "tw.vstack([t, t])": "tw.concat([t, t])",
    "tw.transpose(t)": "t.permute(1, 0)",
    "tw.sum(t)": "np.add.reduce(t, axis=0)",
    "tw.mean(t)": "np.mean(t)",
    "tw.dot(t, t)": "np.mean(t)",
    "tw.matmul(t, t)": "np.mean(t)",
    'tw.einsum("ij,jk->ik", t, t)': "tw.einsum_shape('ij,jk->ik', (2, 3), (3, 4))",
    "tw.tensordot(t, t)": "np.mean(t)",
    "tw.random.rand(3)": "sel.random((2, 3), seed=1)",
    "tw.random": "sel.random((2, 3), seed=1)",
    'tw.load("f.tens")': "tw.open('f.tens')",
    "tw.float32": "tw.zeros((2,), dtype=np.float32)",
    "tw.ndarray": "tw.as_tensor([1, 2])",
    "tw.newaxis": "t[None]",
    "tw.pad(t, 1)": "t.pad([(1, 1), (0, 0)])",
    "tw.from_numpy(x)": "tw.as_tensor([1, 2])",
    "tw.from_array(x)": "tw.as_tensor([1, 2])",
    "tw.View": "sel.as_view(t)",
    "tw.Array([1])": "tw.as_tensor([1, 2])",
    "tw.reshape(t, (3, 2))": "t.reshape(3, 2)",
    "tw.repeat(t, 2)": "t.repeat_each(0, 2)",
    'tw.as_tensor([1, 2], dtype="f4")': "tw.as_tensor([1, 2]).astype('f4')",
    'tw.as_tensor([1, 2], "f4")': "tw.as_tensor([1, 2]).astype('f4')",
    "tw.concat(t, t)": "tw.concat([t, t], mode=0)",
    "tw.concat([t, t], axis=0)": "tw.concat([t, t], mode=0)",
    "tw.concat([t, t], 0)": "tw.concat([t, t], mode=0)",
    "tw.concat([t, t], dim=0)": "tw.concat([t, t], mode=0)",
    "tw.stack(t, t)": "tw.stack([t, t], mode=0)",
    "tw.stack([t, t], axis=0)": "tw.stack([t, t], mode=0)",
    "tw.where(t > 1)": "tw.where(t > 0, t, 0)",
    "tw.sparse(x)": "tw.sparse([(0, 1)], [1.5], (2, 3))",
    "tw.sparse([[0, 1]])": "tw.sparse([(0, 1)], [1.5], (2, 3))",
    "tw.Tensor.from_numpy(x)": "tw.as_tensor([1, 2])",
    "tw.Tensor.zeros((2, 3))": "tw.zeros((2, 3))",
    'tw.from_buffer(x, dtype="f8", count=3)': "tw.from_buffer(bytes(16), (2,), dtype='f8')",
    "sel.concat(t, t)": "tw.concat([t, t], mode=0)",
    "sel.ones(2, 3)": "sel.ones((2, 3))",
    "sel.uniform(3)": "sel.uniform((2, 3), seed=1)",
    "sel.eye(3, k=1)": "sel.eye(3, 4, diagonal=1)",
    "sel.linspace(0, 1, num=5)": "sel.linspace(0, 1, 5)",
    'tw.zeros(2, 3, dtype="f4")': "tw.zeros((2, 3))",
    "tw.sqrt(t)": "np.mean(t)",
    "tw.max(t)": "np.maximum.reduce(t, axis=None)",
    "tw.abs(t)": "np.mean(t)",
    "tw.identity(3)": "tw.eye(3)",
    "tw.ones_like(t)": "tw.full(t.shape, 1, dtype=t.dtype)",
    "tw.cat([t, t])": "tw.concat([t, t])",
    "tw.dstack([t, t])": "tw.stack([t, t], mode=2)",
    "tw.tile(t, 2)": "t.repeat((2, 1))",
    "tw.roll(t, 1)": "t.rotate((1, 0))",
    "tw.flip(t)": "t.reverse(0)",
    "tw.take(t, 0)": "t.gather(0, [1, 0])",
    "tw.split(t, 2)": "t.tiled(tw.Tiling([1, 1], [3]))",
    "tw.ravel(t)": "t.flatten()",
    "tw.squeeze(t)": "t.squeeze()",
    "tw.broadcast_to(t, (5, 2, 3))": "t.broadcast((5, 2, 3))",
    "tw.array_equal(t, t)": "t.array_equal(t)",
    "tw.RaggedTensor": "tw.jagged([[1, 2], [3]])",
    "tw.TiledRange([1], [2])": "tw.Tiling([1, 2], [3])",
    "tw.dtype": "tw.zeros((2,), dtype=np.float32)",
    "sel.zeros(2, 3)": "sel.zeros((2, 3))",
    "sel.full(2, 3, 1)": "sel.full((2, 3), 1)",
    "sel.random(2, 3)": "sel.random((2, 3), seed=1)",
    "sel.integers((2, 3), 0, 10)": "sel.integers((2, 3), 0, 10, seed=1)",
    'sel.pad(t, 1, mode="edge")': "sel.pad(t, [(1, 1), (0, 0)])",
    "sel.stack([t, t], axis=1)": "tw.stack([t, t], mode=0)",
    "sel.concat([t, t], axis=1)": "tw.concat([t, t], mode=0)",
    'f.read("a")': "f['x']",
    "f.shape": "f['x'].shape",
    'f.create_dataset("a", (2,))': "tw.save('g.tens', {'x': t})",
    "f.attrs": "f.metadata",
    "f.root": "list(f)",
    "f.names()": "list(f)",
    "f.tensors": "list(f)",
    'f.load("x")': "f['x']",
    "f.update({})": "g['y'] = t",
    'f.pop("x")': "tw.save('g.tens', dict(f))",
    'f.create_array("x")': "tw.save('g.tens', {'x': t})",
    'f.get_tensor("x")': "f['x']",
}


test_a_mistake_is_answered_by_what_works, test_all_that_is_advised_works = advice_tests(
    MISTAKES, "tensorwrapper", "tensor", "selection", "TensFile"
)


def classes():
    t = tw.as_tensor([[1, 2]])
    return [t, sel.as_view(t), t.shape, t.layout, tw.Tiling([1, 2]), tw.Mask(tw.Shape(2), [0])]


@pytest.mark.parametrize("value", classes(), ids=lambda value: type(value).__name__)
def test_names_that_are_not_there_are_not_shown(value):
    assert not hasattr(value, "mT")
    assert not hasattr(type(value), "mT")
    assert "mT" not in dir(value)
    assert "mT" not in dir(type(value))
    assert getattr(value, "mT", None) is None
    assert {name for name in dir(type(value)) if not name.startswith("_")} <= set(dir(value))


@pytest.mark.parametrize("value", classes(), ids=lambda value: type(value).__name__)
def test_attributes_are_looked_up_as_quickly_as_without(value):
    # With a `__getattr__` Python looks up every attribute the slow way.
    assert not any("__getattr__" in vars(base) for base in type(value).__mro__)


def test_a_name_that_nobody_uses_is_answered_as_ever():
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'$"):
        tw.as_tensor([1]).no_such_name  # noqa: B018


def test_an_error_from_within_is_left_as_it_is():
    def twice(number):
        return 2 * number + ""

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        answered(twice, "`twice(2)`")(2)
    assert "`" not in str(caught.value)


def test_what_a_class_has_stays_its_own():
    class Shape(metaclass=Hinted):
        def sum(self):
            return 3

    hint(Shape, "Shape")

    assert Shape().sum() == 3
    assert "mean" not in dir(Shape)
    with pytest.raises(AttributeError, match="has indices and no elements"):
        Shape().mean  # noqa: B018
    assert len(set(ARRAY_NAMES.split())) == len(ARRAY_NAMES.split()) > 100


@pytest.mark.parametrize("value", classes()[2:], ids=lambda value: type(value).__name__)
def test_what_has_no_elements_is_no_array_for_numpy(value):
    assert (np.ones(2) == value) is False
    with pytest.raises(TypeError, match=r"has .* and no elements"):
        np.prod(value)
    with pytest.raises(TypeError):
        np.ones(2) + value


@pytest.mark.parametrize(
    "value", [tw.Shape(2, 3), tw.Tiling([1, 2]), tw.Layout((2, 3)), tw.Mask(tw.Shape(4), [0])], ids=repr
)
def test_values_are_kept_in_lists_and_pickles(value):
    assert pickle.loads(pickle.dumps([value])) == [value]
    column = np.empty(1, dtype=object)
    column[0] = value
    assert column.tolist() == [value]


def wrapped(function):
    return function.__code__.co_filename.endswith("_hints.py")


def test_what_is_called_often_is_called_without_a_detour():
    often = [
        tw.Shape.flatten,
        tw.Layout.flatten,
        tw.concat,
        tw.as_tensor,
        tw.Tensor.reshape,
        sel.View.reshape,
        tw.Tensor.tolist,
        sel.View.tolist,
    ]

    assert [one for one in often if wrapped(one)] == []
    assert wrapped(tw.zeros)
