"""The messages recorded from the reference implementations, for tests of what is read and written."""

import hashlib
import json
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parents[2] / "golden"


def load(name):
    cases = json.loads((GOLDEN / name).read_text("utf-8"))["cases"]
    return {case["name"]: case for case in cases}


CPP, PY = load("zio-cpp.json"), load("zio-py.json")


def array_of(expected):
    """The array that a case describes, made of its values alone."""
    values, dtype = expected.get("values_flat_c_order"), np.dtype(expected["numpy_dtype"])
    if values is None:
        # The long boundary cases count up and wrap.
        assert dtype == np.uint8
        values = np.arange(expected["nbytes"]) % 256
    elif dtype.kind == "c":
        values = [complex(*pair) for pair in values]
    return np.array(values, dtype=dtype).reshape(expected["shape"])


def frames_of(case):
    if "frames" in case:
        return [bytes.fromhex(frame) for frame in case["frames"]]
    # Two cases leave out their frames: they are put together from the fields, and proven by their hashes.
    prefix = f"ZIO{case['level']}{case['form']:4}{case['label']}".encode()
    coordinates = np.array([case["origin"], case["granule"], case["seqno"]], dtype="<u8").tobytes()
    frames = [prefix, coordinates, *[array_of(e).tobytes() for e in case["expect_tensors"]]]
    assert [hashlib.sha256(f).hexdigest() for f in frames] == case["frames_omitted"]["sha256"]
    return frames


def header_of(case):
    return {key: case[key] for key in ("form", "level", "origin", "granule", "seqno")}
