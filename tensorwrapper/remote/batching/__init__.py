"""Selections of requests: split large ones, and merge many runs into a few boxes."""
