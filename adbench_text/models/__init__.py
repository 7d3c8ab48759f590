"""Saved models: a fitted detector with its calibration, in a folder of formats that execute nothing."""

from adbench_text.models.folder import load, save
from adbench_text.models.model import Model, Training

__all__ = ["Model", "Training", "load", "save"]
