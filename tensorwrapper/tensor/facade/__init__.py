"""The parts of ``Tensor``: mixins side by side over one base."""
