"""The parts of ``View``: mixins side by side over one base."""
