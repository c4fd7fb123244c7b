"""What all shapes share, boxes, and how indices, slices and names of modes are read."""
