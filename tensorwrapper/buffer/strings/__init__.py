"""Strings as one array of bytes with offsets: made, checked, merged, and exchanged with other forms."""
