"""Messages over ZeroMQ sockets: the one place that imports ``zmq``."""

from tensorwrapper.transport._counters import Counters
from tensorwrapper.transport._curve import CurveClient, CurveServer, Security
from tensorwrapper.transport._delivery import Delivery
from tensorwrapper.transport._keys import KeyPair
from tensorwrapper.transport._kinds import SocketKind
from tensorwrapper.transport._socket import Socket
from tensorwrapper.transport.flow._flow import Flow
from tensorwrapper.transport.flow._flows import Flows
from tensorwrapper.transport.flow._machine import FlowEvent, FlowMachine
from tensorwrapper.transport.flow._table import FLOW_TRANSITIONS, FlowDirection, FlowState, FlowStep, FlowVerb

__all__ = [
    "FLOW_TRANSITIONS",
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
    "Security",
    "Socket",
    "SocketKind",
]
