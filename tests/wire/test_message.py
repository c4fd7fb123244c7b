"""Messages put together one tensor at a time, and messages that are written again with something added."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.wire import Limits, Message, decode, encode
from tests.support.wire.golden import CPP, array_of, frames_of, header_of
from tests.support.wire.messages import GOOD, PAYLOAD, described, message

APPENDED = [
    name
    for name, case in CPP.items()
    if case["expect_tensors"]
    and name
    not in {
        *("dtype_unknown_struct", "dtype_f16_longdouble", "md_nan", "md_nonobject", "md_numbers"),
        *("opt_order_ascend", "opt_packing_pointer", "extra_shared_part", "part_default"),
        *("tens_seed_permuted", "flow_app_attrs", "flow_bot_with_tens", "md_both_levels", "flow_dat_tens"),
        # These set the form to three letters or to four spaces, as the tests of headers do.
        "form_short",
    }
]


def refusal(call):
    with pytest.raises(LocalProtocolError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", APPENDED)
def test_appending_gives_the_bytes_of_the_cpp_reference(name):
    case = CPP[name]
    frames = frames_of(case)
    built, tensors = Message(**header_of(case)), {e["part"]: e for e in case["expect_tensors"]}
    for place, part in enumerate(frames[2:]):
        if place in tensors:
            built = built.append(array_of(tensors[place]), tensors[place]["metadata"])
        else:
            built = built.append_part(part)
    assert [bytes(frame) for frame in built.to_frames()] == frames
    assert [bytes(frame) for frame in encode(built)] == frames


def test_a_message_never_changes():
    first = Message(seqno=7, parts=[b"before"])
    second = first.append(np.arange(3, dtype="i1"), {"gain": 2.5})
    third = second.append(np.ones((2, 2)))
    assert (first.label, len(first.parts), len(first.tensors)) == ("", 1, 0)
    assert (len(second.parts), len(second.tensors)) == (2, 1)
    assert [t.tolist() for t in third.tensors] == [[0, 1, 2], [[1.0, 1.0], [1.0, 1.0]]]
    assert third.tensors[1].shape == tw.Shape(2, 2)
    assert third.tensor_metadata == ({"gain": 2.5}, None)
    assert (third.seqno, third.parts[0]) == (7, b"before")
    for clone in (copy.copy(third), pickle.loads(pickle.dumps(third))):
        assert clone == third


def test_elements_of_an_appended_tensor_are_not_copied():
    array = np.arange(10_000.0)
    appended = Message().append(array)
    assert np.shares_memory(appended.tensors[0].to_numpy(), array)
    assert np.shares_memory(np.frombuffer(appended.to_frames()[2], np.uint8), array)


def test_index_arrays_come_after_the_appended_elements():
    rows = tw.jagged([[1, 2], [], [3]])
    built = Message(parts=[b"a"]).append(rows).append(np.arange(2)).append(rows, {"again": True})
    assert [t.tolist() for t in built.tensors] == [rows.tolist(), [0, 1], rows.tolist()]
    read = decode(encode(built))
    assert read == built
    assert read.parts[0] == b"a"


LABEL = '{ "zzz":{"deep":[true,null]},"TENS":{"x-app":1,"tensors":[%s],"metadata":{"run":3}},"flow":"DAT"}'
OLD = '{"shape":[2,3],"x-app":"kept","word":4,"dtype":"f","part":1,"metadata":[1,{"any":null}]}'


def test_what_a_label_says_survives_appending():
    read = decode(message(LABEL % OLD, b"unreferenced", PAYLOAD, b"", form="FLOW"))
    built = read.append(np.arange(2, dtype="u1"))
    again = decode(encode(built))
    assert again.form == "FLOW"
    assert [bytes(part) for part in again.parts] == [b"unreferenced", PAYLOAD, b"", b"\x00\x01"]
    old = read.label_object
    new = {"dtype": "u", "part": 3, "shape": [2], "word": 1}
    old["TENS"]["tensors"].append(new)
    assert again.label_object == old
    assert again.tensors[0].tolist() == read.tensors[0].tolist()
    assert again.tensors[1].tolist() == [0, 1]


@pytest.mark.parametrize("label", ["", " ", "null", "null\n", "{}", '{"TENS":null}', '{"TENS":{}}'])
def test_a_label_that_says_nothing_of_tensors_gets_them(label):
    built = Message(form="TEXT", label=label).append(np.arange(2, dtype="u1"))
    assert built.label_object == described({"dtype": "u", "part": 0, "shape": [2], "word": 1})
    assert built.tensors[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("Extra spicy", "header"),
        ("[1]", "schema"),
        ("5", "schema"),
        ('"text"', "schema"),
        ('{"TENS":1}', "schema"),
        ('{"TENS":[]}', "schema"),
        ('{"a":1,"a":2}', "header"),
        ('{"a":NaN}', "header"),
    ],
)
def test_a_label_that_takes_no_tensors_is_refused(label, reason):
    built = Message(form="TEXT", label=label)
    for call in (
        lambda: built.append(np.arange(2)),
        lambda: encode(built, metadata={"a": 1}),
    ):
        error = refusal(call)
        assert error.reason == reason
        assert "nothing can be added" in str(error)


@pytest.mark.parametrize("label", ['{"TENS":{"tensors":{}}}', '{"TENS":{"tensors":null}}'])
def test_what_is_no_list_of_tensors_takes_none(label):
    error = refusal(lambda: Message(label=label).append(np.arange(2)))
    assert error.reason == "schema"
    assert "no list of tensors" in str(error)


def test_the_error_names_the_tensor_that_is_appended():
    built = Message().append(np.arange(2))
    assert "tensor 1" in str(refusal(lambda: built.append(np.zeros(2, np.longdouble))))
    assert "metadata of tensor 1['k']" in str(refusal(lambda: built.append(np.zeros(2), {"k": [1]})))
    long = built.append(np.array([1.5], np.longdouble), allow_longdouble=True)
    assert long.tensors[1].tolist() == [1.5]


@pytest.mark.parametrize("part", [None, "text", 5, np.zeros((4, 4))[:, ::2]])
def test_an_appended_part_is_memory(part):
    with pytest.raises(ConversionError, match="part"):
        Message().append_part(part)


def test_an_appended_part_is_not_copied():
    memory = bytearray(b"abc")
    built = Message().append_part(memory)
    memory[0] = ord("x")
    assert built.parts == (b"xbc",)


def test_a_message_is_encoded_as_it_stands():
    frames = message(LABEL % OLD, b"unreferenced", PAYLOAD)
    assert encode(decode(frames)) == decode(frames).to_frames() == frames


def test_header_fields_of_a_message_can_be_replaced():
    frames = message(LABEL % OLD, b"", PAYLOAD)
    written = decode(encode(decode(frames), form="FLOW", level=3, seqno=9, origin=1, granule=2))
    assert (written.form, written.level, written.seqno, written.origin, written.granule) == (
        "FLOW",
        3,
        9,
        1,
        2,
    )
    assert written.label == LABEL % OLD
    kept = decode(encode(written, seqno=10))
    assert (kept.form, kept.level, kept.seqno, kept.origin, kept.granule) == ("FLOW", 3, 10, 1, 2)


def test_keys_and_parts_are_added_to_a_message():
    read = decode(message(LABEL % OLD, b"", PAYLOAD))
    written = decode(
        encode(read, label={"flow": "EOT", "new": [1]}, metadata={"run": 4}, extra_parts=[b"x", b"y"])
    )
    wanted = read.label_object | {"flow": "EOT", "new": [1]}
    wanted["TENS"]["metadata"] = {"run": 4}
    assert written.label_object == wanted
    assert [bytes(part) for part in written.parts] == [b"", PAYLOAD, b"x", b"y"]
    assert encode(read, extra_parts=[b"x"])[0] == encode(read)[0]


def test_the_tensors_of_a_message_cannot_be_described_anew():
    read = decode(message(described(GOOD), PAYLOAD))
    for options in (
        {"tensor_metadata": [{}]},
        {"parts": [0]},
        {"layout": "keep"},
        {"compress": "zlib"},
    ):
        assert refusal(lambda options=options: encode(read, **options)).reason == "schema"
    assert refusal(lambda: encode(read, label={"TENS": {}})).reason == "schema"


def test_extra_parts_come_after_all_others():
    rows = tw.jagged([[1, 2], [3]])
    frames = encode([rows, np.arange(2)], parts=[1, 0], extra_parts=[b"one", np.arange(3, dtype="u1")])
    read = decode(frames)
    assert [bytes(part) for part in read.parts[-2:]] == [b"one", b"\x00\x01\x02"]
    assert [t.tolist() for t in read.tensors] == [rows.tolist(), [0, 1]]
    assert bytes(encode([np.arange(2)], extra_parts=[b"x"])[0]) == bytes(encode([np.arange(2)])[0])


@pytest.mark.parametrize(
    "extra",
    [b"abc", b"", "abc", [b"a", "b"], (b"a", "b"), None, 5, np.zeros(3), [np.zeros((4, 4))[:, ::2]]],
    ids=repr,
)
def test_extra_parts_are_several_buffers(extra):
    with pytest.raises(ConversionError, match="extra"):
        encode([np.arange(2)], extra_parts=extra)


def test_a_message_beyond_our_own_limits_is_written_but_not_amended():
    deep = '{"a":' + "[" * 100 + "]" * 100 + "}"
    read = decode(message(deep), limits=Limits(depth=200))
    assert encode(read) == read.to_frames()
    assert refusal(lambda: read.append(np.arange(2))).reason == "header"
