"""What we refuse to write, and how what we write is spelled."""

import enum
import json
import sys
from collections import deque

import attrs
import numpy as np
import pytest

from tensorwrapper import Shape, as_tensor, sparse, wire
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, LocalProtocolError
from tensorwrapper.wire import Limits, Message, decode, encode

X = np.arange(6.0).reshape(2, 3)


def refusal(call):
    with pytest.raises(LocalProtocolError) as caught:
        call()
    return caught.value


def label_of(*args, **options):
    return json.loads(bytes(encode(*args, **options)[0])[8:])


@pytest.mark.parametrize("make", [lambda **k: encode([X], **k), Message], ids=["encode", "Message"])
@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"form": "TENSOR"}, "TENSOR"),
        ({"form": "TÄNS"}, "TÄNS"),
        ({"form": "A\0"}, "form"),
        ({"form": "A\n"}, "form"),
        ({"level": 9}, "9"),
        ({"level": -1}, "-1"),
        ({"level": True}, "level"),
        ({"level": 1.5}, "level"),
        ({"level": "3"}, "level"),
        *[({key: -1}, key) for key in ("origin", "granule", "seqno")],
        *[({key: 2**64}, key) for key in ("origin", "granule", "seqno")],
        *[({key: 1.0}, key) for key in ("origin", "granule", "seqno")],
        *[({key: True}, key) for key in ("origin", "granule", "seqno")],
    ],
)
def test_header_fields_that_do_not_fit(make, fields, named):
    error = refusal(lambda: make(**fields))
    assert error.reason == "frame"
    assert named in str(error)


@pytest.mark.parametrize("form", ["", "A", "TENS", "a b", " A", "~!"])
def test_short_forms_are_padded_on_the_wire_and_bare_in_python(form):
    frames = encode([X], form=form)
    assert bytes(frames[0])[4:8] == form.ljust(4).encode()
    assert decode(frames).form == form == Message(form=form).form


def test_header_fields_may_be_any_integers():
    fields = {"level": np.uint8(8), "origin": np.uint64(2**64 - 1), "granule": np.int8(3), "seqno": 2**63}
    message = decode(encode([], **fields))
    assert (message.level, message.origin, message.granule, message.seqno) == (8, 2**64 - 1, 3, 2**63)


class Speed(enum.IntEnum):
    FAST = 2


PLAIN = {
    "int": np.int8(3),
    "uint": np.uint64(2**64 - 1),
    "float": np.float32(0.5),
    "double": np.float64(0.1),
    "bool": np.bool_(True),
    "text": np.str_("é"),
    "enum": Speed.FAST,
    "none": None,
    "large": 10**40,
}
AS_JSON = {
    "int": 3,
    "uint": 2**64 - 1,
    "float": 0.5,
    "double": 0.1,
    "bool": True,
    "text": "é",
    "enum": 2,
    "none": None,
    "large": 10**40,
}


def test_scalars_of_numpy_are_written_as_json():
    (read,) = decode(encode([X], tensor_metadata=[PLAIN])).tensor_metadata
    assert read == AS_JSON
    assert [type(value) for value in read.values()] == [type(AS_JSON[key]) for key in read]
    nested = {"list": [PLAIN, [PLAIN]], "tuple": (1, (2,)), "object": {"deep": PLAIN}}
    assert decode(encode([], metadata=nested)).metadata == {
        "list": [AS_JSON, [AS_JSON]],
        "tuple": [1, [2]],
        "object": {"deep": AS_JSON},
    }


NOT_JSON = [
    float("nan"),
    float("inf"),
    -np.inf,
    np.float32("nan"),
    np.longdouble(1),
    1j,
    b"bytes",
    bytearray(b"x"),
    np.bytes_(b"x"),
    np.datetime64("NaT", "s"),
    np.timedelta64(1, "s"),
    {1, 2},
    np.arange(3),
    object(),
]


@pytest.mark.parametrize("value", NOT_JSON, ids=lambda v: type(v).__name__)
def test_values_that_json_cannot_say(value):
    for call in (
        lambda: encode([X, X], tensor_metadata=[None, {"ok": 1, "bad": value}]),
        lambda: encode([X], metadata={"ok": 1, "list": [0, {"bad": value}]}),
        lambda: encode([X], label={"ok": 1, "list": [0, {"bad": value}]}),
    ):
        assert refusal(call).reason == "schema"


@pytest.mark.parametrize("value", NOT_JSON, ids=lambda v: type(v).__name__)
def test_the_error_says_where_the_value_is(value):
    error = refusal(lambda: encode([X, X], tensor_metadata=[None, {"ok": 1, "bad": value}]))
    assert "metadata of tensor 1['bad']" in str(error)
    error = refusal(lambda: encode([X], metadata={"list": [0, {"bad": value}]}))
    assert "metadata['list'][1]['bad']" in str(error)


