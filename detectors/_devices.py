"""Where a network is computed."""

import torch

from adbench_text.checks import check_choice
from adbench_text.errors import InvalidValueError

DEVICES = ("auto", "cpu", "cuda")


def check_device(name: str) -> None:
    """Raise InvalidValueError if this is no device, or one that is not here."""
    check_choice("device", name, DEVICES)
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidValueError(f"torch {torch.__version__} sees no GPU; use device='cpu'.")


def find_device(name: str) -> torch.device:
    """Return the device; ``auto`` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def describe(device: torch.device) -> str:
    """Say what a result was computed on."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu, {torch.get_num_threads()} threads"
