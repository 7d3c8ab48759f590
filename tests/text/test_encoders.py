import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from interpreters import printed

from adbench_text import storage
from adbench_text.cli.main import main
from adbench_text.contract.vector_detector import Encoding, VectorDetector
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.text import encoders, words
from adbench_text.text.encoders import fit_encoder

# Those that are fitted on the training documents; see test_pretrained.py for the others.
FITTED = [name for name, method in encoders.METHODS.items() if not method.is_pretrained]
N_DIMENSIONS = 4
KNOWN = [f"known{letter}" for letter in "abcdefghijklmnopqrst"]
UNKNOWN = ["mystery", "riddle"]


def random_texts(n: int, seed: int, words: list[str]) -> list[str]:
    """Texts of zero to nine words, some without one known word, some empty."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, size=rng.integers(0, 10))) for _ in range(n)]


ALL = KNOWN + UNKNOWN
TRAIN = random_texts(60, 0, words=ALL[2:])  # two words with vectors are in test texts alone
TEST = [*random_texts(40, 1, ALL), "", "mystery riddle mystery", "KnownA knowna, knownd!", "knownd"]


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return dict(zip(KNOWN, rng.normal(size=(len(KNOWN), N_DIMENSIONS)).astype(np.float32), strict=True))


@pytest.fixture
def file(home, tmp_path, table) -> str:
    """A file of word vectors; and no encoder is remembered from another test."""
    for memory in (encoders._fit_encoder, encoders._encode, words._count_words):
        memory.forget()
    path = tmp_path / "my.vec"
    path.write_text("".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in table.items()))
    return str(path)


def encoding(method: str, file: str = "", **settings: object) -> Encoding:
    base = Encoding(method=method, vectors=file, normalize=False, svd_components=5, seed=0)
    return replace(base, **settings)


def encode_naively(method: str, texts: list[str], table: dict[str, np.ndarray]) -> np.ndarray:
    """One word after the other."""
    n_with = {word: sum(word in words.words(train) for train in TRAIN) for word in KNOWN}
    rows = []
    for each in texts:
        known = [word for word in words.words(each) if word in table]
        if not known:
            row = np.zeros(N_DIMENSIONS)
        else:
            idf = {word: np.log((1 + len(TRAIN)) / (1 + n_with[word])) + 1 for word in known}
            weights = [idf[word] if method == "tfidf" else 1 for word in known]
            row = np.average([table[word] for word in known], axis=0, weights=weights)
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("method", ["mean", "tfidf"])
def test_vectors_are_those_of_a_loop_over_the_words(file, table, method):
    for texts in (TRAIN, TEST):
        encoded = fit_encoder(encoding(method, file), TRAIN)(texts)
        assert encoded.dtype == np.float32
        np.testing.assert_allclose(encoded, encode_naively(method, texts, table), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", FITTED)
@pytest.mark.parametrize("normalize", [False, True])
def test_a_text_without_a_known_word_is_the_zero_vector(file, method, normalize):
    encoder = fit_encoder(encoding(method, file, normalize=normalize), [text for text in TRAIN if text])
    odd = ["", " !? ", "never seen before"]
    np.testing.assert_array_equal(encoder([*odd, "knownd"])[:3], 0)
    np.testing.assert_array_equal(encoder(odd), 0)
    assert encoder(odd).shape == encoder(TEST)[:3].shape
    assert encoder(["knownd"]).any()


@pytest.mark.parametrize("method", ["mean", "tfidf"])
def test_training_texts_without_a_word_can_be_fitted_on(file, method):
    encoder = fit_encoder(encoding(method, file), ["", "!"])
    np.testing.assert_array_equal(encoder(["", "!"]), np.zeros((2, N_DIMENSIONS)))
    assert encoder(["knowna"]).any()


@pytest.mark.parametrize("method", FITTED)
def test_normalized_vectors_have_length_one_and_the_same_direction(file, method):
    plain = fit_encoder(encoding(method, file), TRAIN)(TEST)
    unit = fit_encoder(encoding(method, file, normalize=True), TRAIN)(TEST)
    length = np.linalg.norm(plain, axis=1)
    known = length > 0
    assert 0 < known.sum() < len(TEST)
    np.testing.assert_allclose(np.linalg.norm(unit[known], axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(unit[~known], 0)
    np.testing.assert_allclose(unit[known] * length[known, None], plain[known], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", FITTED)
def test_a_row_does_not_depend_on_the_other_texts(file, method):
    whole = fit_encoder(encoding(method, file), TRAIN)(TEST)
    for batch in (TEST[::-1], TEST[7:9], [TEST[7]], TEST * 3, ["new words entirely", *TEST]):
        encoded = fit_encoder(encoding(method, file), TRAIN)(batch)
        rows = [TEST.index(each) for each in batch if each in TEST]
        np.testing.assert_allclose(encoded[-len(rows) :], whole[rows], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", FITTED)
def test_nothing_is_learned_from_test_texts(file, method):
    one = fit_encoder(encoding(method, file), TRAIN)
    first = one(TRAIN).copy()
    one(["knowna knownb mystery"] * 500)
    encoders._fit_encoder.forget()
    encoders._encode.forget()
    other = fit_encoder(encoding(method, file), TRAIN)
    other(["knownc riddle"] * 500)
    np.testing.assert_array_equal(other(TRAIN), first)
    np.testing.assert_allclose(other(TEST), one(TEST), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["tfidf", "svd"])
def test_what_is_fitted_depends_on_the_training_texts(file, method):
    some = [each for each in TRAIN if "knownd" not in each]
    assert len(some) < len(TRAIN)
    one, other = (fit_encoder(encoding(method, file), texts)(["knownd knowne"]) for texts in (TRAIN, some))
    assert not np.allclose(one, other)


def test_svd_reads_no_vectors(home):
    detector = OCSVM(encoder="svd", vectors="/nowhere.vec", svd_components=3)
    detector.prepare(TRAIN)
    assert detector.resources() == {}
    assert np.isfinite(detector.fit(TRAIN).decision_function(TEST)).all()


def test_svd_needs_a_word(file):
    with pytest.raises(InvalidValueError, match="svd"):
        fit_encoder(encoding("svd"), ["", "!"])


# -- what is shared


@pytest.fixture
def work(monkeypatch) -> list[str]:
    """What is done anew: fits of encoders, and encodings."""
    done: list[str] = []

    def count(kind: type, name: str) -> None:
        method = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda self, texts: done.append(name) or method(self, texts))

    for kind in (encoders.TFIDF, encoders.SVD):
        count(kind, "_fit")
    for kind in (encoders.Mean, encoders.SVD):
        count(kind, "_encode")
    return done


class Keeper(VectorDetector):
    """Keeps the vectors it is given."""

    def _fit_vectors(self, X):
        self.seen = [X]

    def _score_vectors(self, X):
        self.seen.append(X)
        return X.sum(axis=1).astype(np.float64)


@pytest.mark.parametrize("method", ["tfidf", "svd"])
def test_detectors_of_one_split_share_one_matrix(file, work, method):
    detectors = [Keeper(encoder=method, vectors=file, random_state=0) for _ in range(2)]
    for detector in detectors:
        detector.fit(list(TRAIN)).decision_function(list(TEST))
    assert work == ["_fit", "_encode", "_encode"]
    one, other = (detector.seen for detector in detectors)
    assert one[0] is other[0]
    assert one[1] is other[1]


def test_another_split_or_encoding_is_not_shared(file, work):
    settings = [
        {},
        {"normalize": False},
        {"encoder": "mean"},
        {"encoder": "svd"},
        {"encoder": "svd", "svd_components": 2},
    ]
    seen = []
    for changes in settings:
        detector = Keeper(**{"vectors": file, "random_state": 0, **changes}).fit(TRAIN)
        seen.append(detector.seen[0])
    other = Keeper(vectors=file, random_state=0).fit(TRAIN[::-1])
    assert work.count("_fit") == len(settings)  # the mean learns nothing
    np.testing.assert_array_equal(other.seen[0][::-1], seen[0])
    for i, one in enumerate(seen):
        for another in seen[i + 1 :]:
            assert one.shape != another.shape or not np.allclose(one, another)


def test_shared_vectors_cannot_be_changed(file):
    encoder = fit_encoder(encoding("mean", file), TRAIN)
    with pytest.raises(ValueError, match="read-only"):
        encoder(TEST)[0] = 1


SCORE_ELSEWHERE = """
import pickle
from pathlib import Path
for detector in pickle.loads(Path({path!r}).read_bytes()):
    print(detector.decision_function({texts!r}).tobytes().hex())
