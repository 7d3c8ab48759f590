"""Saved models: a fitted detector with its calibration, in a folder of formats that execute nothing."""
