"""Messages over ZeroMQ sockets: the one place that imports ``zmq``."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.transport._counters import Counters, bytes_on_wire
    from tensorwrapper.transport._curve import CurveClient, CurveServer, Security
    from tensorwrapper.transport._delivery import Delivery
    from tensorwrapper.transport._keys import KeyPair
    from tensorwrapper.transport._kinds import SocketKind
    from tensorwrapper.transport._socket import Socket
    from tensorwrapper.transport.aio._async_socket import AsyncDelivery, AsyncSocket
    from tensorwrapper.transport.connections._addresses import is_local
    from tensorwrapper.transport.flow._flow import Flow
    from tensorwrapper.transport.flow._flows import Flows
    from tensorwrapper.transport.flow._machine import FlowEvent, FlowMachine
    from tensorwrapper.transport.flow._table import (
        FLOW_TRANSITIONS,
        FlowDirection,
        FlowState,
        FlowStep,
        FlowVerb,
    )
    from tensorwrapper.transport.transfer._receiver import TransferReceiver
    from tensorwrapper.transport.transfer._sender import Run, TransferSender
    from tensorwrapper.transport.transfer._table import (
        TRANSFER_TRANSITIONS,
        TransferRole,
        TransferState,
        TransferStep,
        TransferVerb,
    )
    from tensorwrapper.transport.transfer._transfer import Transfer
    from tensorwrapper.transport.transfer._transfers import Transfers

__all__ = [
    "FLOW_TRANSITIONS",
    "TRANSFER_TRANSITIONS",
    "AsyncDelivery",
    "AsyncSocket",
    "Counters",
    "CurveClient",
    "CurveServer",
    "Delivery",
    "Flow",
    "FlowDirection",
    "FlowEvent",
    "FlowMachine",
    "FlowState",
    "FlowStep",
    "FlowVerb",
    "Flows",
    "KeyPair",
    "Run",
    "Security",
    "Socket",
    "SocketKind",
    "Transfer",
    "TransferReceiver",
    "TransferRole",
    "TransferSender",
    "TransferState",
    "TransferStep",
    "TransferVerb",
    "Transfers",
    "bytes_on_wire",
    "is_local",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_counters": ("Counters", "bytes_on_wire"),
            "_curve": ("CurveClient", "CurveServer", "Security"),
            "_delivery": ("Delivery",),
            "_keys": ("KeyPair",),
            "_kinds": ("SocketKind",),
            "_socket": ("Socket",),
            "aio._async_socket": ("AsyncDelivery", "AsyncSocket"),
            "connections._addresses": ("is_local",),
            "flow._flow": ("Flow",),
            "flow._flows": ("Flows",),
            "flow._machine": ("FlowEvent", "FlowMachine"),
            "flow._table": ("FLOW_TRANSITIONS", "FlowDirection", "FlowState", "FlowStep", "FlowVerb"),
            "transfer._receiver": ("TransferReceiver",),
            "transfer._sender": ("Run", "TransferSender"),
            "transfer._table": (
                "TRANSFER_TRANSITIONS",
                "TransferRole",
                "TransferState",
                "TransferStep",
                "TransferVerb",
            ),
            "transfer._transfer": ("Transfer",),
            "transfer._transfers": ("Transfers",),
        },
    )
