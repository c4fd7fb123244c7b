"""Labels of others, with something added: what they say else is kept."""

import pytest

from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire.frames._amend import (
    add_to_label,
    add_to_tens,
    described_tensors,
    label_to_amend,
    tens_of,
)
from tensorwrapper.wire.frames._header import Header


def label(text):
    return label_to_amend(Header("TENS", 0, text, 0, 0, 0))


@pytest.mark.parametrize(("text", "said"), [("", {}), ("  ", {}), ("null", {}), ('{"a": [1]}', {"a": [1]})])
def test_an_object_or_nothing_is_added_to(text, said):
    found = label(text)
    add_to_label(found, {"m": 1}, {"k": 2})
    add_to_tens(found, {"own": 3})
    described_tensors(found).append({"shape": []})

    assert found == {**said, "TENS": {"tensors": [{"shape": []}], "metadata": {"m": 1}, "own": 3}, "k": 2}


@pytest.mark.parametrize("text", ["[1]", "words", '{"a": NaN}', '{"TENS": 3}', '{"TENS": {"tensors": {}}}'])
def test_a_label_that_nothing_can_be_added_to_is_refused(text):
    with pytest.raises(LocalProtocolError, match="nothing can be added"):
        described_tensors(label(text))


@pytest.mark.parametrize(
    "add",
    [
        lambda found: add_to_label(found, None, {"TENS": {}}),
        lambda found: add_to_tens(found, {"tensors": []}),
        lambda found: add_to_tens(found, {"checksums": {}}),
    ],
)
def test_keys_of_the_message_are_not_the_applications(add):
    found = label('{"TENS": {"tensors": []}}')
    with pytest.raises(LocalProtocolError, match="the message's own"):
        add(found)

    assert tens_of(found) == {"tensors": []}
