"""Section 2: a limit in the way of a reader of files is named; no reader is forgotten."""

import contextlib
import inspect

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.wire import Limits

ZEROS = np.zeros(1000)
PROVOKED = {
    "label_bytes": (ZEROS, 10),
    "label_items": (ZEROS, 3),
    "depth": (ZEROS, 1),
    "digits": (ZEROS, 5),
    "rank": (np.zeros((1, 1, 1)), 2),
    "extent": (ZEROS, 999),
    "tensors": (ZEROS, 0),
    "parts": (ZEROS, 1),
    "total_bytes": (ZEROS, 7999),
    "empty_elements": (np.zeros((50, 0)), 49),
    "decompressed_bytes": (ZEROS, 7999),
}


def test_every_limit_is_provoked_but_that_of_what_is_received():
    assert set(PROVOKED) == {field.name for field in attrs.fields(Limits)} - {"received_bytes"}


@pytest.mark.parametrize("reader", [tw.open, tw.TensFile])
@pytest.mark.parametrize("name", PROVOKED)
def test_section_2_a_limit_is_named_with_the_way_to_raise_it(name, reader, tmp_path):
    tensor, most = PROVOKED[name]
    path = tmp_path / "run.tens"
    codec = "zlib" if name == "decompressed_bytes" else None
    tw.save(path, {"x": tensor}, metadata={"a": 123456}, compress=codec)

    def read(limits):
        with reader(path, limits=limits) as f:
            _ = f.metadata
            return f["x"].elements()

    with pytest.raises(TensorWrapperError) as caught:
        read(Limits(**{name: most}))
    assert f"limits=Limits({name}=...) can raise it" in str(caught.value)
    assert len(read(Limits(**{name: 2**40}))) == tensor.size


TRIED = {
    "store.compact",
    "store.open",
    "store.verify",
    "store.TensFile",
    "wire.decode",
    "wire.decode_frames",
    "wire.StreamReader",
}
WRITERS = {"store.save", "wire.encode", "wire.split_blocks"}
"""What they refuse stands in the tests of limits."""
SOCKETS = {
    "transport.Socket",
    "transport.AsyncSocket",
    "transport.TransferSender",
    "transport.TransferReceiver",
}
"""They hand their limits to the readers of messages."""


def test_section_2_no_reader_with_limits_is_forgotten():
    found = set()
    for home in filter(lambda name: inspect.ismodule(getattr(tw, name)), tw.__all__):
        module = getattr(tw, home)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not inspect.isclass(value) and not inspect.isfunction(value):
                continue
            with contextlib.suppress(TypeError, ValueError):
                limits = inspect.signature(value).parameters.get("limits")
                if limits is not None and isinstance(limits.default, Limits):
                    found.add(f"{home}.{name}")
    assert found == TRIED | WRITERS | SOCKETS
