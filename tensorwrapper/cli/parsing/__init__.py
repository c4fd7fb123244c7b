"""Parse the command line and print ``--help``, without importing the commands."""
