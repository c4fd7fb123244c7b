"""Storage of jagged shapes: rows and boxes, each with its start."""
