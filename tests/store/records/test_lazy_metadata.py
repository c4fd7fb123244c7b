"""What is said is read when it is asked for, and of one thing once."""

from tensorwrapper.store.records._lazy_metadata import LazyMetadata, LazyMetadataByName


def test_what_is_said_of_one_thing_is_read_once():
    read = []
    said = LazyMetadata(lambda: read.append(1) or {"a": 1, "b": 2})
    assert not read
    assert (said["a"], len(said), dict(said)) == (1, 2, {"a": 1, "b": 2})
    assert read == [1]


def test_what_is_said_of_several_is_read_one_by_one():
    read = []
    said = LazyMetadataByName({name: lambda name=name: read.append(name) or {"name": name} for name in "ab"})
    assert (list(said), len(said), "a" in said) == (["a", "b"], 2, True)
    read.clear()
    assert said["b"] == {"name": "b"}
    assert read == ["b"]
    assert dict(said) == {"a": {"name": "a"}, "b": {"name": "b"}}
