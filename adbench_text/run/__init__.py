"""Sweeps and their cells: what is run, and how it is evaluated."""
