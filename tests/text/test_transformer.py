"""The forward pass in NumPy against torch's own modules."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_bert import ARCHITECTURE, CONFIG, HEADS, LAYERS, VOCABULARY, WIDTH, random_weights
from torch import nn

from adbench_text.errors import DataError
from adbench_text.text.transformer import Config, Transformer, gelu


def encode_with_torch(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """The same by torch's encoder layers, which attend and normalize in their own code."""
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    x = tensors["embeddings.word_embeddings.weight"][torch.from_numpy(ids)]
    x = x + tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + tensors["embeddings.token_type_embeddings.weight"][0]
    names = [f"embeddings.LayerNorm.{kind}" for kind in ("weight", "bias")]
    x = nn.functional.layer_norm(x, (WIDTH,), *(tensors[name] for name in names), 1e-12)
    for number in range(LAYERS):
        prefix = f"encoder.layer.{number}"
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0, "gelu", 1e-12, batch_first=True)
        state = {}
        for kind in ("weight", "bias"):
            parts = [tensors[f"{prefix}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            state |= {
                f"self_attn.in_proj_{kind}": torch.cat(parts),
                f"self_attn.out_proj.{kind}": tensors[f"{prefix}.attention.output.dense.{kind}"],
                f"norm1.{kind}": tensors[f"{prefix}.attention.output.LayerNorm.{kind}"],
                f"linear1.{kind}": tensors[f"{prefix}.intermediate.dense.{kind}"],
                f"linear2.{kind}": tensors[f"{prefix}.output.dense.{kind}"],
                f"norm2.{kind}": tensors[f"{prefix}.output.LayerNorm.{kind}"],
            }
        layer.load_state_dict(state)
        with torch.no_grad():
            x = layer.eval()(x)
    return x.mean(dim=1).numpy()


@pytest.mark.parametrize("shape", [(1, 1), (1, 16), (5, 7)])
def test_vectors_are_those_of_torch(shape):
    ids = np.random.default_rng(1).integers(0, VOCABULARY, shape)
    weights = random_weights()
    encoded = Transformer(CONFIG, weights).encode(ids)
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded, encode_with_torch(weights, ids), rtol=1e-4, atol=2e-6)


def test_names_may_begin_with_bert_and_halves_are_widened():
    ids = np.arange(6).reshape(1, 6)
    expected = Transformer(CONFIG, random_weights()).encode(ids)
    named = {f"bert.{name}": array for name, array in random_weights().items()}
    pooler = {"bert.pooler.dense.weight": np.zeros((WIDTH, WIDTH), dtype=np.float32)}
    np.testing.assert_array_equal(Transformer(CONFIG, named | pooler).encode(ids), expected)
    halves = {name: array.astype(np.float16) for name, array in random_weights().items()}
    np.testing.assert_allclose(Transformer(CONFIG, halves).encode(ids), expected, rtol=0.05, atol=0.02)


def test_gelu_is_that_of_the_error_function():
    x = np.concatenate([np.linspace(-12, 12, 100_001), [0, -1e4, 1e4, 1e-20]]).astype(np.float32)
    expected = [0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in x.astype(np.float64)]
    np.testing.assert_allclose(gelu(x.copy()), expected, rtol=1e-6, atol=5e-7)


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.pop("encoder.layer.1.output.dense.bias"),
        lambda weights: weights.update({"encoder.layer.0.output.dense.bias": np.zeros(5, np.float32)}),
        lambda weights: weights.update(
            {"embeddings.position_embeddings.weight": np.zeros((3, WIDTH), np.float32)}
        ),
        lambda weights: weights.clear(),
    ],
)
def test_weights_that_do_not_fit_are_one_line(change):
    weights = random_weights()
    change(weights)
    with pytest.raises(DataError, match="weights are not those of the encoder's configuration"):
        Transformer(CONFIG, weights)


def test_heads_that_do_not_divide_the_width_are_one_line():
    with pytest.raises(DataError, match="weights are not those"):
        Transformer(replace(CONFIG, n_heads=5), random_weights())


def test_the_configuration_is_that_of_the_library_transformers(tmp_path: Path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(ARCHITECTURE))
    assert Config.read(path) == CONFIG


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "roberta"}, "describes a model of type 'roberta'"),
        ({"hidden_act": "relu"}, "the activation 'relu'"),
        ({"position_embedding_type": "relative_key"}, "'relative_key' positions"),
        ({"num_hidden_layers": None}, "is not the configuration of a BERT encoder"),
    ],
)
def test_another_architecture_is_refused(tmp_path: Path, change, message):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(ARCHITECTURE | change))
    with pytest.raises(DataError, match=message):
        Config.read(path)


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_what_is_no_configuration_is_one_line(tmp_path: Path, content):
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(DataError, match="is not the configuration of a BERT encoder"):
        Config.read(path)
