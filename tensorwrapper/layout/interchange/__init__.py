"""Layouts in the words of DLPack, PEP 3118, mdspan, Halide and TensorStore."""
