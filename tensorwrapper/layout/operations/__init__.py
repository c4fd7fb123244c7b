"""Operations on layouts of any kind: modes permuted, merged and gathered, offsets inverted, nesting."""
