"""Sweeps, and the cells that they expand into."""
