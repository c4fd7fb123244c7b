"""Messages of the reference implementations: written byte for byte as they do, and read as they mean."""

import hashlib
import json

import numpy as np
import pytest

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire import Message, decode, decode_frames, encode, encode_frames
from tests.support.wire.golden import CPP, PY, array_of, frames_of, header_of

REFUSED = {"dtype_unknown_struct": "unsupported", "md_nan": "header", "quirk_form_long": "header"}
LONG = {"dtype_f16_longdouble", "dtype_f16"}
LONG_VALUES = [1.5, -2.25]
WRITTEN = [
    name
    for name in CPP
    if name.startswith(("tens_", "dtype_", "shape_", "coord_", "level_", "codec_part_", "md_"))
    and name not in {*REFUSED, *LONG, "md_nonobject"}
]


def hashes(frames):
    return [(len(f), hashlib.sha256(f).hexdigest()) for f in map(bytes, frames)]


def test_the_files_are_whole():
    assert (len(CPP), len(PY)) == (71, 56)


@pytest.mark.parametrize("name", WRITTEN)
def test_our_bytes_are_those_of_the_cpp_reference(name):
    case = CPP[name]
    if not case["label"]:
        assert [bytes(f) for f in Message(**header_of(case)).to_frames()] == frames_of(case)
        return
    expected = case["expect_tensors"]
    beside = [e["metadata"] for e in expected]
    parts = [e["part"] for e in expected]
    frames = encode(
        [array_of(e) for e in expected],
        **header_of(case),
        metadata=case["tens_metadata"],
        tensor_metadata=beside if any(m is not None for m in beside) else None,
        parts=None if parts == sorted(parts) else parts,
    )
    if "frames" in case:
        assert [bytes(f).hex() for f in frames] == case["frames"]
    omitted = case.get("frames_omitted")
    assert omitted is None or hashes(frames) == list(zip(omitted["sizes"], omitted["sha256"], strict=True))


@pytest.mark.parametrize("name", ["flow_app_attrs", "flow_dat_tens", "flow_bot_with_tens", "form_json"])
def test_application_keys_and_other_forms_are_written_as_the_cpp_reference_does(name):
    case = CPP[name]
    label = {key: value for key, value in case["label_object"].items() if key != "TENS"}
    frames = encode([array_of(e) for e in case["expect_tensors"]], **header_of(case), label=label)
    # What lies after the tensors is the application's: it is added to the frames.
    extra = [bytes.fromhex(f) for f in case["frames"][len(frames) :]]
    assert [bytes(f).hex() for f in [*frames, *extra]] == case["frames"]


@pytest.mark.parametrize("name", [name for name in CPP if name not in {"form_long", "form_short"}])
def test_a_message_made_of_the_fields_has_the_bytes_of_the_cpp_reference(name):
    case = CPP[name]
    frames = frames_of(case)
    message = Message(**header_of(case), label=case["label"], parts=frames[2:])
    assert [bytes(f) for f in message.to_frames()] == frames


def test_a_negative_seqno_is_refused_and_not_wrapped():
    case = CPP["coord_seqno_negative"]
    fields = header_of(case)
    assert fields.pop("seqno") == 2**64 - 1
    message = Message(**fields, seqno=2**64 - 1)
    assert [bytes(f).hex() for f in message.to_frames()] == case["frames"]
    with pytest.raises(LocalProtocolError, match="seqno") as caught:
        Message(**fields, seqno=-1)
    assert caught.value.reason == "frame"
    with pytest.raises(LocalProtocolError, match="seqno"):
        encode([], **fields, seqno=-1)


READ = [
    pytest.param(case, id=f"{origin}-{name}")
    for origin, cases in (("cpp", CPP), ("py", PY))
    for name, case in cases.items()
    if name not in {*REFUSED, *LONG, "quirk_form_short", "opt_order_ascend"}
]


