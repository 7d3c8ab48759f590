"""A small corpus: topics with distinct words, texts about them, and word vectors that separate them."""

from pathlib import Path

import numpy as np

TOPICS = {
    "sea": "ship harbour sail tide anchor captain wave crew island storm".split(),
    "law": "judge court statute appeal verdict counsel trial witness clause evidence".split(),
    "sky": "cloud thunder rain breeze horizon sunrise frost lightning drizzle haze".split(),
}


def texts_about(topic: str, n: int, seed: int, *, compounds: bool = False) -> list[str]:
    """Return `n` random texts of twelve words about a topic.

    A topic has ten words, so many texts are near-copies by chance. With `compounds`, such as shiptide, it has
    110 words.
    """
    rng = np.random.default_rng(seed)
    words = TOPICS[topic]
    words = words + [first + second for first in words for second in words] if compounds else words
    return [" ".join(rng.choice(words, size=12)) for _ in range(n)]


def write_vectors(path: Path, scale: float = 0.3) -> str:
    """Write a file of word vectors in which each topic has a separate corner; return its path."""
    rng = np.random.default_rng(0)
    lines = []
    for corner, words in enumerate(TOPICS.values()):
        for word in words:
            vector = rng.normal(scale=scale, size=8)
            vector[corner] += 2
            lines.append(f"{word} {' '.join(f'{value:.4f}' for value in vector)}\n")
    path.write_text("".join(lines))
    return str(path)
