"""Views as JSON: written, and parsed from untrusted input within limits."""