@pytest.mark.parametrize("case", READ)
def test_every_case_is_read_as_expected(case):
    frames = frames_of(case)
    message = decode(frames)
    form = case["form"].rstrip()
    assert (message.form, message.level, message.label) == (form, case["level"], case["label"])
    assert (message.origin, message.granule, message.seqno) == (
        case["origin"],
        case["granule"],
        case["seqno"],
    )
    # The Python reference calls an empty label {}, the C++ one null.
    assert message.label_object == (case["label_object"] or None)
    assert message.metadata == (case["tens_metadata"] or {})
    assert [bytes(part) for part in message.parts] == frames[2:]
    assert message.nbytes == sum(map(len, frames[2:]))

    expected = case["expect_tensors"]
    assert message.tensor_metadata == tuple(e["metadata"] for e in expected)
    assert len(message.tensors) == len(expected)
    for tensor, want in zip(message.tensors, expected, strict=True):
        assert (tensor.shape.kind, tensor.shape.extents) == ("smooth", tuple(want["shape"]))
        assert tensor.dtype == np.dtype(want["numpy_dtype"])
        in_order = np.ascontiguousarray(np.asarray(tensor)).tobytes()
        assert (len(in_order), hashlib.sha256(in_order).hexdigest()) == (want["nbytes"], want["sha256"])
        assert tensor.elements().tobytes() == in_order
        assert tensor.is_readonly
        if want.get("values_flat_c_order") is not None:
            assert np.array_equal(np.asarray(tensor), array_of(want))


def test_a_storage_order_is_followed_though_the_reference_ignores_it():
    case = CPP["opt_order_ascend"]
    (tensor,) = decode(frames_of(case)).tensors
    # The recorded values are the frame as it lies; order [0, 1] says that mode 0 runs fastest in it.
    assert case["expect_tensors"][0]["values_flat_c_order"] == [0, 3, 1, 4, 2, 5]
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor.layout.strides == (1, 2)


@pytest.mark.parametrize("case", READ)
def test_a_message_that_was_read_writes_the_same_frames(case):
    frames = frames_of(case)
    assert [bytes(f) for f in decode(frames).to_frames()] == frames
    assert [bytes(f) for f in encode(decode(frames))] == frames
    through_one = decode(decode_frames(encode_frames(frames)))
    assert [bytes(f) for f in encode(through_one)] == frames


@pytest.mark.parametrize("case", READ)
def test_a_label_that_is_written_anew_has_the_text_of_the_cpp_reference(case):
    read = decode(frames_of(case))
    if not isinstance(read.label_object, dict):
        return
    again = decode(encode(read, label={}))
    text = json.dumps(read.label_object, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert again.label == text.replace("1000000000000000.0", "1e+15")  # as Python spells it, and C++
    assert (again.label_object, again.parts) == (read.label_object, read.parts)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{origin}-{name}")
        for origin, cases in (("cpp", CPP), ("py", PY))
        for name, case in cases.items()
        if name in REFUSED
    ],
)
def test_cases_to_refuse_are_refused(case):
    with pytest.raises(RemoteProtocolError) as caught:
        decode(frames_of(case), strict=True)
    assert caught.value.reason == REFUSED[case["name"]]


def test_an_unpadded_form_swallows_the_label_as_the_reference_does():
    # Three letters and no padding: the first character of the label becomes the fourth of the form, and
    # what is left of the label is free text.
    message = decode(frames_of(PY["quirk_form_short"]))
    assert (message.form, message.label) == ("FOO{", "}")
    assert (message.label_object, message.tensors) == (None, ())


@pytest.mark.parametrize("case", [CPP["dtype_f16_longdouble"], PY["dtype_f16"]], ids=["cpp", "py"])
def test_long_doubles_are_read_only_when_asked_for(case):
    with pytest.raises(RemoteProtocolError) as caught:
        list(decode(frames_of(case)).tensors)
    assert caught.value.reason == "unsupported"
    (tensor,) = decode(frames_of(case), allow_longdouble=True).tensors
    assert tensor.dtype == np.longdouble
    assert tensor.tolist() == LONG_VALUES


@pytest.mark.parametrize("dtype", [np.longdouble, np.dtype(np.longdouble).newbyteorder(">")])
def test_long_doubles_are_written_only_when_asked_for(dtype):
    array = np.array(LONG_VALUES, dtype=dtype)
    with pytest.raises(LocalProtocolError) as caught:
        encode([array])
    assert caught.value.reason == "unsupported"
    case = CPP["dtype_f16_longdouble"]
    frames = encode([array], **header_of(case), allow_longdouble=True)
    assert [bytes(f).hex() for f in frames] == case["frames"]


def test_the_padding_of_long_doubles_does_not_leave_the_process():
    array = np.array([1 + 2j, -3.5j], dtype=np.clongdouble)
    array.view(np.uint8).reshape(-1, 16)[:, 10:] = 0xAA
    frames = encode([array], allow_longdouble=True)
    assert not np.frombuffer(frames[2], np.uint8).reshape(-1, 16)[:, 10:].any()
    assert (array.view(np.uint8).reshape(-1, 16)[:, 10:] == 0xAA).all()
    (tensor,) = decode(frames, allow_longdouble=True).tensors
    assert tensor.tolist() == array.tolist()
