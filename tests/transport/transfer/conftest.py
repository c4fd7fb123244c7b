"""A socket that listens, for transfers."""

import pytest

from tensorwrapper.transport import Socket


@pytest.fixture
def listening(tmp_path):
    with Socket("ROUTER") as socket:
        yield socket, socket.bind(f"ipc://{tmp_path}/s")
