"""Append records and rows to files, and read all records of one name as one lazy tensor."""
