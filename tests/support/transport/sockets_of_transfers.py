"""Tensors that are sent in chunks by a thread with a socket of its own."""

import threading

from tensorwrapper.errors import (
    TensorWrapperError,
)
from tensorwrapper.transport import Socket, Transfers

CHUNK = 4096


class Sending:
    """A thread that sends over a socket of its own; what it raised is raised at the end."""

    def __init__(self, address, *tensors, kind="DEALER", **options):
        self.error = None
        self.arguments = address, tensors, kind, options
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        address, tensors, kind, options = self.arguments
        try:
            with Socket(kind) as socket:
                socket.connect(address)
                with Transfers(socket, chunk=CHUNK) as transfers:
                    for running in [transfers.offer(tensor, **options) for tensor in tensors]:
                        running.wait(timeout=10)
        except TensorWrapperError as error:
            self.error = error

    def end(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error


def through(listening, tensor, out=None, **options):
    socket, address = listening
    sending = Sending(address, tensor, **options)
    with Transfers(socket, chunk=CHUNK) as transfers:
        received = transfers.receive(out, timeout=10)
    sending.end()
    return received
