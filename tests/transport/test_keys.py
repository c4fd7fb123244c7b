"""Keys: what they look like, and the file that keeps them."""

import copy
import os
import pickle
import stat

import pytest
import zmq.auth

from tensorwrapper.errors import ConversionError, TransportError
from tensorwrapper.transport import KeyPair


def test_keys_are_read_back_and_by_others(tmp_path):
    keys, path = KeyPair.make(), tmp_path / "a.key"
    keys.save(path)
    assert KeyPair.load(path) == keys
    assert KeyPair.load(str(path)) == keys
    # pyzmq's own reader.
    assert zmq.auth.load_certificate(path) == (keys.public.encode(), keys.secret.encode())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys == pickle.loads(pickle.dumps(keys)) == copy.deepcopy(keys)


def test_a_secret_is_never_shown():
    keys = KeyPair.make()
    assert keys.secret not in repr(keys) + str(keys)
    with pytest.raises(ConversionError, match="40 characters of Z85") as caught:
        KeyPair(keys.public, keys.secret + "0")
    assert keys.secret not in str(caught.value)


@pytest.mark.parametrize("key", ["", "x" * 39, "x" * 41, "é" * 40, "~" * 40, b"x" * 39, 3, None])
def test_what_is_no_key_is_refused(key):
    good = KeyPair.make().public
    with pytest.raises(ConversionError, match="the secret key must be 40 characters"):
        KeyPair(good, key)
    with pytest.raises(ConversionError, match="the public key must be 40 characters"):
        KeyPair(key, good)
    assert KeyPair(good.encode(), good.encode()).public == good


@pytest.mark.skipif(os.name != "posix", reason="files have no such modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o611])
def test_keys_that_others_may_read_are_refused(tmp_path, mode):
    path = tmp_path / "a.key"
    KeyPair.make().save(path)
    path.chmod(mode)
    with pytest.raises(TransportError, match="other users can read"):
        KeyPair.load(path)


def test_a_file_is_never_overwritten(tmp_path):
    path = tmp_path / "a.key"
    path.write_text("mine")
    with pytest.raises(TransportError, match=r"a\.key"):
        KeyPair.make().save(path)
    assert path.read_text() == "mine"
    with pytest.raises(TransportError, match=r"none\.key"):
        KeyPair.load(tmp_path / "none.key")
    with pytest.raises(TransportError, match="keys cannot be written"):
        KeyPair.make().save(tmp_path / "no folder" / "a.key")


@pytest.mark.parametrize(
    "text",
    ["", 'public-key = "x"', "\xff" * 100, 'secret-key = "a"\npublic-key = "b"', "x" * 10**6, "\0" * 5000],
)
def test_other_files_have_no_keys(tmp_path, text):
    path = tmp_path / "a.key"
    path.write_text(text, encoding="latin-1")
    path.chmod(0o600)
    with pytest.raises((TransportError, ConversionError), match=r"both .public-key|40 characters"):
        KeyPair.load(path)
