"""The words of a user's own documents stay out of the cache, and new words do not cost a pass each."""

from pathlib import Path

import pytest

from adbench_text import storage
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.ranking import odd_documents
from adbench_text.text import vectors

DOCUMENTS = [f"invoice {word} from accounting" for word in "paid late wrong missing doubled".split()] * 4
NEW = ["giraffe", "zebra", "walrus", "heron", "otter"]


@pytest.fixture
def choice(home, tmp_path) -> dict:
    """A detector on word vectors of a file."""
    words = {word for text in DOCUMENTS for word in text.split()} | set(NEW)
    lines = [f"{word} {row % 3} {row % 5} {row % 7}" for row, word in enumerate(sorted(words), 1)]
    path = tmp_path / "mine.vec"
    path.write_text("\n".join(lines) + "\n")
    return {"detector": "ocsvm", "settings": {"encoder": "mean", "vectors": str(path)}, "n_folds": 2}


@pytest.fixture
def reads(monkeypatch) -> list:
    """The passes over the file."""
    passes = []
    read = vectors._read
    monkeypatch.setattr(vectors, "_read", lambda path: passes.append(path) or read(path))
    return passes


def kept() -> list[Path]:
    """What is in the cache besides the word vectors of the file, which are read before any document."""
    return [path for path in storage.cache_dir().rglob("*.npy") if path.parents[1].name != "word-vectors"]


def test_ranked_documents_leave_no_words(choice):
    assert odd_documents(DOCUMENTS + NEW, **choice).table["rank"].count() == len(DOCUMENTS + NEW)
    assert kept() == []


def test_a_model_is_fitted_and_scores_without_leaving_words(choice, reads):
    scorer = Scorer(fit_model(DOCUMENTS, **choice))
    scores = [scorer.score([f"invoice {word}"]).score[0] for word in NEW]
    assert kept() == []
    assert len(reads) == 1
    reads.clear()
    assert scores == scorer.score([f"invoice {word}" for word in NEW]).score.tolist()
    assert reads == []


def test_a_detector_of_the_library_reads_its_file_once_and_leaves_no_words(choice, reads):
    detector = OCSVM(**choice["settings"]).fit(DOCUMENTS)
    scores = [detector.decision_function([f"invoice {word}"])[0] for word in NEW]
    assert len(reads) == 1
    assert kept() == []
    assert scores == list(detector.decision_function([f"invoice {word}" for word in NEW]))
    assert len(reads) == 1
