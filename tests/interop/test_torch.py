"""Tensors of PyTorch, both ways; without PyTorch these tests are skipped."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", TYPES)
def test_boxes_share_their_memory_both_ways(dtype):
    x = np.arange(24).astype(dtype).reshape(2, 3, 4)
    for tensor in (tw.as_tensor(x), tw.as_tensor(x).permute((2, 0, 1)), tw.as_tensor(x)[:, ::2]):
        there = tensor.to_torch()
        back = tw.as_tensor(there)

        assert there.numpy().tolist() == tensor.tolist() == back.tolist()
        assert np.shares_memory(there.numpy(), x)
        assert np.shares_memory(back.to_numpy(), x)
        assert back.dtype == x.dtype


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_of_ml_dtypes_keep_their_bits(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.linspace(-3, 3, 24).astype(getattr(ml_dtypes, name)).reshape(4, 6)
    there = tw.as_tensor(x).to_torch()
    back = tw.as_tensor(there)

    assert there.dtype == getattr(torch, name)
    assert there.to(torch.float32).numpy().tolist() == x.astype(np.float32).tolist()
    assert back.dtype == x.dtype
    assert np.shares_memory(back.to_numpy().view(f"i{x.itemsize}"), x.view(f"i{x.itemsize}"))


def test_what_pytorch_has_no_memory_for_is_copied():
    x = np.arange(6.0)
    fixed = x.copy()
    fixed.flags.writeable = False
    for array in (x[::-1], x.astype(">f8"), fixed):
        there = tw.as_tensor(array).to_torch()

        assert there.tolist() == array.tolist()
        assert not np.shares_memory(there.numpy(), array)


def test_rows_are_jagged_tensors_over_the_same_memory():
    x = np.arange(6.0)
    tensor = tw.from_buffer(x, tw.Shape.jagged([3, 0, 1, 2]))
    there = tensor.to_torch()
    back = tw.as_tensor(there)

    assert there.layout is torch.jagged
    assert [row.tolist() for row in there.unbind()] == tensor.tolist()
    assert back.shape == tensor.shape
    assert np.shares_memory(there.values().numpy(), x)
    assert np.shares_memory(back.elements(), x)


@pytest.mark.parametrize("cells", [[(3, 5), (1, 5)], [(3, 5), (1, 4), (0, 2)], [(2, 3), (2, 3)]])
def test_cells_go_there_and_back(cells):
    shape = tw.Shape.from_cells((len(cells),), cells)
    tensor = tw.from_buffer(np.arange(float(shape.size)), shape)
    there = tensor.to_torch()

    assert [cell.tolist() for cell in there.unbind()] == tensor.tolist()
    assert tw.as_tensor(there).tolist() == tensor.tolist()


def test_transposed_and_narrowed_nested_tensors_are_read():
    given = torch.nested.nested_tensor([torch.rand(2, 3), torch.rand(4, 3)], layout=torch.jagged)
    turned = given.transpose(1, 2)
    lengths = torch.tensor([2, 3, 0])
    whole, starts = torch.arange(12.0).reshape(3, 4), torch.tensor([0, 1, 2])
    narrow = torch.nested.narrow(whole, 1, starts, lengths, layout=torch.jagged)

    assert tw.as_tensor(turned).tolist() == [cell.tolist() for cell in turned.unbind()]
    assert tw.as_tensor(narrow).tolist() == [[0.0, 1.0], [5.0, 6.0, 7.0], []]


def test_sparse_tensors_go_there_and_back():
    tensor = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    there = tensor.to_torch()

    assert there.to_dense().tolist() == tensor.to_dense().tolist()
    for given in (there, there.to_sparse_csr(), there.to_sparse_csc()):
        assert tw.as_tensor(given).array_equal(tensor)
    with pytest.raises(ConversionError, match="copy=False"):
        tw.as_tensor(there, copy=False)


def test_views_are_computed_and_a_copy_is_one():
    tensor = tw.as_tensor(np.arange(6.0))
    x = torch.arange(3.0)

    assert sel.concat([tensor, tensor])[4:8].to_torch().tolist() == [4.0, 5.0, 0.0, 1.0]
    assert not np.shares_memory(tw.as_tensor(x, copy=True).to_numpy(), x.numpy())


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tw.as_tensor(torch.ones(2, requires_grad=True)), ConversionError, "detach"),
        (lambda: tw.as_tensor(torch.ones(2, dtype=torch.complex64).conj()), ConversionError, "conj"),
        (lambda: tw.as_tensor(torch.ones(2, device="meta")), ConversionError, "cpu"),
        (lambda: tw.strings(["a"]).to_torch(), DTypeError, "StringDType"),
        (lambda: tw.as_tensor(np.ones(2, "M8[s]")).to_torch(), DTypeError, "datetime64"),
        (lambda: tw.jagged([[[1], [2, 3]], []]).to_torch(), ConversionError, "flatten"),
        (lambda: tw.sparse([(0,)], [1.0], tw.Shape(2), fill_value=2.0).to_torch(), ConversionError, "filled"),
    ],
)
def test_what_cannot_be_handed_over_is_refused_by_name(make, error, words):
    with pytest.raises(error, match=words):
        make()
