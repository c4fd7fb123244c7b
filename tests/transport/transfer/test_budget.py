"""What may be under way in a process."""

import numpy as np

from tensorwrapper.transport import Socket, Transfers
from tensorwrapper.transport.transfer._budget import PROCESS, Budget, Reservation
from tests.support.transport.sockets_of_transfers import Sending

MIB = 2**20


def test_a_budget_is_shared_and_what_is_held_comes_back():
    budget = Budget(10)
    first, second = Reservation(budget), Reservation(budget)
    assert first.grow(7)
    assert not second.grow(4)
    assert second.grow(3)
    first.release()
    first.release()
    del second
    assert budget.left == 10


def test_many_transfers_at_once_keep_to_the_budget_of_the_process(tmp_path):
    before = PROCESS.left
    with Socket("ROUTER") as socket:
        address = socket.bind(f"ipc://{tmp_path}/s")
        # Each wants 8 MiB under way, and 64 MiB are for all.
        senders = [Sending(address, np.full(MIB, number)) for number in range(12)]
        with Transfers(socket) as transfers:
            # What a sender says of chunks of 4 KiB is less than what is taken here.
            taken = [transfers.accept(timeout=10).into() for _ in senders]
            assert 0 <= PROCESS.left < before
            found = sorted(transfer.wait(timeout=20)[0].item() for transfer in taken)
        for sender in senders:
            sender.end()
    assert found == [*range(12)]
    assert PROCESS.left == before
