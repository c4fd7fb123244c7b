"""What is received is written where it belongs."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    FlowAbortedError,
    ReadOnlyError,
)
from tensorwrapper.transport import Transfers
from tests.support.selection.kinds import KINDS
from tests.support.transport.sockets_of_transfers import Sending, through


def targets():
    base = np.zeros((400, 300), "i4")
    return {
        "contiguous": np.zeros((200, 150), "i4"),
        "pitched": base[:200, :150],
        "every second": base[::2, ::2],
        "reversed": base[199::-1, 149::-1],
        "transposed": np.zeros((150, 200), "i4").T,
        "deep": np.zeros((200, 2, 75, 3), "i4")[..., 1].reshape(200, 150),
    }


@pytest.mark.parametrize("name", targets())
@pytest.mark.parametrize("check", [None, "crc32"])
def test_it_is_written_where_it_belongs(listening, name, check):
    tensor = np.arange(30_000, dtype="i4").reshape(200, 150)
    out = targets()[name]
    received = through(listening, tensor, out, check=check)
    assert np.array_equal(out, tensor)
    assert np.shares_memory(received.to_numpy(), out)


def test_a_target_that_is_a_memory_map(listening, tmp_path):
    tensor = np.arange(30_000, dtype="i4")
    out = np.memmap(tmp_path / "out", "i4", "w+", shape=(30_000,))
    through(listening, tensor, out)
    assert np.array_equal(out, tensor)


def test_a_jagged_tensor_is_written_into_one_of_its_shape(listening):
    tensor = KINDS["jagged"](4000, 3)
    out = tw.from_buffer(np.zeros(tensor.size, tensor.dtype), tensor.shape)
    received = through(listening, tensor, out)
    assert out.array_equal(tensor)
    assert received is out


def test_another_shape_of_rows_is_refused(listening):
    out = tw.from_buffer(np.zeros(6), tw.Shape.jagged([1, 5]))
    with pytest.raises(ExtentMismatchError, match="out="):
        through(listening, tw.from_buffer(np.arange(6.0), tw.Shape.jagged([3, 3])), out)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros((3, 5)), ExtentMismatchError),
        (np.zeros((3, 4), "f4"), DTypeError),
        (np.broadcast_to(np.zeros(4), (3, 4)), ReadOnlyError),
        (np.zeros((3, 4)).tolist(), None),
        ("text", (ConversionError, ExtentMismatchError, DTypeError)),
    ],
)
def test_what_is_no_place_for_it_is_refused_and_the_peer_is_told(listening, out, error):
    if error is None:
        return
    socket, address = listening
    sending = Sending(address, np.zeros((3, 4)))
    with Transfers(socket) as transfers, pytest.raises(error):
        transfers.receive(out, timeout=10)
    with pytest.raises(FlowAbortedError):
        sending.end()
