"""Section 2: what is written can be read again, or is refused with the name of the limit."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, wire
from tensorwrapper.errors import DataFileError, LocalProtocolError, TensorWrapperError
from tensorwrapper.wire import Limits

NEST = {}
INNER = NEST
for _ in range(80):
    INNER["a"] = {}
    INNER = INNER["a"]

TENSORS = {
    "extent": np.empty((0, 2**37), "u1"),
    "origin": tw.zeros(Shape(2, origin=(2**62 + 5,))),
    "empty_elements": np.empty((2**25, 0)),
    "total_bytes": np.empty((0, 2**25, 2**25)),
    "an extent of a sparse tensor": tw.sparse(np.array([[1]]), np.array([2.0]), Shape(2**37)),
}
METADATA = {
    "label_bytes": {"a": "x" * (17 * 2**20)},
    "depth": NEST,
    "digits": {"a": 10**1500},
    "label_items": {"a": [0] * 1_100_000},
}


def read(path, limits):
    with tw.open(path, limits=limits) as f:
        return f.metadata, {name: (f[name].shape, f.tensor_metadata(name)) for name in f}


@pytest.mark.parametrize("name", [*TENSORS, *METADATA])
def test_section_2_what_no_default_reader_takes_is_not_written(name, tmp_path):
    path = tmp_path / "run.tens"
    what = {"x": TENSORS[name]} if name in TENSORS else {}

    def save(limits=wire.DEFAULT_LIMITS):
        tw.save(path, what, metadata=METADATA.get(name), limits=limits)

    with pytest.raises(LocalProtocolError, match="could not be read again") as caught:
        save()
    assert not path.exists()
    said = str(caught.value)
    if name == "origin":
        assert said.endswith("so it is always")
        return
    limit = "extent" if "extent" in name else name
    assert f"limits=Limits({limit}=...) can raise" in said
    raised = Limits(**{limit: 2**61})
    save(raised)
    read(path, raised)
    with pytest.raises(DataFileError):
        read(path, Limits())


def test_section_2_append_refuses_and_the_file_goes_on(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "a") as f:
        f["a"] = [1]
        for tensor in TENSORS.values():
            with pytest.raises(LocalProtocolError):
                f["x"] = tensor
        with pytest.raises(LocalProtocolError, match=r"Limits\(digits"):
            f.append("x", [1], metadata={"k": 10**1500})
        f["b"] = [2]
    with tw.open(path) as f:
        assert list(f) == ["a", "b"]
    assert tw.store.verify(path).ok


def test_section_2_tighter_limits_hold_for_what_is_written(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "w", limits=Limits(extent=10)) as f:
        f["a"] = np.zeros(10)
        with pytest.raises(LocalProtocolError, match=r"Limits\(extent"):
            f["b"] = np.zeros(11)


@pytest.mark.parametrize("seed", range(6))
def test_section_2_whatever_is_written_is_read(seed, tmp_path):
    rng = np.random.default_rng(seed)
    path = tmp_path / "run.tens"
    numbers = [0, 1, 2, 2**20, 2**31, 2**36, 2**36 + 1, 2**40, 2**61, 2**62]
    written = 0
    for _ in range(60):
        extents = [int(rng.choice(numbers)) for _ in range(rng.integers(1, 4))]
        origin = [int(rng.choice([0, -1, 1])) * int(rng.choice(numbers)) for _ in extents]
        try:
            shape = Shape(*extents, origin=origin)
            tensor = tw.sparse(np.zeros((0, len(extents)), np.int64), np.zeros(0), shape)
            if rng.random() < 0.5:
                tensor = tw.zeros(Shape(*[min(n, 3) for n in extents], origin=origin))
            tw.save(path, {"x": tensor})
        except TensorWrapperError:
            continue
        written += 1
        with tw.open(path) as f:
            assert f["x"].shape == tensor.shape
    assert written


def test_section_2_a_file_opens_everywhere_and_taking_too_much_is_refused(tmp_path):
    path, n = tmp_path / "run.tens", 2**20
    for piece_bytes in (n * 2, n * 4):
        tw.save(path, {"x": np.arange(n)}, compress="zlib", piece_bytes=piece_bytes)
        with tw.open(path, limits=Limits(decompressed_bytes=piece_bytes - 1)) as f:
            x = f["x"]
            assert f.describe("x").shape == x.shape == Shape(n)
            with pytest.raises(TensorWrapperError, match=r"Limits\(decompressed_bytes=...\) can raise it"):
                x.copy()
        with tw.open(path, limits=Limits(decompressed_bytes=piece_bytes)) as f:
            assert f["x"].copy().tolist() == list(range(n))
