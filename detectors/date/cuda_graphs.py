"""Run training steps as CUDA graphs: Python starts one graph instead of hundreds of short kernels."""

from collections.abc import Callable

import torch
from torch import Tensor


class CudaGraphs:
    """A function of tensors on a GPU, recorded once for each shape of its inputs and then replayed.

    The first call with a shape runs the function, because libraries and optimizers must prepare things that
    cannot be recorded. The second call records it. The function must not wait for a value of the GPU, and may
    only read its inputs and tensors that stay at their address. Every call overwrites the result of the call
    before.
    """

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self._function = function
        self._seen: set[tuple[torch.Size, ...]] = set()
        self._graphs: dict[tuple[torch.Size, ...], tuple[torch.cuda.CUDAGraph, list[Tensor], Tensor]] = {}
        self._pool = torch.cuda.graph_pool_handle()  # graphs share memory: they do not need old data

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Return the result of the function for these inputs."""
        shapes = tuple(tensor.shape for tensor in inputs)
        if shapes not in self._seen:
            self._seen.add(shapes)
            return self._function(*inputs)
        if shapes not in self._graphs:
            self._graphs[shapes] = self._recorded(inputs)
        graph, own_inputs, result = self._graphs[shapes]
        for own, given in zip(own_inputs, inputs, strict=True):
            own.copy_(given)
        graph.replay()
        return result

    def _recorded(self, inputs: tuple[Tensor, ...]) -> tuple[torch.cuda.CUDAGraph, list[Tensor], Tensor]:
        graph, own_inputs = torch.cuda.CUDAGraph(), [tensor.clone() for tensor in inputs]
        with torch.cuda.graph(graph, pool=self._pool):
            result = self._function(*own_inputs)
        return graph, own_inputs, result
