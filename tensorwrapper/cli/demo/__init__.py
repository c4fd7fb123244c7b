"""What the demo is made of: its molecules, the work on them, the second process, and its pictures."""
