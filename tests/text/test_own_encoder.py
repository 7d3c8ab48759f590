"""Encoders in a file of the user's own, ``./mine.py:embed``; here it has the vectors of WordLlama."""

import json
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from commands import adbench

from adbench_text import own_file, storage
from adbench_text.contract.scores import PRE_TRAINED
from adbench_text.corpora.corpus import load
from adbench_text.corpora.split_key import SplitKey
from adbench_text.detectors.ensemble import Ensemble
from adbench_text.detectors.knn_vectors import KNNVectors
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.documents import chunks
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models import folder as folders
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.models.registered import log_model
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError, ModelError, PluginError
from adbench_text.plugins.registry import dataset
from adbench_text.run.cell import Cell
from adbench_text.run.engine import _check_definition, _checked
from adbench_text.run.names import choices_of
from adbench_text.run.preparation import prepare
from adbench_text.store.run import definition_of
from adbench_text.store.store import Store
from adbench_text.testing.topics import texts_about
from adbench_text.text import encoders, own_encoder, pretrained
from adbench_text.text.encoders import Encoding, fit_encoder
from adbench_text.text.own_encoder import is_same

NAME, WRITTEN = "mine.py:embed", "./mine.py:embed"
TRAIN, TEST = texts_about("sea", 30, seed=0), texts_about("sea", 10, seed=1) + texts_about("law", 10, seed=2)
#: Writes down what it gets, and is as far from WordLlama as the file ``noise`` says: a server may change.
MINE = """
import json
from pathlib import Path

import numpy as np

from adbench_text.text.encoders import Encoding, fit_encoder

HERE = Path(__file__).parent


def embed(texts):
    with (HERE / "calls").open("a") as calls:
        calls.write(json.dumps(texts) + "\\n")
    local = Encoding("wordllama", vectors="", normalize=False, svd_components=1, seed=0)
    exact = fit_encoder(local, ["ship"])(texts)
    noise = np.random.default_rng(0).normal(size=exact.shape) / np.sqrt(exact.shape[1])
    amount = float((HERE / "noise").read_text())
    return exact + amount * np.linalg.norm(exact, axis=1, keepdims=True) * noise


def reversed(texts):
    return embed(texts)[:, ::-1]


def half(texts):
    return embed(texts)[:, :128]


def twice(texts):
    return 2 * embed(texts)


def constant(texts):
    return [[1, 1, 1]] * len(texts)
"""


class Mine:
    """The file of an encoder, and what was asked of it."""

    def __init__(self, folder: Path, forget: Callable[[], None]) -> None:
        self.folder, self._forget = folder, forget
        self.write(MINE)
        self.noise(0)

    def write(self, code: str) -> None:
        (self.folder / "mine.py").write_text(code)
        self.forget()

    def noise(self, amount: float) -> None:
        (self.folder / "noise").write_text(str(amount))
        self.forget()

    def forget(self) -> None:
        """Forget what this process remembers, as a new process does."""
        self._forget()
        encoders._fit_encoder.forget()
        encoders._encode.forget()
        pretrained._remembered.cache_clear()
        _checked.clear()

    @property
    def batches(self) -> list[list[str]]:
        """The texts of each call."""
        calls = self.folder / "calls"
        return [*map(json.loads, calls.read_text().splitlines())] if calls.exists() else []

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


@pytest.fixture
def mine(here, own_files) -> Mine:
    """``mine.py`` in the working directory."""
    return Mine(here, own_files)


def vectors_of(method: str, texts: Sequence[str]) -> np.ndarray:
    encoding = Encoding(method, vectors="", normalize=False, svd_components=1, seed=0)
    return fit_encoder(encoding, ["ship"])(texts)


def identity(written: str = WRITTEN) -> str:
    """The identity by general texts, which nothing keeps."""
    return own_encoder.identify_by(own_file.named(written))


def prepared(texts: Sequence[str], written: str = WRITTEN) -> KNNVectors:
    """A detector that has looked up a corpus, as in a sweep."""
    detector = KNNVectors(encoder=written)
    with pretrained.caching():
        detector.prepare(texts)
    return detector


# -- vectors


def test_vectors_are_those_of_the_function_and_zeros_for_a_text_without_a_letter(mine):
    encoded = vectors_of(WRITTEN, ["", *TEST, " \n", "\ud800"])
    np.testing.assert_allclose(encoded[1:-2], vectors_of("wordllama", TEST), rtol=1e-6)
    assert not encoded[[0, -2]].any()
    assert encoded.dtype == np.float32
    assert mine.texts == [*TEST, "?"]


