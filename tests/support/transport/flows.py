"""Ends of flows that run beside a test."""

import threading

import numpy as np

from tensorwrapper.transport import Flows, Socket

__all__ = ["expected", "get_many", "give", "in_thread", "put_many", "take"]


def in_thread(function, *arguments):
    """Run a function beside the test, which joins it and raises what it raised."""
    result = {}

    def run():
        try:
            result["value"] = function(*arguments)
        except BaseException as error:  # noqa: BLE001 - raised where it is joined
            result["error"] = error

    thread = threading.Thread(target=run)
    thread.start()

    def join():
        thread.join(30)
        assert not thread.is_alive()
        if "error" in result:
            raise result["error"]
        return result["value"]

    return join


def give(address, count, credit=4, kind="DEALER"):
    with Socket(kind) as socket:
        socket.connect(address)
        with Flows(socket).open("extract", credit=credit) as flow:
            for number in range(count):
                flow.put([np.full(number % 5, number)])
            return flow.credit


def take(address, credit=4, kind="DEALER"):
    with Socket(kind) as socket:
        socket.connect(address)
        with Flows(socket).open("inject", credit=credit) as flow:
            return [message.tensors[0].tolist() for message in flow]


def put_many(flow, **options):
    for number in range(1000):
        flow.put([[number]], **options)


def get_many(flow, **options):
    for _ in range(1000):
        flow.get(**options)


def expected(count):
    return [[number] * (number % 5) for number in range(count)]
