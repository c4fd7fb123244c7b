"""Appending to files: records, rows of a tensor, and all records of one name as one lazy tensor."""
