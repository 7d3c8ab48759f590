"""Keeps models of this version for all later ones: `python tests/documents/models/keep.py [DETECTOR ...]`.

The folder kept/<version> gets a small model of each detector that can be saved, ``words.vec`` with the word
vectors that some of them need, and ``scores.json``: documents, and their scores and p by each model.
`test_kept.py` compares. The models are fitted on docstrings of pydocs, which they do not contain; the
documents that are scored are written here.

Names of detectors keep these alone, such as one that is new in this version.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from adbench_text import __version__
from adbench_text.datasets.pydocs import PyDocs
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.models.model import Scorer
from adbench_text.plugins import registry
from adbench_text.text import vectors
from adbench_text.text.cleaning import clean

KEPT = Path(__file__).parent / "kept" / __version__
LIBRARY = "numpy"
N_TEXTS, N_CHARACTERS = 24, 180  # the most of each; a model grows with them
WORDS = "words.vec"  # read from the folder of the models
COLUMNS = ["score", "p", "p_form", "p_both"]
DOCUMENTS = [
    "Return the sum of the array elements over the given axis, as a new array of the same shape.",
    "Compute the standard deviation along an axis, and raise an error if the array is empty.",
    "The judge asked the witness twice; neither she nor the court believed a word of the verdict.",
    "CALL NOW!!! 0800-555-0199 to claim your 1,000 $$$ prize, offer ends 12/12 :-)",
    "12 34",
]


def settings() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the detector and its settings of each model, by the name of its folder."""
    of = {name: registry.detector(name) for name in ("cvdd", "date", "ensemble", "llr")}
    small = {"steps": 5, "hidden": 8, "max_length": 32, "device": "cpu"}
    with_vectors = {"encoder": "mean", "vectors": WORDS}
    return {
        "cvdd": ("cvdd", {**of["cvdd"].test_settings, "vectors": WORDS, "device": "cpu"}),
        "date": ("date", {**of["date"].test_settings, **small}),
        "ensemble-clean": ("ensemble", of["ensemble"].for_documents("en", {}, normal=True)[1]),
        "ensemble-robust": ("ensemble", of["ensemble"].for_documents("en", {})[1]),
        "form": ("form", {}),
        "iforest": ("iforest", {"encoder": "svd", "svd_components": 8, "n_estimators": 3}),
        "knn-vectors": ("knn-vectors", {"encoder": "wordllama", "k": 5}),
        "knn-words": ("knn-words", {"k": 5}),
        "llr": ("llr", {}),
        "llr-topics": ("llr", {**of["llr"].for_documents("en", {"vectors": WORDS})[1], "vectors": WORDS}),
        "ngrams": ("ngrams", {"length": 4}),
        "ocsvm": ("ocsvm", {"encoder": "svd", "svd_components": 8}),
        "pyod-hbos": ("pyod-hbos", with_vectors),
        "pyod-knn": ("pyod-knn", with_vectors),
        "pyod-lof": ("pyod-lof", {"n_neighbors": 5, "vectors": WORDS}),
        "pyod-pca": ("pyod-pca", {"encoder": "svd", "svd_components": 8}),
    }


def texts() -> list[str]:
    """Return short docstrings of one library."""
    train, _ = PyDocs().read()
    of_library = zip(train.texts, train.labels, strict=True)
    number = PyDocs.classes.index(LIBRARY)
    return [text for text, label in of_library if label == number and len(text) < N_CHARACTERS][:N_TEXTS]


def write_words(normal: list[str]) -> None:
    """Write a random vector for each word."""
    rng = np.random.default_rng(0)
    words = sorted({word for text in [*normal, *DOCUMENTS] for word in clean(text).split()})
    lines = [f"{word} {' '.join(f'{value:.2f}' for value in rng.normal(size=8))}\n" for word in words]
    Path(WORDS).write_text("".join(lines))


def main(names: list[str]) -> None:
    """Keep the models of these names; all without names."""
    KEPT.mkdir(parents=True, exist_ok=True)
    normal = texts()
    with chdir(KEPT):
        if not Path(WORDS).exists():  # models are refused with any others
            write_words(normal)
        path = Path("scores.json")
        kept = json.loads(path.read_text())["scores"] if path.exists() else {}
        for name, (detector, own) in settings().items():
            if names and name not in names:
                continue
            model = fit_model(normal, detector, preset="default", settings=own, n_folds=2, source="pydocs")
            if detector != "ensemble":  # the form of documents would be in each model
                model = replace(model, form=None, calibrations={"words": model.calibration})
            save_model(model, name, overwrite=True)
            table = Scorer(load_model(name)).score(DOCUMENTS)[COLUMNS].astype(object)
            kept[name] = table.where(table.notna(), None).to_dict("list")
            print(name, sum(file.stat().st_size for file in Path(name).iterdir()))
        scores = {"documents": DOCUMENTS, "scores": dict(sorted(kept.items()))}
        path.write_text(json.dumps(scores, indent=1) + "\n")


if __name__ == "__main__":
    with TemporaryDirectory() as empty:
        # as on a bare machine: no word vectors but those of the folder
        os.environ |= {"ADBENCH_TEXT_DATA": empty, "ADBENCH_TEXT_CACHE": empty, "ADBENCH_TEXT_OFFLINE": "1"}
        vectors.WHEEL = replace(vectors.WHEEL, folder="no_such_package")
        main(sys.argv[1:])