@pytest.mark.parametrize("value", [[], [1], (), {}, {"a": 1}, range(3)])
def test_the_metadata_of_a_tensor_is_one_level_of_scalars(value):
    error = refusal(lambda: encode([X], tensor_metadata=[{"plane": value}]))
    assert error.reason == "schema"
    assert "'plane'" in str(error)


@pytest.mark.parametrize("key", [1, None, True, 1.5, b"k", ("a",)])
def test_keys_are_text(key):
    for call in (
        lambda: encode([X], metadata={key: 1}),
        lambda: encode([X], metadata={"outer": [{key: 1}]}),
        lambda: encode([X], tensor_metadata=[{key: 1}]),
        lambda: encode([X], label={key: 1}),
    ):
        error = refusal(call)
        assert error.reason == "schema"
        assert repr(key) in str(error)


def test_metadata_without_an_end_is_refused():
    endless: dict[str, object] = {}
    endless["again"] = [endless]
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    for nested in (endless, {"deep": deep}):
        for key in ("metadata", "label"):
            assert refusal(lambda key=key, nested=nested: encode([], **{key: nested})).reason == "schema"


def test_integers_of_thousands_of_digits_are_refused():
    for options in ({"metadata": {"n": 10**5000}}, {"tensor_metadata": [{"n": -(10**5000)}]}):
        assert refusal(lambda options=options: encode([X], **options)).reason == "schema"


def test_half_a_surrogate_pair_is_refused():
    assert refusal(lambda: encode([], metadata={"a": "\ud800"})).reason == "header"
    assert refusal(lambda: encode([], label={"\udfff": 1})).reason == "header"
    assert refusal(Message(label="\ud800").to_frames).reason == "header"


def test_the_key_of_the_format_is_not_the_applications():
    error = refusal(lambda: encode([X], label={"TENS": {}}))
    assert error.reason == "schema"
    assert "TENS" in str(error)


def test_application_keys_are_kept():
    label = {"flow": "DAT", "zzz": {"deep": [True]}, "AAA": None, "tens": 1}
    message = decode(encode([X], form="FLOW", label=label))
    assert {key: value for key, value in message.label_object.items() if key != "TENS"} == label
    assert message.tensors[0].tolist() == X.tolist()


@pytest.mark.parametrize("parts", [[0], [0, 1, 2], [0, 0], [1, 2], [-1, 0], []])
def test_parts_are_a_permutation(parts):
    assert refusal(lambda: encode([X, X], parts=parts)).reason == "layout"


def test_parts_say_where_elements_go_and_index_arrays_follow():
    rows = wire.encode([X, X + 6, np.arange(3, dtype=np.uint8)], parts=np.array([1, 2, 0]))
    assert [memoryview(frame).nbytes for frame in rows[2:]] == [3, 48, 48]
    assert [t.tolist() for t in decode(rows).tensors] == [X.tolist(), (X + 6).tolist(), [0, 1, 2]]


@pytest.mark.parametrize("beside", [[], [None], [None] * 3])
def test_there_is_metadata_for_each_tensor_or_for_none(beside):
    assert refusal(lambda: encode([X, X], tensor_metadata=beside)).reason == "schema"


def test_empty_metadata_is_written_and_none_is_not():
    assert label_of([X], metadata={}, tensor_metadata=[{}])["TENS"] == {
        "metadata": {},
        "tensors": [{"dtype": "f", "metadata": {}, "part": 0, "shape": [2, 3], "word": 8}],
    }
    assert label_of([X], tensor_metadata=[None])["TENS"] == {
        "tensors": [{"dtype": "f", "part": 0, "shape": [2, 3], "word": 8}]
    }
    assert decode(encode([X], metadata={}, tensor_metadata=[{}])).tensor_metadata == ({},)


@pytest.mark.parametrize("dtype", ["M8[25s]", "m8[2D]", "m8"])
def test_times_in_odd_units_have_no_name_in_the_format(dtype):
    error = refusal(lambda: encode([X, np.zeros(2, dtype)]))
    assert error.reason == "unsupported"
    assert "tensor 1" in str(error)


@pytest.mark.parametrize(
    "array",
    [
        np.array([None, 1]),
        np.array(["a"]),
        np.array([b"a"]),
        np.zeros(2, "V4"),
        np.zeros(2, [("a", "i4"), ("b", "f8")]),
    ],
    ids=lambda a: str(a.dtype),
)
def test_elements_that_no_tensor_holds(array):
    with pytest.raises(DTypeError):
        encode([array])


