"""Strings of Apache Arrow, read and handed out through its C interface."""
