"""Nodes of views: operations, generators and computations, with their recorded steps."""
