"""The forward pass of a BERT encoder in NumPy.

Not in torch, which only detectors may import. It takes about 1.4 times as long as in torch: the matrix
products are equally fast, and take most of the time.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import DataError

Array = NDArray[np.float32]

_CHUNK = 1 << 15  # elements of an activation at a time: they stay in the processor's cache


@dataclass(frozen=True)
class Config:
    """The architecture, as ``config.json`` describes it.

    Parameters
    ----------
    n_layers, n_heads : int
    epsilon : float
        Of the layer normalisations.
    max_length : int
        Number of positions.
    """

    n_layers: int
    n_heads: int
    epsilon: float
    max_length: int

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file ``config.json``, or raise DataError if it does not describe a BERT encoder."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            values = (content["model_type"], content["hidden_act"])
            positions = content.get("position_embedding_type", "absolute")
            config = cls(
                int(content["num_hidden_layers"]),
                int(content["num_attention_heads"]),
                float(content["layer_norm_eps"]),
                int(content["max_position_embeddings"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise DataError(f"{path} is not the configuration of a BERT encoder ({reason}).") from error
        if (*values, positions) != ("bert", "gelu", "absolute"):
            raise DataError(
                f"{path} describes a model of type {values[0]!r} with the activation {values[1]!r} and "
                f"{positions!r} positions. Give a BERT encoder with 'gelu' and 'absolute' positions."
            )
        return config


class Transformer:
    """A BERT encoder without dropout.

    Parameters
    ----------
    config : Config
    weights : mapping of str to array
        The tensors of ``model.safetensors``, by the names of the library transformers.

    Raises
    ------
    DataError
        If a tensor is missing or has another shape than the others imply.
    """

    def __init__(self, config: Config, weights: Mapping[str, NDArray[Any]]) -> None:
        prefix = "" if "embeddings.word_embeddings.weight" in weights else "bert."
        used = {
            name.removeprefix(prefix): np.asarray(tensor, dtype=np.float32)
            for name, tensor in weights.items()
            if name.startswith((f"{prefix}embeddings.", f"{prefix}encoder.")) and tensor.ndim in (1, 2)
        }
        self.config = config
        try:
            self.words = used["embeddings.word_embeddings.weight"]
            # the token type is 0 everywhere, so its vector is part of that of the position
            self._positions = (
                used["embeddings.position_embeddings.weight"]
                + used["embeddings.token_type_embeddings.weight"][0]
            )
            self._norm = _norm(used, "embeddings.LayerNorm")
            self._layers = [_layer(used, f"encoder.layer.{number}.") for number in range(config.n_layers)]
            if len(self._positions) < config.max_length:
                raise ValueError(f"{len(self._positions)} positions instead of {config.max_length}")
            self.encode(np.zeros((1, 2), dtype=np.int64))  # do the shapes fit?
        except (KeyError, IndexError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise DataError(
                f"The weights are not those of the encoder's configuration ({reason})."
            ) from error

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.words.shape[1])

    def encode(self, ids: NDArray[np.int64]) -> Array:
        """Return the mean of the last layer's vectors of each document.

        Parameters
        ----------
        ids : int64 array of shape (n_texts, length)
            Pieces of documents of equal length, which need neither pads nor masks.

        Returns
        -------
        float32 array of shape (n_texts, width)
        """
        n_texts, length = ids.shape
        x = self.words[ids] + self._positions[:length]
        x = self._normalize(x.reshape(n_texts * length, self.width), self._norm)
        for layer in self._layers:
            attended = self._attend(x @ layer.qkv + layer.qkv_bias, n_texts)
            x = self._normalize(attended @ layer.out + layer.out_bias + x, layer.norm_1)
            inner = gelu(x @ layer.inner + layer.inner_bias)
            x = self._normalize(inner @ layer.outer + layer.outer_bias + x, layer.norm_2)
        mean: Array = x.reshape(n_texts, length, self.width).mean(axis=1)
        return mean

    def _attend(self, qkv: Array, n_texts: int) -> Array:
        """Mix the values of each document's pieces by the attention of all heads."""
        n_heads = self.config.n_heads
        # (3, n_texts, n_heads, length, width of a head)
        split = qkv.reshape(n_texts, -1, 3, n_heads, self.width // n_heads).transpose(2, 0, 3, 1, 4)
        queries, keys, values = np.ascontiguousarray(split)
        weights = queries @ keys.swapaxes(-1, -2) * np.float32(1 / math.sqrt(self.width // n_heads))
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Array = weights @ values
        return mixed.transpose(0, 2, 1, 3).reshape(-1, self.width)

    def _normalize(self, x: Array, norm: tuple[Array, Array]) -> Array:
        scale, shift = norm
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(self.width)
        x *= (1 / np.sqrt(variance + np.float32(self.config.epsilon)))[:, None]
        x *= scale
        x += shift
        return x


@dataclass(frozen=True)
class _Layer:
    qkv: Array
    qkv_bias: Array
    out: Array
    out_bias: Array
    norm_1: tuple[Array, Array]
    inner: Array
    inner_bias: Array
    outer: Array
    outer_bias: Array
    norm_2: tuple[Array, Array]


def _layer(weights: Mapping[str, Array], prefix: str) -> _Layer:
    parts = [_linear(weights, f"{prefix}attention.self.{name}") for name in ("query", "key", "value")]
    return _Layer(
        np.concatenate([matrix for matrix, _ in parts], axis=1),
        np.concatenate([bias for _, bias in parts]),
        *_linear(weights, f"{prefix}attention.output.dense"),
        _norm(weights, f"{prefix}attention.output.LayerNorm"),
        *_linear(weights, f"{prefix}intermediate.dense"),
        *_linear(weights, f"{prefix}output.dense"),
        _norm(weights, f"{prefix}output.LayerNorm"),
    )


def _linear(weights: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]


def _norm(weights: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def gelu(x: Array) -> Array:
    """Apply the Gaussian error linear unit in place.

    The error function is that of Abramowitz and Stegun, 7.1.26; its error is at most 1.5e-7, the
    rounding of float32. SciPy's takes five times as long.
    """
    flat = x.reshape(-1)
    for begin in range(0, len(flat), _CHUNK):
        part = flat[begin : begin + _CHUNK]
        z = np.abs(part) * np.float32(math.sqrt(0.5))
        t = 1 / (np.float32(0.3275911) * z + 1)
        polynomial = np.float32(1.061405429) * t
        for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            polynomial += np.float32(coefficient)
            polynomial *= t
        z *= z
        np.negative(z, out=z)
        # tail: the probability that a normal variable exceeds |x|
        polynomial *= np.exp(z, out=z)
        polynomial *= np.float32(0.5) * np.abs(part)
        # x * Phi(x) is max(x, 0) - |x| * tail
        np.maximum(part, 0, out=part)
        part -= polynomial
    return x