LABELS = [
    {},
    {"z": 1, "A": 2, "a": 3, "é": 4, "日本": 5, "😀": 6, "": 7},
    {"escapes": 'a/b\\c"d\n\t\u0001\x7f\b\f\r', "\u2028": "\u2029\x00"},
    {"numbers": [0, -0.0, 1.5, 1e100, 1e-7, 1e14, 1e16, 2**64, -(2**63), 5e-324, 123456789.125]},
    {"deep": {"b": [{"d": None, "c": [True, False, []]}], "a": {}}},
]


@pytest.mark.parametrize("label", LABELS)
def test_labels_are_sorted_compact_and_raw(label):
    text = decode(encode([X], label=label, metadata=label)).label
    whole = {
        **label,
        "TENS": {
            "metadata": label,
            "tensors": [{"dtype": "f", "part": 0, "shape": [2, 3], "word": 8}],
        },
    }
    assert text == json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert decode(encode([X], label=label, metadata=label)).label_object == whole


@pytest.mark.parametrize(
    "one",
    [X, X[0], as_tensor(X), {"a": X}, "abc", b"abc", bytearray(8), memoryview(b"abc"), None, 5],
    ids=lambda one: type(one).__name__,
)
def test_one_value_is_not_a_list_of_tensors(one):
    with pytest.raises(ConversionError, match=rf"tensors .*\[x\].* not .*{type(one).__name__}"):
        encode(one)
    with pytest.raises(ConversionError, match="parts"):
        Message(parts=one)
    with pytest.raises(ConversionError, match="frames"):
        decode(one)


def test_several_tensors_may_stand_in_any_sequence():
    for several in ((X, X), deque([X, X])):
        assert encode(several) == encode([X, X])
    assert len(Message(parts=iter([b"a", b"b"])).parts) == 2


@pytest.mark.parametrize(
    "part",
    [
        None,
        5,
        "text",
        # From Python 3.12 on a tensor is memory by itself.
        *([as_tensor(X)] if sys.version_info < (3, 12) else []),
        X.T,
        memoryview(b"abcd")[::2],
        np.array([None]),
        np.zeros(2, "M8[s]"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_parts_and_frames_are_memory(part):
    with pytest.raises(ConversionError, match="part 1"):
        Message(parts=[b"", part])
    with pytest.raises(ConversionError, match="frame 1"):
        decode([b"ZIO0TENS", part])


@pytest.mark.parametrize("value", [[1], "x", 5, X], ids=lambda value: type(value).__name__)
def test_what_is_said_beside_the_tensors_is_a_mapping(value):
    for key in ("metadata", "label"):
        error = refusal(lambda key=key: encode([X], **{key: value}))
        assert error.reason == "schema"
        assert key in str(error)
        assert type(value).__name__ in str(error)
    error = refusal(lambda: encode([X], tensor_metadata=[value]))
    assert error.reason == "schema"
    assert "metadata of tensor 0" in str(error)


@pytest.mark.parametrize("beside", [{0: {}}, {"a": 1}, "x", 5])
def test_the_metadata_of_tensors_is_a_list(beside):
    with pytest.raises(ConversionError, match="tensor_metadata"):
        encode([X], tensor_metadata=beside)


@pytest.mark.parametrize("value", [{"a": 1}, b"{}", None, 5])
def test_the_label_of_a_message_is_text(value):
    error = refusal(lambda: Message(label=value))
    assert error.reason == "header"
    assert repr(value) in str(error)
    # To encode, no form means the usual one.
    makes = [lambda: Message(form=value)] + [lambda: encode([X], form=value)] * (value is not None)
    for make in makes:
        error = refusal(make)
        assert error.reason == "frame"
        assert repr(value) in str(error)


NAMES = [field.name for field in attrs.fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_integers_that_are_not_negative(name):
    for value in ("a", 1.5, True, None, [1]):
        with pytest.raises(ConversionError, match=name):
            Limits(**{name: value})
    with pytest.raises(ExtentError, match=f"{name}.*-1"):
        Limits(**{name: -1})
    read = getattr(Limits(**{name: np.int64(3)}), name)
    assert (type(read), read) == (int, 3)
    assert getattr(Limits(**{name: 0}), name) == 0


def test_a_message_without_tensors():
    frames = encode([])
    assert [bytes(frame) for frame in frames] == [b'ZIO0TENS{"TENS":{"tensors":[]}}', bytes(24)]
    assert decode(frames).tensors == ()


def test_a_sparse_tensor_is_not_filled_behind_the_senders_back():
    tensor = sparse([(0, 1)], [5.0], Shape(3, 4))
    assert decode(encode([tensor])).tensors[0].is_sparse
    assert decode(encode([tensor.to_dense()])).tensors[0].tolist()[0] == [0.0, 5.0, 0.0, 0.0]
