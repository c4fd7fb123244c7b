"""Frames of a message: the prefix, the label with its JSON, the coordinates; or all of them in one."""