@pytest.mark.parametrize(
    "build",
    [
        lambda encoder: KNNVectors(k=5, encoder=encoder),
        lambda encoder: OCSVM(encoder=encoder),
        lambda encoder: Ensemble(encoder=encoder),
        lambda encoder: Ensemble(members=f"llr, knn-vectors(k=3, encoder={encoder})"),
    ],
)
@pytest.mark.usefixtures("mine")
def test_detectors_have_the_scores_of_the_local_encoder(build):
    here, there = (build(encoder).fit(TRAIN).decision_function(TEST) for encoder in ("wordllama", WRITTEN))
    np.testing.assert_allclose(there, here, atol=1e-4)
    assert build(WRITTEN).regime == PRE_TRAINED


def test_a_call_is_limited_in_texts_and_characters(mine):
    texts = [f"ship {number}" for number in range(70)] + ["x" * 50_000, "y" * 60_000, "z" * 200_000, "sail"]
    vectors_of(WRITTEN, texts)
    assert [len(batch) for batch in mine.batches] == [32, 32, 8, 1, 1]
    assert mine.texts == texts


def test_a_function_may_return_the_same_array_again(mine, monkeypatch):
    buffer = np.zeros((32, 3), np.float32)

    def encoded(texts):
        buffer[:] = len(texts[0])
        return buffer[: len(texts)]

    monkeypatch.setattr(own_encoder, "_function", cache(lambda name: encoded))
    texts = [f"{'a' * (1 + number // 32)}{number:03}" for number in range(64)]
    np.testing.assert_array_equal(vectors_of(WRITTEN, texts)[[0, 63], 0], [4, 5])


def test_a_text_is_encoded_once(mine):
    detector = KNNVectors(encoder=WRITTEN)
    detector.prepare(TRAIN + TRAIN)
    detector.fit(TRAIN).decision_function(TRAIN)
    assert sorted(mine.texts) == sorted(set(TRAIN))
    assert not (storage.cache_dir() / "encodings").exists()  # documents of a user stay out of it


@pytest.mark.usefixtures("mine")
def test_another_process_knows_the_file(monkeypatch):
    monkeypatch.setattr(chunks, "_PATIENCE", 0)
    detector = KNNVectors(encoder=WRITTEN).fit(TRAIN)
    (there,) = chunks.results_of(detector.decision_function, [TEST], jobs=2)
    np.testing.assert_allclose(there, detector.decision_function(TEST), atol=1e-6)


# -- what cannot be used


