"""Which sources have no path, and what of an address is shown."""

import io

import pytest

from tensorwrapper.store.ranges._addresses import has_no_path, shown_address


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("http://host/x", True),
        ("s3://bucket/key", True),
        ("run.tens", False),
        ("C:/run.tens", False),
        (b"bytes", True),
        (memoryview(b"x"), True),
        (io.BytesIO(), True),
        (3, False),
    ],
)
def test_addresses_open_files_and_bytes_have_no_path(source, expected):
    assert has_no_path(source) is expected


def test_a_file_that_is_called_as_an_address_is_has_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ab:").mkdir()
    (tmp_path / "ab:" / "x").write_bytes(b"")
    assert not has_no_path("ab://x")


def test_user_password_and_query_are_not_shown():
    assert shown_address("https://me:secret@host:80/a/b.tens?sign=1#f") == "https://host:80/a/b.tens"
