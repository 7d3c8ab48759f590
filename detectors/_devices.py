"""Where a network is computed, and in which precision."""

from collections.abc import Mapping
from typing import Any

import torch

from adbench_text.checks import Choice
from adbench_text.errors import InvalidValueError

PRECISION = Choice(("auto", "bf16", "fp32"))


class _Devices(Choice):
    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError unless a value is a device of this machine."""
        super().check(name, value)
        if value == "cuda" and not torch.cuda.is_available():
            raise InvalidValueError(f"torch {torch.__version__} sees no GPU; use device='cpu'.")


DEVICE = _Devices(("auto", "cpu", "cuda"))


def find_device(name: str) -> torch.device:
    """Return the device; ``auto`` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def find_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Return the type to train in; ``auto`` is bfloat16 where the hardware multiplies in it."""
    if precision == "auto":
        if device.type == "cuda":
            # Emulated bfloat16 is slower than fp32.
            is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
        else:
            # Older versions of torch do not report what the CPU can do; fp32 is safe.
            capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
            is_fast = bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))
        precision = "bf16" if is_fast else "fp32"
    return {"bf16": torch.bfloat16, "fp32": torch.float32}[precision]


def describe(device: torch.device) -> str:
    """Return the name of a device, for the tags of a run."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu, {torch.get_num_threads()} threads"
