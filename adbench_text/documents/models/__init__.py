"""Saved models: a fitted detector with its calibration, in a folder. Loading it executes no code."""
