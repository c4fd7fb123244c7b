"""What is done to a layout of any kind: modes permuted, merged and gathered, offsets inverted, nesting."""
