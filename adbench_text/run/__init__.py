"""Run sweeps, and evaluate their cells."""
