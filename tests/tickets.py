"""Tickets some of which are odd without an odd word."""

import numpy as np


def tickets():
    """Return tickets on three topics, and two that are of the words of all of them."""
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{a}{b}" for a in "aeio" for b in "krt"] for topic in ("mod", "rech", "pak")]
    usual = [" ".join(rng.choice(words, 6, replace=False)) for words in topics for _ in range(40)]
    mixed = [" ".join(word for words in topics for word in words[n : n + 2]) for n in (0, 4)]
    return usual, mixed
