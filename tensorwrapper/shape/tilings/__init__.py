"""Tilings: irregular partitions of a box, and the way from one to another."""
