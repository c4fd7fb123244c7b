"""Output that every known reader gets right, and times and other values in metadata."""

import datetime as dt
import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.wire import Message, decode, encode
from tests.support.wire.golden import CPP, array_of, frames_of, header_of
from tests.support.wire.messages import GOOD, PAYLOAD, described, message

X = np.arange(6.0).reshape(2, 3)


def refusal(call):
    with pytest.raises(LocalProtocolError) as caught:
        call()
    return caught.value


def strict(*tensors, **options):
    return encode(list(tensors), compat="strict", **options)


def simple_reader(frames, number):
    """Read a tensor as the consumers in the field do: its number for its part, no other key."""
    tensor = json.loads(bytes(frames[0])[8:])["TENS"]["tensors"][number]
    data = np.frombuffer(frames[2 + number], tensor["dtype"] + str(tensor["word"]))
    return data.reshape(tensor["shape"])


@pytest.mark.parametrize(
    "make",
    [lambda a: a, np.asfortranarray, lambda a: a[::-1, ::2], lambda a: a.astype(">f4"), lambda a: a[:0]],
    ids=["C order", "Fortran order", "strided", "big-endian", "empty"],
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_simple_readers_get_it_right(make, dtype):
    arrays = [X.astype(dtype), make(X).astype(dtype), make(X.astype(dtype))]
    frames = strict(*arrays, extra_parts=[b"mine"])
    for number, array in enumerate(arrays):
        assert np.array_equal(simple_reader(frames, number), array)
    assert bytes(frames[2 + len(arrays)]) == b"mine"


@pytest.mark.parametrize("name", [n for n in CPP if n.startswith(("tens_three", "level_", "coord_pattern"))])
def test_strict_output_has_the_bytes_of_the_reference(name):
    case = CPP[name]
    if case["expect_tensors"]:
        frames = strict(*[array_of(e) for e in case["expect_tensors"]], **header_of(case))
        assert [bytes(f) for f in frames] == frames_of(case)
    assert encode(decode(frames_of(case)), compat="strict")[1:] == frames_of(case)[1:]


REFUSED = {
    "bool": (lambda: strict(X > 1), "elements 'b'"),
    "complex": (lambda: strict(X.astype("c8")), "elements 'c'"),
    "half": (lambda: strict(X.astype("f2")), "elements 'f' of 2"),
    "long double": (lambda: strict(X.astype(np.longdouble), allow_longdouble=True), "elements 'f' of 16"),
    "time": (lambda: strict(X.astype("M8[s]")), "logical"),
    "origin": (lambda: strict(tw.as_tensor(X).window(Shape(1, 2, origin=(1, 1)))), "origin"),
    "order": (lambda: strict(X.T, layout="keep"), "order"),
    "ascend": (lambda: strict(X[::-1], layout="keep"), "ascend"),
    "jagged": (lambda: strict(tw.jagged([[1, 2], [3]])), "jagged, packing"),
    "tiled": (lambda: strict(tw.as_tensor(X).tiled(tw.Tiling([1, 1], [3]))), "packing, tiled"),
    "permuted parts": (lambda: strict(X, X, parts=[1, 0]), "tensor 0 is in part 1"),
    "large integer": (lambda: strict(X, metadata={"n": 2**64}), "18446744073709551616"),
    "small integer": (lambda: strict(X, tensor_metadata=[{"n": -(2**63) - 1}]), "-9223372036854775809"),
    "large integer of the application": (lambda: strict(X, label={"n": [{"m": 2**64}]}), "184467"),
    "data of a flow that look like its end": (
        lambda: strict(form="FLOW", label={"flow": "DAT"}),
        "end of the flow",
    ),
    "data of a flow without elements": (
        lambda: strict(X[:0], form="FLOW", label={"flow": "DAT"}),
        "end of the flow",
    ),
}


@pytest.mark.parametrize(("call", "named"), REFUSED.values(), ids=REFUSED.keys())
def test_what_simple_readers_get_wrong_is_refused(call, named):
    error = refusal(call)
    assert error.reason == "unsupported"
    assert 'compat="strict"' in str(error)
    assert named in str(error)


@pytest.mark.parametrize(
    "frames",
    [
        message(described({**GOOD, "part": 1}), b"", PAYLOAD),
        message(described({k: v for k, v in GOOD.items() if k != "part"}), PAYLOAD),
        message(described(GOOD, GOOD), PAYLOAD),
        message(described({**GOOD, "x-app": 1}), PAYLOAD),
        message(described({**GOOD, "order": [1, 0]}), PAYLOAD),
        message(described({"packing": "x"})),
    ],
    ids=["a part before", "no part", "shared part", "novel key", "order", "unknown packing"],
)
def test_messages_that_simple_readers_get_wrong_are_refused(frames):
    assert refusal(lambda: encode(decode(frames), compat="strict")).reason == "unsupported"
    assert encode(decode(frames)) == frames


@pytest.mark.parametrize(
    ("tensors", "options", "added"),
    [
        ([X], {}, []),
        ([X[:0]], {}, [b"\0"]),
        ([X[:0], X], {}, []),
        ([X, X[:0]], {"extra_parts": [b"mine"]}, []),
        ([X], {"extra_parts": [b""]}, [b"\0"]),
        ([], {}, []),
    ],
)
def test_no_message_ends_with_an_empty_part(tensors, options, added):
    plain = encode(tensors, **options)
    frames = strict(*tensors, **options)
    assert [bytes(f) for f in frames] == [*map(bytes, plain), *added]
    assert [t.tolist() for t in decode(frames).tensors] == [np.asarray(t).tolist() for t in tensors]


def test_other_parts_of_a_flow_may_be_empty():
    for verb in ("BOT", "PAY", "EOT"):
        assert len(strict(form="FLOW", label={"flow": verb})) == 2
    assert len(strict(X, form="FLOW", label={"flow": "DAT"})) == 3


@pytest.mark.parametrize("compat", ["", "Strict", True, 1])
def test_there_is_one_way_to_be_compatible(compat):
    with pytest.raises(ConversionError, match="strict"):
        encode([X], compat=compat)


ZONE = dt.timezone(dt.timedelta(hours=2))
TIMES = [
    (dt.date(2026, 11, 21), "2026-11-21"),
    (dt.datetime(2026, 11, 21, 9, 45, 0, 5, tzinfo=dt.UTC), "2026-11-21T09:45:00.000005+00:00"),
    (dt.datetime(2026, 11, 21, 9, 45, tzinfo=ZONE), "2026-11-21T09:45:00+02:00"),
    (dt.time(9, 45), "09:45:00"),
    (np.datetime64("2026-11-21"), "2026-11-21"),
    (np.datetime64("2026"), "2026"),
    (np.datetime64("2026-11-21T09:45:00.000000001"), "2026-11-21T09:45:00.000000001"),
]


@pytest.mark.parametrize(("value", "text"), TIMES)
def test_times_are_written_as_text(value, text):
    frames = encode([X], metadata={"list": [value]}, tensor_metadata=[{"when": value}], label={"at": value})
    read = decode(frames)
    assert (read.metadata, read.tensor_metadata[0]) == ({"list": [text]}, {"when": text})
    assert read.label_object["at"] == text
    assert Message().append(X, {"when": value}).tensor_metadata == ({"when": text},)


@pytest.mark.parametrize("value", [np.datetime64("NaT", "s"), dt.timedelta(1), np.timedelta64(1, "s")])
def test_what_is_no_time_is_refused(value):
    error = refusal(lambda: encode([X], tensor_metadata=[{"when": value}]))
    assert error.reason == "schema"
    assert "metadata of tensor 0['when']" in str(error)
