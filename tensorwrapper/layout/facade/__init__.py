"""The parts of ``Layout``: mixins side by side over one base."""
