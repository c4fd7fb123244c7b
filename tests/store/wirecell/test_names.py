"""Names of members of tensor files, as Wire-Cell writes and reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.store.wirecell._names import MemberName, member_name, set_number, tensor_number

PREFIXES = st.text(st.characters(codec="ascii", exclude_characters="/\\", min_codepoint=32), max_size=6)


@given(PREFIXES, st.integers(-(10**17), 10**17), st.integers(0, 10**17))
def test_names_are_read_as_they_are_written(prefix, ident, index):
    for role, number in (("array", index), ("metadata", index), ("set", -1)):
        name = MemberName(prefix, ident, number, role)
        read = member_name(name.member)
        assert read == name
        # So the C++ source sees it: the number of the set comes after the first underscore of its own.
        assert f"tensor{'set' * (role == 'set')}_{ident}_" in name.member
    assert tensor_number(MemberName(prefix, ident, index, "array").name) == (prefix, ident, index)
    assert set_number(MemberName(prefix, ident, -1, "set").name) == (prefix, ident)


def test_names_are_those_of_the_sink():
    assert MemberName("", 0, -1, "set").member == "tensorset_0_metadata.json"
    assert MemberName("p-", 3, 12, "metadata").member == "p-tensor_3_12_metadata.json"
    assert MemberName("", 3, 12, "array").member == "tensor_3_12_array.npy"
    assert member_name("./tensor_3_12_array.npy") == MemberName("", 3, 12, "array")


@pytest.mark.parametrize(
    "name",
    [
        "readme.txt",
        "../tensor_0_0_array.npy",
        "/tmp/tensor_0_0_array.npy",
        "a\\tensor_0_0_array.npy",
        "a\0tensor_0_0_array.npy",
        "a\ntensor_0_0_array.npy",
        "tensor_00_0_array.npy",
        "tensor_0_01_array.npy",
        "tensor_0_-1_array.npy",
        "tensor_-0_1_array.npy",
        "tensor_\u0661_1_array.npy",
        "tensor_1_array.npy",
        "tensor_1_1_1_array.npy",
        "tensor_9999999999999999999_0_array.npy",
        "tensor_0_0_array.json",
        "tensor_0_0_metadata.npy",
        "tensorset_0_array.npy",
        "tensorset_0_metadata.npy",
        "tensor_0_0_array.npy.gz",
        "tensor_0_0_array.npy\n",
    ],
)
def test_other_names_are_none(name):
    assert member_name(name) is None
