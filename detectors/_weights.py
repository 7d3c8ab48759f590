"""The weights of networks as arrays, to be saved and read back."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from adbench_text.detectors._devices import find_device


def weights_of(network: nn.Module) -> dict[str, NDArray[Any]]:
    """Return the weights of a network by name; shared weights once."""
    return {name: weight.detach().cpu().numpy() for name, weight in network.named_parameters()}


@torch.no_grad()
def load_weights(network: nn.Module, weights: Mapping[str, NDArray[Any]]) -> None:
    """Put saved weights into a network of the same shape.

    Raises
    ------
    ValueError
        If names or shapes are others.
    """
    parameters = dict(network.named_parameters())
    shapes, saved = ({name: tuple(w.shape) for name, w in each.items()} for each in (parameters, weights))
    if shapes != saved:
        raise ValueError("the saved weights are not those of this network")
    for name, weight in parameters.items():
        weight.copy_(torch.from_numpy(weights[name]))


def device_to_load_on(name: str) -> torch.device:
    """Return the device of a detector that is read back: the CPU where the GPU of then is missing."""
    return find_device("auto" if name == "cuda" else name)
