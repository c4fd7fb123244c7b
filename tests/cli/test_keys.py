"""The command keys: two keys that sockets take, in a file that nobody else reads."""

import json
import stat

from tensorwrapper.cli import ExitCode
from tensorwrapper.transport import KeyPair
from tests.support.commands import run


def test_keys_are_made_and_the_secret_one_is_not_shown(tmp_path):
    path = tmp_path / "server.key"
    done = run("keys", path)
    keys = KeyPair.load(path)

    assert done.returncode == ExitCode.OK, done.stderr
    assert keys.public in done.stdout
    assert keys.secret not in done.stdout + done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_keys_that_are_there_are_kept(tmp_path):
    path = tmp_path / "server.key"
    report = json.loads(run("keys", "--json", path).stdout)
    before = path.read_bytes()
    again = run("keys", path)

    assert KeyPair.load(path).public in json.dumps(report)
    assert again.returncode == ExitCode.CANNOT_RUN
    assert "server.key" in again.stderr
    assert path.read_bytes() == before
