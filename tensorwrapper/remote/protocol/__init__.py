"""Requests and answers as values, and as frames: pure, so that both ends and other languages agree."""
