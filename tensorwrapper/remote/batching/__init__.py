"""What requests ask for: large selections in pieces, and many runs as a few boxes."""