"""


def test_pickled_detectors_score_the_same_in_another_process(file, tmp_path):
    detectors = [OCSVM(encoder=method, vectors=file, random_state=0).fit(TRAIN) for method in FITTED]
    path = tmp_path / "detectors.pickle"
    path.write_bytes(pickle.dumps(detectors))
    there = printed(SCORE_ELSEWHERE.format(path=str(path), texts=TEST), PYTHONHASHSEED="5")
    for detector, line in zip(detectors, there.split(), strict=True):
        scores = np.frombuffer(bytes.fromhex(line), np.float64)
        np.testing.assert_allclose(scores, detector.decision_function(TEST), rtol=1e-9)


# -- hyper-parameters


def test_missing_vectors_are_one_line(home):
    detector = Keeper(vectors="glove-wiki-gigaword-50")
    for use in (lambda: detector.fit(TRAIN), lambda: detector.prepare(TRAIN), detector.resources):
        with pytest.raises(DataError, match=r"run: adbench-text fetch glove-wiki-gigaword-50$"):
            use()
    with pytest.raises(UnknownNameError):
        Keeper(vectors="glove").fit(TRAIN)


def test_the_digest_of_the_vectors_is_among_the_resources(file):
    assert Keeper(vectors=file).resources() == {"vectors": storage.file_digest(Path(file))[:16]}


# -- one table


def test_an_encoder_is_added_in_one_place(file, monkeypatch):
    class Lengths(encoders.Encoder):
        description = "number of words"
        needs_vectors = False

        def _fit(self, training):
            self.longest = max(len(words.words(each)) for each in training)

        def _encode(self, texts):
            return np.array([[len(words.words(each)), self.longest] for each in texts])

    monkeypatch.setitem(encoders.METHODS, "lengths", Lengths)
    detector = Keeper(encoder="lengths", vectors=file, normalize=False).fit(["one two", "one"])
    assert detector.seen[0].tolist() == [[2, 2], [1, 2]]
    assert detector.seen[0].dtype == np.float32
    assert not detector.seen[0].flags.writeable
    assert detector.resources() == {}
    assert detector.regime == "from scratch"
    shown = " ".join(CliRunner().invoke(main, ["list", "encoders"]).output.split())
    assert "lengths number of words" in shown
    with pytest.raises(UnknownNameError, match=r"'length'.*'lengths'"):
        Keeper(encoder="length").fit(TRAIN)
