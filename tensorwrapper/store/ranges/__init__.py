"""Bytes that are fetched by ranges: of files, file objects, and servers of files."""
