"""Options that say who is who: both or none, and no keys for loopback alone."""

import argparse

import pytest

from tensorwrapper.cli._security import client_security, server_security
from tensorwrapper.cli.parsing._options import add_client_options, add_server_keys
from tensorwrapper.cli.parsing._parser import readable
from tensorwrapper.errors import ConversionError, DataFileError, TransportError
from tensorwrapper.transport import KeyPair


def parsed(add, *words, **more):
    parser = argparse.ArgumentParser()
    add(parser)
    return argparse.Namespace(**vars(parser.parse_args(readable([str(word) for word in words]))), **more)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:*", "tcp://localhost:5", "tcp://[::1]:5", "ipc:///x"])
def test_nobody_needs_keys_on_one_machine(address):
    assert server_security(parsed(add_server_keys, address=address)) == (None, None)


@pytest.mark.parametrize(
    "address", ["tcp://*:5", "tcp://0.0.0.0:*", "tcp://127.example.org:5", "tcp://eth0:5"]
)
def test_who_serves_to_others_needs_keys_or_says_so(address):
    with pytest.raises(ConversionError, match="--anybody"):
        server_security(parsed(add_server_keys, address=address))
    assert server_security(parsed(add_server_keys, "--anybody", address=address)) == (None, None)


def test_a_list_of_keys_says_who_may_see_what(tmp_path):
    ours, alice, bob = (KeyPair.make() for _ in range(3))
    ours.save(tmp_path / "ours")
    lines = ["# comment", alice.public, f"{bob.public} run* x", f"{alice.public} x", ""]
    (tmp_path / "list").write_text("\n".join(lines), encoding="utf-8")
    words = ("--keys", tmp_path / "ours", "--allow", tmp_path / "list")
    security, allow = server_security(parsed(add_server_keys, *words, address="tcp://*:5"))
    assert security.keys == ours
    assert security.allow == {alice.public, bob.public}
    assert allow == {"*": {alice.public}, "run*": {bob.public}, "x": {alice.public, bob.public}}


def test_lists_that_cannot_be_read_are_said(tmp_path):
    KeyPair.make().save(tmp_path / "ours")
    for place in (tmp_path / "nowhere", tmp_path):
        words = ("--keys", tmp_path / "ours", "--allow", place)
        with pytest.raises(DataFileError):
            server_security(parsed(add_server_keys, *words, address="ipc://x"))
    (tmp_path / "list").write_text('"' * 40, encoding="utf-8")
    with pytest.raises(ConversionError, match="Z85"):
        server_security(
            parsed(
                add_server_keys, "--keys", tmp_path / "ours", "--allow", tmp_path / "list", address="ipc://x"
            )
        )


@pytest.mark.parametrize("begin", ["", "-", "--", "#", "@"])
def test_a_client_knows_both_or_none(tmp_path, begin):
    ours, theirs = KeyPair.make(), KeyPair.make()
    theirs = KeyPair((begin + theirs.public)[:40], theirs.secret)
    ours.save(tmp_path / "ours")
    assert client_security(parsed(add_client_options)) is None
    security = client_security(
        parsed(add_client_options, "--keys", tmp_path / "ours", "--server-key", theirs.public)
    )
    assert (security.keys, security.server) == (ours, theirs.public)
    with pytest.raises(ConversionError, match="together"):
        client_security(parsed(add_client_options, "--server-key", theirs.public))
    with pytest.raises(TransportError):
        client_security(
            parsed(add_client_options, "--keys", tmp_path / "none", "--server-key", theirs.public)
        )
