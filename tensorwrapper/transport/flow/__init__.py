"""FLOW: a stream of messages from one side to the other, as many at a time as the taker has granted."""
