"""What is said on the command line and in answer to ``--help``: it loads nothing that works."""
