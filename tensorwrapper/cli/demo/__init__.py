"""Parts of the demo: its molecules, the work on them, the second process, and its pictures."""
