"""Read arrays of other libraries as elements and a shape: Arrow, labelled arrays, rows, strings."""
