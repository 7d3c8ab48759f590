"""Saved models: a fitted detector with its calibration, in a folder of formats that execute nothing."""

from adbench_text.models.folder import load_model, save_model
from adbench_text.models.model import Model, Training

__all__ = ["Model", "Training", "load_model", "save_model"]
