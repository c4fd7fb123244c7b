"""FLOW: a one-way stream of messages, limited by the credit that the taker grants."""
