"""What is to be run: cells, and sweeps that expand into them."""
