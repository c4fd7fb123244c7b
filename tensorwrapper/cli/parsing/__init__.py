"""Parsing of the command line, and the texts of ``--help``; the commands themselves are not imported."""
