"""What computes a view: part by part, into a target, with progress and cancellation."""
