"""Runners: compute a view part by part, into a target, with progress and cancellation."""