@pytest.mark.parametrize(
    ("code", "kind", "quoted"),
    [
        ("def other(texts): ...", PluginError, "no 'embed'"),
        ("embed = 3", PluginError, "got 3"),
        ("def embed(texts): (", PluginError, "(mine.py, line 1)"),
        ("import no_package_x", PluginError, "'no_package_x' (mine.py:1)"),
        ("\n1 / 0", PluginError, "division by zero (mine.py:2)"),
        ("def embed(texts): raise OSError('429: slow down')", DataError, "429: slow down (mine.py:1)"),
        ("def embed(texts): exit(7)", DataError, "SystemExit: 7"),
        ("def embed(): ...", DataError, "embed() takes 0 positional arguments"),
        ("def embed(texts): return None", DataError, "got None"),
        ("def embed(texts): return ['a'] * len(texts)", DataError, "'a'"),
        ("def embed(texts): return [[1.0], [1.0, 2.0], [1.0], [1.0]]", DataError, "inhomogeneous"),
        ("def embed(texts): return [1.0] * len(texts)", DataError, "(32,)"),
        ("def embed(texts): return [[1.0, 2.0]] * 3", DataError, "(3, 2)"),
        ("def embed(texts): return [[1.0, 2j]] * len(texts)", DataError, "complex"),
        ("def embed(texts): return [[]] * len(texts)", DataError, "(32, 0)"),
        ("def embed(texts): return [[1.0, float('nan')]] * len(texts)", DataError, "got nan for 'ship"),
        ("def embed(texts): return [[1.0 + 1e300 * ('é' in text)] for text in texts]", DataError, "for 'é"),
        ("def embed(texts): return [[1.0] * (2 + (len(texts) < 9))] * len(texts)", DataError, "now of 3"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(mine, code, kind, quoted):
    mine.write(code)
    with pytest.raises(kind) as caught:
        vectors_of(WRITTEN, ["ship", "é", *map(str, range(38))])
    assert quoted in str(caught.value)
    assert "mine.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(here):
    with pytest.raises(PluginError, match=re.escape(f"{here}/none.py")):
        vectors_of("./none.py:embed", ["ship"])


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("name", [NAME, WRITTEN])
def test_a_file_that_nobody_who_fits_has_named_is_not_executed(name, here):
    with pytest.raises(InvalidValueError, match=f"'{NAME}'"):
        pretrained.locate(name, None, "cpu", "fp32")
    assert not (here / "calls").exists()


@pytest.mark.usefixtures("mine")
def test_two_files_of_one_name_are_refused(here):
    shutil.copytree(here, here / "there")
    vectors_of(WRITTEN, ["ship"])
    with pytest.raises(InvalidValueError, match=f"'{NAME}'"):
        vectors_of("there/mine.py:embed", ["ship"])


# -- identity


def test_rounding_leaves_the_identity_and_another_model_has_another(mine):
    first = identity()
    assert re.fullmatch("own-[0-9a-f]{16}-256-[0-9a-f]{132}", first)
    for amount in (1e-5, 1e-3, 1e-2):
        mine.noise(amount)
        assert is_same(first, identity())
    for amount in (0.1, 1.0):
        mine.noise(amount)
        assert not is_same(first, identity())


def test_another_code_or_function_has_another_identity_and_a_comment_has_not(mine):
    first = identity()
    for other in ("reversed", "half", "constant", "twice"):
        assert not is_same(first, identity(f"./mine.py:{other}"))
    mine.write(f"{MINE}\nembed_too = embed\n")
    assert not is_same(first, changed := identity())
    assert not is_same(changed, identity("./mine.py:embed_too"))
    mine.write(f"# A comment.\n{MINE}")
    assert identity() == first


@pytest.mark.parametrize("other", [None, "", "none", "own-a0-128-7f0000", "own-b0-256-7f0000", "a-128"])
def test_other_identities_are_the_same_only_if_they_are_equal(other):
    assert not is_same("own-a0-256-7f0000", other)
    assert is_same(other, other)


def test_without_a_sketch_the_code_and_the_reason_are_compared():
    assert is_same("own-a0-256-random-00", "own-a0-256-random-11")
    for other in ("own-a0-256-constant-00", "own-b0-256-random-00", "own-a0-256-7f0000"):
        assert not is_same("own-a0-256-random-00", other)
        assert not is_same(other, "own-a0-256-random-00")


def test_vectors_that_were_kept_are_used_despite_rounding_and_the_identity_stays(mine):
    first = prepared(TRAIN)
    expected, identity = first.fit(TRAIN).decision_function(TRAIN), first.resources()
    mine.noise(1e-2)
    again = prepared(TRAIN)
    assert again.resources() == identity
    np.testing.assert_array_equal(again.fit(TRAIN).decision_function(TRAIN), expected)
    shutil.rmtree(storage.cache_dir())
    mine.forget()
    assert prepared(TRAIN).resources() != identity


#: Knows the words in its file of data alone, as an encoder of a field does; the sentences have none of them.
OF_A_FIELD = """
import json
from pathlib import Path

import numpy as np

VECTORS, ZERO = json.loads(Path(__file__).with_name("words.json").read_text()), np.zeros(8)


def embed(texts):
    return [sum((np.array(VECTORS.get(word, ZERO)) for word in text.split()), ZERO) for text in texts]
"""


class OfAField:
    """An encoder with a vector for each word of some texts."""

    def __init__(self, mine: Mine) -> None:
        self.mine = mine
        self.words = sorted({word for text in TRAIN + TEST for word in text.split()})
        mine.write(OF_A_FIELD)
        self.data(0)

    def data(self, seed: int, words: Collection[str] = ()) -> None:
        """Write other vectors, of some words or of all."""
        vectors, others = (
            np.random.default_rng(each).normal(size=(len(self.words), 8)) for each in (0, seed)
        )
        for row, word in enumerate(self.words):
            vectors[row] = others[row] if not words or word in words else vectors[row]
        listed = dict(zip(self.words, vectors.tolist(), strict=True))
        (self.mine.folder / "words.json").write_text(json.dumps(listed))
        self.mine.forget()


@pytest.fixture
def of_a_field(mine) -> OfAField:
    return OfAField(mine)


@pytest.mark.parametrize("is_of_one", [False, True])
def test_a_change_of_its_data_is_seen_in_the_documents_of_a_corpus(of_a_field, is_of_one):
    corpus = [*TRAIN, "heute kein wort davon"]
    first = prepared(corpus)
    before, scores = first.resources()["encoder"], first.fit(TRAIN).decision_function(TRAIN)
    of_a_field.data(1, [TRAIN[0].split()[0]] if is_of_one else ())
    changed = prepared(corpus)
    assert not is_same(changed.resources()["encoder"], before)
    assert (changed.fit(TRAIN).decision_function(TRAIN) != scores).any()
    np.testing.assert_array_equal(changed._encoder(TRAIN), vectors_of_now(TRAIN))
    of_a_field.data(0)
    assert prepared(corpus).resources()["encoder"] == before  # its vectors were kept, too


def vectors_of_now(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors, from no cache."""
    made = own_encoder.encode(NAME, texts)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_each_corpus_identifies_its_encoder(of_a_field):
    sea, law = texts_about("sea", 60, seed=0), texts_about("law", 60, seed=0)
    first, second = (prepared(corpus).resources()["encoder"] for corpus in (sea, law))
    assert not is_same(first, second)
    of_a_field.mine.forget()
    of_a_field.data(1, {*" ".join(law).split()} - {*" ".join(sea).split()})
    assert prepared(sea).resources()["encoder"] == first
    assert not is_same(prepared(law).resources()["encoder"], second)


@pytest.mark.parametrize(
    ("code", "quoted"),
    [
        ("return np.random.default_rng().normal(size=(len(texts), 4))", "at each call"),
        ("return np.zeros((len(texts), 4), dtype=np.float16)", "the same vector"),
        ("return [[2]] * len(texts)", "the same vector"),
    ],
)
def test_an_encoder_that_cannot_be_identified_keeps_nothing_and_runs_each_time(mine, store, code, quoted):
    mine.write(f"import numpy as np\ndef embed(texts): {code}")
    for _ in range(2):
        mine.forget()
        result = adbench(f"{RUN} --no-report -d", f"ensemble(members=llr,knn-vectors(encoder={WRITTEN}))")
        assert quoted in result.stderr
        assert "1 cell to run" in result.stderr
    assert not (storage.cache_dir() / "encodings").exists()


def test_one_dimension_lists_and_few_digits_are_identified(mine):
    code = "def embed(texts): return [[float(len(text))] for text in texts]"
    mine.write(f"{code}\nimport numpy as np\ndef few(texts): return np.array(embed(texts), np.float16)")
    for name in (WRITTEN, "./mine.py:few"):
        assert not own_encoder.unidentified(prepared(TRAIN, name).resources()["encoder"])


@pytest.mark.usefixtures("toy_path")
def test_a_worker_of_a_cluster_may_round_and_may_not_have_another_model(mine):
    own_file.named(WRITTEN)
    cell, tiny = (
        Cell("knn-vectors", "default", {"encoder": NAME}, SplitKey("tiny", "sea")),
        load(dataset("tiny")),
    )
    expected = prepare([cell], {"tiny": tiny})[0][cell]
    mine.noise(1e-2)
    _check_definition(cell, tiny, expected)
    shutil.rmtree(storage.cache_dir())
    mine.noise(0.5)
    with pytest.raises(AdbenchTextError, match=r"knn-vectors has resource\.encoder own-"):
        _check_definition(cell, tiny, expected)


# -- commands


RUN = "run -s tiny --inlier sea --contamination 0"


@pytest.fixture
def store(empty_database, here, toy_path) -> Path:
    return Path(shutil.copy(empty_database, here / "mlflow.db"))


@pytest.mark.usefixtures("mine")
def test_it_is_written_wherever_an_encoder_is(here):
    (here / "sweep.toml").write_text(f'detector = "knn-vectors"\nencoder = "{WRITTEN}"\n')
    for words in (
        f"-d knn-vectors --encoder {WRITTEN}",
        f"-d knn-vectors --set encoder={here}/mine.py:embed",
        f"-d knn-vectors(encoder={WRITTEN})",
        f"-d knn-vectors(encoder={NAME})",
        "--sweep sweep.toml",
    ):
        result = adbench("run --dry-run -s pydocs --inlier numpy --contamination 0", words)
        assert result.stdout == f"knn-vectors(encoder={NAME}) on pydocs/numpy at 0%, seed 0\n", words
    (choice,) = choices_of([f"ensemble(members=llr, knn-vectors(encoder={WRITTEN}))"], print)
    assert choice.settings == {"members": f"llr, knn-vectors(encoder={NAME})"}
    assert "./FILE.py:NAME" in adbench("list encoders").stdout


@pytest.mark.usefixtures("store")
def test_a_sweep_has_the_figures_of_the_local_encoder_and_encodes_a_corpus_once(mine, here, monkeypatch):
    first = adbench(f"{RUN} -d knn-vectors --encoder {WRITTEN} --seed 0,1 --jobs 2")
    assert first.exit_code == 0, first.output
    asked = set(mine.texts)
    assert (
        len(mine.texts) - len(asked) <= 8 + 2 * 5 * 8
    )  # some again: vectors are stable, and of this encoder
    assert adbench(f"{RUN} -d knn-vectors --encoder wordllama --seed 0,1").exit_code == 0
    store = Store("sqlite:///mlflow.db")
    figures = store.cells(["tiny"])["auroc"].tolist()
    assert figures == pytest.approx([figures[0]] * 4, abs=1e-6)
    stored = [definition_of(run) for run in store.reader.runs("adbench-text/tiny")]
    assert len(stored) == 4
    assert not [each for each in stored if str(here) in str(each)]
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    command = f"{RUN} --seed 0,1 --tracking-uri sqlite:///{here}/mlflow.db -d knn-vectors --encoder"
    mine.forget()
    assert "0 cells to run, 2 finished before" in adbench(command, "../mine.py:embed").stderr
    assert set(mine.texts) == asked
    mine.noise(0.5)
    assert "2 cells to run" in adbench(command, "../mine.py:embed").stderr


@pytest.mark.usefixtures("store")
def test_an_encoder_that_fails_ends_a_sweep_or_fails_its_cells_in_one_line(mine):
    mine.write("def embed(texts): raise OSError('no route to host')")
    result = adbench(f"{RUN} -d llr,knn-vectors(encoder={WRITTEN})")
    assert result.exit_code == 1
    assert "no route to host (mine.py:1)" in result.stderr.splitlines()[-1]
    result = adbench(f"{RUN} -d llr,knn-vectors(encoder=./none.py:embed)")
    assert result.exit_code == 3
    cells = Store("sqlite:///mlflow.db").cells(["tiny"])
    assert set(cells[cells["status"] == "ok"]["detector"]) == {"llr"}


@pytest.mark.slow
def test_own_documents_are_ranked_kept_and_scored_with_the_file_given_again(mine, here, monkeypatch):
    (here / "posts.csv").write_text("\n".join(["body", *TRAIN, *TEST]))
    choice = f"posts.csv -d knn-vectors --encoder {WRITTEN} --jobs 1"
    odd = adbench(f"odd {choice} --keep-copies")
    assert odd.exit_code == 0, odd.output
    assert f"knn-vectors(encoder={NAME})" in odd.stdout
    assert set(mine.texts) == set(TRAIN + TEST)
    mine.forget()
    fitted = adbench(f"fit {choice} --model kept")
    assert fitted.exit_code == 0, fitted.output
    assert not [path for path in (here / "kept").iterdir() if str(here).encode() in path.read_bytes()]
    mine.forget()
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    score = "score ../kept ../posts.csv --output scored.csv --encoder"
    scored = adbench(score, "../mine.py:embed")
    assert scored.exit_code == 0, scored.output
    mine.write(f"{MINE}\nNEW = 1\n")
    refused = adbench(score, "../mine.py:embed")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert re.search(rf"'{NAME}' (own-\w+-256-\w+).* (?!\1)own-\w+-256-\w+ ", refused.stderr)
    mine.write(MINE)
    mine.noise(0.5)
    assert adbench(score, "../mine.py:embed").exit_code == 1


def test_a_model_knows_the_encoder_of_a_field_by_words_that_documents_share(of_a_field, here):
    save_model(fit_model(TRAIN, KNNVectors(encoder=WRITTEN)), here / "kept")
    (probes,) = [json.loads((here / "kept" / "model.json").read_text())["training"]["options"]["probes"]]
    for word in " ".join(probes).split():
        assert sum(word in text.split() for text in TRAIN) >= 5
    load_model(here / "kept", encoder=WRITTEN)
    of_a_field.data(1)
    with pytest.raises(ModelError, match=f"encoder '{NAME}' own-"):
        load_model(here / "kept", encoder=WRITTEN)


def test_fit_notes_an_encoder_that_cannot_be_identified(mine, here):
    mine.write("def embed(texts): return [[1.0, 2.0]] * len(texts)")
    (here / "posts.csv").write_text("\n".join(["body", *TRAIN]))
    fitted = adbench(f"fit posts.csv -d knn-vectors --encoder {WRITTEN} --model kept")
    assert "the same vector" in fitted.stderr


def test_a_model_never_executes_a_file_that_is_not_given(mine, here):
    (here / "posts.csv").write_text("\n".join(["body", *TEST]))
    saved = save_model(fit_model(TRAIN, KNNVectors(encoder=WRITTEN)), here / "kept")
    (here / "calls").unlink()
    for words in ("", "--encoder wordllama", "--encoder ./other.py:embed", "--encoder ./mine.py:half"):
        mine.forget()
        refused = adbench("score kept posts.csv", words)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
        assert f"./{NAME}" in refused.stderr
        assert repr(words.removeprefix("--encoder ")) in refused.stderr
    description = json.loads((saved / "model.json").read_text())
    description["detectors"][0]["settings"]["encoder"] = f"{here}/{NAME}"
    description.pop("sha256")
    (saved / "model.json").write_text(json.dumps(description | {"sha256": folders._digest(description)}))
    for words in ("", f"--encoder {here}/{NAME}"):
        mine.forget()
        refused = adbench("score kept posts.csv", words)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert not (here / "calls").exists()


@pytest.mark.parametrize("name", [NAME, WRITTEN, "{here}/mine.py:embed"])
def test_a_state_that_names_a_file_does_not_execute_it(mine, here, name):
    model = fit_model(TRAIN, KNNVectors(encoder="wordllama"))
    encoding = Encoding(name.format(here=here), vectors="", normalize=False, svd_components=1, seed=0)
    model.detector._encoder = encoders.Pretrained(encoding)
    loaded = load_model(save_model(model, here / "kept"))
    assert loaded.detector._encoder.encoding == encoding
    mine.forget()
    with pytest.raises(AdbenchTextError, match=NAME):
        Scorer(loaded).score(TEST)
    assert not (here / "calls").exists()


def test_a_model_scores_as_the_local_encoder_where_its_file_is_elsewhere_and_rounds(mine, here):
    detectors = {name: KNNVectors(k=5, encoder=name) for name in (WRITTEN, "wordllama")}
    there, local = (fit_model(TRAIN, detector) for detector in detectors.values())
    save_model(there, here / "kept")
    mine.noise(1e-4)
    shutil.copytree(here, here / "elsewhere")
    loaded = load_model(here / "kept", encoder="elsewhere/mine.py:embed")
    scores = [Scorer(model).score(TEST)["score"] for model in (loaded, local)]
    np.testing.assert_allclose(*scores, atol=1e-3)
    mine.noise(0.5)
    with pytest.raises(ModelError, match=f"encoder '{NAME}' own-"):
        load_model(here / "kept", encoder=WRITTEN)


def test_a_model_of_another_encoder_is_given_no_file(mine, here):
    saved = save_model(fit_model(TRAIN, "llr"), here / "kept")
    with pytest.raises(ModelError, match=f"'{WRITTEN}'"):
        load_model(saved, encoder=WRITTEN)
    assert not (here / "calls").exists()


@pytest.mark.usefixtures("mine")
def test_a_model_with_it_is_not_registered(here):
    (here / "posts.csv").write_text("\n".join(["body", *TRAIN]))
    result = adbench(f"fit posts.csv -d knn-vectors --encoder {WRITTEN} --model kept --log-model posts")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert f"'{NAME}'" in result.stderr
    assert not (here / "kept").exists()
    saved = save_model(fit_model(TRAIN, KNNVectors(encoder=WRITTEN)), here / "kept")
    with pytest.raises(InvalidValueError, match=f"'{NAME}'"):
        log_model(saved, "posts", "sqlite:///mlflow.db")
