"""A tiny BERT encoder with random weights."""

import numpy as np

from adbench_text.text.transformer import Config

WIDTH, HEADS, LAYERS, VOCABULARY, POSITIONS = 12, 3, 2, 20, 16
CONFIG = Config(LAYERS, HEADS, 1e-12, POSITIONS)
#: What config.json contains.
ARCHITECTURE = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": POSITIONS,
}


def random_weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of a tiny BERT, by the names of the library transformers."""
    rng = np.random.default_rng(seed)

    def some(*shape: int) -> np.ndarray:
        return rng.normal(scale=0.5, size=shape).astype(np.float32)

    def linear(name: str, n_in: int, n_out: int) -> dict[str, np.ndarray]:
        return {f"{name}.weight": some(n_out, n_in), f"{name}.bias": some(n_out)}

    def norm(name: str) -> dict[str, np.ndarray]:
        return {f"{name}.weight": 1 + some(WIDTH), f"{name}.bias": some(WIDTH)}

    weights = {
        "embeddings.word_embeddings.weight": some(VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": some(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            weights |= linear(f"{layer}.attention.self.{part}", WIDTH, WIDTH)
        weights |= linear(f"{layer}.attention.output.dense", WIDTH, WIDTH)
        weights |= norm(f"{layer}.attention.output.LayerNorm")
        weights |= linear(f"{layer}.intermediate.dense", WIDTH, 4 * WIDTH)
        weights |= linear(f"{layer}.output.dense", 4 * WIDTH, WIDTH)
        weights |= norm(f"{layer}.output.LayerNorm")
    return weights
