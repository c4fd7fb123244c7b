"""FLOW: a stream of messages from one side to the other, as many at a time as the taker has granted."""

from tensorwrapper.transport.flow._machine import FlowEvent, FlowMachine
from tensorwrapper.transport.flow._table import TRANSITIONS, Direction, FlowState, Step, Verb

__all__ = ["TRANSITIONS", "Direction", "FlowEvent", "FlowMachine", "FlowState", "Step", "Verb"]
