"""The parts of ``Shape``: mixins side by side over one base, and iteration over the indices of a shape."""
