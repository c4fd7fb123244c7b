"""Records of damaged files: C++, JavaScript and Python agree on what is refused, and on values."""

import os
import random
import warnings

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import TensorWrapperError
from tests.cpp.test_round_trips import flat
from tests.support.viewer import NODE, read_by_node, told
from tests.viewer.test_mutated import bases, mutated, records

TRIES = int(os.environ.get("TRIES", "200"))
READ = {"dense", "jagged", "tiled"}
"""The packings that the header reads."""


def messages(folder):
    """Return the messages of records of mutated files, each once, as single frames."""
    rng = random.Random(int(os.environ.get("SEED", "7")))
    raws = bases(folder)
    found = {}
    for _ in range(TRIES):
        raw = bytes(mutated(rng, rng.choice(raws)))
        for place, length in records(raw):
            if place + 32 + length <= len(raw):
                found[raw[place + 32 : place + 32 + length]] = None
    return list(found)


def by_python(whole):
    """Return the tensors of a message, or None where it is refused."""
    try:
        return list(wire.decode(wire.decode_frames(whole)).tensors)
    except TensorWrapperError:
        return None


def is_of_records_alone(whole):
    """Tell whether Python refuses what a label says of records: others read the tensors."""
    try:
        wire.decode(wire.decode_frames(whole))
    except TensorWrapperError as error:
        return "records[" in str(error)
    return False


def listed(tensor):
    try:
        return tensor.tolist()
    except TensorWrapperError:
        return None


def packings(whole):
    """Return the packing of each tensor, as the label has it."""
    label = wire.decode(wire.decode_frames(whole)).label_object
    return [entry.get("packing") or "dense" for entry in label.get("TENS", {}).get("tensors", [])]


def against_cpp(whole, ours, answer):
    """Return how the header differs from us; empty if it does not."""
    report, seen, _ = answer
    if report["reason"] is not None:
        return "" if ours is None else f"refused by C++ alone: {report['reason']}"
    unread = report["refused"]
    if ours is None:
        # What it does not read it does not look at.
        return "" if any(unread) else "refused by Python alone"
    for own, packing, refused, elements in zip(ours, packings(whole), unread, seen, strict=True):
        if refused:
            if packing in READ:
                return f"{packing} refused by C++ alone: {refused}"
            continue
        if own.dtype.kind in "iufcb" and listed(own) is not None:
            expected = np.array(flat(listed(own)), own.dtype)
            if np.frombuffer(elements, own.dtype).tobytes() != expected.tobytes():
                return f"OTHER VALUES in C++: {np.frombuffer(elements, own.dtype)} {expected}"
    return ""


def against_javascript(ours, answer):
    """Return how the JavaScript reader differs from us; empty if it does not."""
    if "crashed" in answer:
        return answer["crashed"]
    theirs = answer.get("tensors")
    if ours is None:
        is_read = theirs is not None and all("values" in own for own in theirs)
        return "refused by Python alone" if is_read else ""
    if theirs is None:
        return f"refused by JavaScript alone: {answer}"
    for own, other in zip(ours, theirs, strict=True):
        values = listed(own)
        if (values is None) != ("values" not in other):
            return f"refused by one: {values} {other}"
        if values is not None and told(values) != other["values"]:
            return f"OTHER VALUES in JavaScript: {values} {other}"
    return ""


@pytest.mark.slow
def test_three_readers_agree_on_records_of_mutated_files(peer, tmp_path):
    warnings.simplefilter("ignore")
    all_ = [whole for whole in messages(tmp_path) if not is_of_records_alone(whole)]
    ours = [by_python(whole) for whole in all_]
    wrong, n_read = {}, 0
    for number, (whole, own) in enumerate(zip(all_, ours, strict=True)):
        answer = peer.ask_about(whole)
        n_read += own is not None and answer[0]["reason"] is None
        if said := against_cpp(whole, own, answer):
            wrong[f"{number} C++"] = said
    if NODE is not None:
        paths = [tmp_path / f"m{number}.bin" for number in range(len(all_))]
        for path, whole in zip(paths, all_, strict=True):
            path.write_bytes(whole)
        for number, answer in enumerate(read_by_node(paths, "message")):
            if said := against_javascript(ours[number], answer):
                wrong[f"{number} JavaScript"] = said
    assert not wrong, "\n".join([f"{name}: {said}"[:400] for name, said in wrong.items()])
    assert n_read >= 20
    assert sum(own is None for own in ours) >= 20 * TRIES // 200
