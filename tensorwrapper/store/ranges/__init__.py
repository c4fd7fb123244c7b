"""Fetch byte ranges of files, file objects, and HTTP servers."""
