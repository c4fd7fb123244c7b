"""Shapes combined by the labels of their modes, as in ``"i,j,k"``."""
