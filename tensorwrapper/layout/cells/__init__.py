"""Storage of jagged shapes: rows and boxes, each with a start of its own."""
