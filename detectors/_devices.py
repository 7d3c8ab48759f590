"""Choose the device and the precision of a network, and turn its weights into arrays and back."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from adbench_text.checks import Choice
from adbench_text.devices import DEVICES, PRECISIONS, Device, Precision
from adbench_text.errors import InvalidValueError

PRECISION = Choice(PRECISIONS)


class _Devices(Choice):
    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError unless a value is a device of this machine."""
        super().check(name, value)
        if value == "cuda" and not torch.cuda.is_available():
            raise InvalidValueError(f"torch {torch.__version__} sees no GPU; use device='cpu'.")


DEVICE = _Devices(DEVICES)


def find_device(name: Device) -> torch.device:
    """Return the device; ``auto`` takes a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def find_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """Return the type to train in; ``auto`` takes bfloat16 if the hardware multiplies in it."""
    if precision == "auto":
        if device.type == "cuda":
            # Emulated bfloat16 is slower than fp32.
            is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
        else:
            # Older versions of torch do not report the abilities of the CPU; fp32 is safe.
            capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
            is_fast = bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))
        precision = "bf16" if is_fast else "fp32"
    return {"bf16": torch.bfloat16, "fp32": torch.float32}[precision]


def describe(device: torch.device) -> str:
    """Return the name of a device, for the tags of a run."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu, {torch.get_num_threads()} threads"


def weights_of(network: nn.Module) -> dict[str, NDArray[Any]]:
    """Return the weights of a network by name."""
    return {name: weight.numpy(force=True) for name, weight in network.state_dict().items()}


def load_weights(network: nn.Module, weights: Mapping[str, NDArray[Any]]) -> None:
    """Load saved weights into a network; raise RuntimeError if the shapes differ."""
    network.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()})


def device_to_load_on(name: Device) -> torch.device:
    """Return the device of a saved detector: the CPU if the GPU used in training is not available."""
    return find_device("auto" if name == "cuda" else name)
