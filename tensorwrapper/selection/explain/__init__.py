"""Views explained, as text, HTML and pictures."""
