"""Runs cells and measures them."""
