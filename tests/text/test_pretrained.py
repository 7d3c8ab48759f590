"""Encoders of sentence-transformers and model2vec, with tiny models in place of the published ones."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from interpreters import printed
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from adbench_text import storage
from adbench_text.contract.scores import PRE_TRAINED
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.documents.models.folder import _needed_resources
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import DataError, PluginError, UnknownNameError
from adbench_text.memo import Stopwatch
from adbench_text.testing.topics import texts_about
from adbench_text.text import encoders, pretrained
from adbench_text.text.encoders import Encoding, fit_encoder

REAL = {"wordllama": pretrained.WORDLLAMA, "minilm": pretrained.MINILM}
INSTALL = r"run: pip install 'adbench-text\[encoders\]'$"
COMMAND = {"wordllama": "run: pip install wordllama$", "minilm": INSTALL}
WORDS = "ship crew sail anchor storm judge law court jury".split()
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "##ing"]
TEXTS = ["ship crew", "Ships sailing", "judge", "law court jury law", "", " \n", "ship " * 50, "\ud800"]
TRAIN, TEST = texts_about("sea", 30, seed=0), texts_about("sea", 10, seed=1) + texts_about("law", 10, seed=2)


def write_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))
    return tokenizer


def write_sentence_transformer(folder: Path, pooling: str = "mean") -> Path:
    """Write a tiny BERT encoder with random weights, as sentence-transformers saves it."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    tokenizer = write_tokenizer(folder / "tokenizer.json")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=16, **special)
    shape = {"num_hidden_layers": 2, "num_attention_heads": 3, "max_position_embeddings": 16}
    config = BertConfig(vocab_size=len(PIECES), hidden_size=12, intermediate_size=48, **shape)
    plain = folder.parent / f"{folder.name}-plain"
    BertModel(config).save_pretrained(plain)
    fast.save_pretrained(plain)
    transformer = modules.Transformer(str(plain))
    SentenceTransformer(modules=[transformer, modules.Pooling(12, pooling)]).save(str(folder))
    return folder


def write_static_model(folder: Path) -> Path:
    from model2vec import StaticModel

    matrix = np.random.default_rng(0).normal(size=(len(PIECES), 5)).astype(np.float32)
    StaticModel(matrix, write_tokenizer(folder / "tokenizer.json")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models and of packages that contain them, which must not be imported."""
    site = tmp_path_factory.mktemp("site")
    write_sentence_transformer(site / "tiny_minilm" / "model")
    write_sentence_transformer(site / "first", "cls")
    write_static_model(site / "static")
    static, tokenizer = REAL["wordllama"].sha256
    (site / "tiny_llama" / "weights").mkdir(parents=True)
    matrix = np.random.default_rng(0).normal(size=(len(PIECES), 5)).astype(np.float16)
    save_file({"embedding.weight": matrix}, site / "tiny_llama" / static)
    write_tokenizer(site / "tiny_llama" / tokenizer)
    for package in ("tiny_minilm", "tiny_llama"):
        (site / package / "__init__.py").write_text("raise RuntimeError('imported')")
    return site


@pytest.fixture
def packages(home: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny packages are installed instead of the real ones."""
    for name, folder in (("WORDLLAMA", "tiny_llama"), ("MINILM", "tiny_minilm/model")):
        wheel = getattr(pretrained, name)
        sha256 = {file: storage.file_digest(tiny / folder / file) for file in wheel.sha256}
        monkeypatch.setattr(pretrained, name, replace(wheel, folder=folder, sha256=sha256))
    monkeypatch.syspath_prepend(tiny)
    forget()
    return tiny


def forget() -> None:
    """Forget what this process remembers, as a new process does."""
    encoders._fit_encoder.forget()
    encoders._encode.forget()
    pretrained._remembered.cache_clear()
    pretrained.word_pieces.cache_clear()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a model encodes, in order."""
    done: list[str] = []
    encode = pretrained.PretrainedModel.encode

    def counting(self: pretrained.PretrainedModel, texts: Sequence[str]) -> np.ndarray:
        done.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(pretrained.PretrainedModel, "encode", counting)
    return done


def vectors_of(method: str, texts: Sequence[str], **settings: object) -> np.ndarray:
    encoding = Encoding(method, vectors="", normalize=False, svd_components=1, seed=0)
    return fit_encoder(replace(encoding, **settings), ["ship"])(texts)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("minilm", "tiny_minilm/model"),
        ("{}", "first"),
        ("sentence-transformers:{}", "first"),
        ("{}", "static"),
        ("model2vec:{}", "static"),
    ],
)
def test_vectors_are_those_of_the_library(packages, name, folder):
    place = str(packages / folder)
    texts = ["ship crew", "Ships sailing", "law court jury law"]
    if folder == "static":
        from model2vec import StaticModel

        expected = StaticModel.from_pretrained(place, force_download=False).encode(texts)
    else:
        from sentence_transformers import SentenceTransformer

        expected = SentenceTransformer(place, device="cpu").encode(texts)
    encoded = vectors_of(name.format(place), [*texts, "", " \n", "\ud800"])
    np.testing.assert_allclose(encoded[:3], expected, rtol=1e-5, atol=1e-6)
    assert not encoded[3:5].any()
    assert np.isfinite(encoded).all()
    assert encoded.dtype == np.float32


def test_wordllama_is_the_mean_of_the_vectors_of_the_pieces(packages):
    matrix = np.random.default_rng(0).normal(size=(len(PIECES), 5)).astype(np.float16).astype(np.float32)
    ship, crew, ends = (matrix[PIECES.index(piece)] for piece in ("ship", "crew", "##s"))
    expected = [(ship + crew) / 2, (ship + ends) / 2, ship]
    encoded = vectors_of("wordllama", ["ship crew", "Ships", "ship " * 5000])
    np.testing.assert_allclose(encoded, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", REAL)
def test_a_row_depends_neither_on_the_other_texts_nor_on_the_training(packages, method):
    complete = vectors_of(method, TEXTS)
    for batch in (TEXTS[::-1], [TEXTS[3]], TEXTS * 30):
        rows = [TEXTS.index(each) for each in batch]
        np.testing.assert_allclose(vectors_of(method, batch), complete[rows], rtol=1e-4, atol=1e-6)


def test_length_and_precision_change_the_vectors_and_the_digest(packages):
    long, short = vectors_of("minilm", ["ship crew sail law", "ship crew"], max_pieces=4)
    np.testing.assert_allclose(long, short, rtol=1e-5)
    full = vectors_of("minilm", ["ship crew sail law"])[0]
    assert not np.allclose(full, short)
    rough = vectors_of("minilm", ["ship crew sail law"], precision="bf16")[0]
    assert 0 < abs(rough - full).max() < 0.1
    settings = [{}, {"max_pieces": 4}, {"encoder_precision": "bf16"}, {"max_pieces": 128}]
    digests = [OCSVM(encoder="minilm", **each).resources()["encoder"] for each in settings]
    assert digests[0] == digests[3] == f"{pretrained.MINILM.digest}-128"  # as in older saved models
    assert len(set(digests)) == 3


@pytest.mark.parametrize("method", REAL)
def test_the_digest_and_the_libraries_are_resources(packages, method):
    detector = OCSVM(encoder=method)
    assert detector.regime == PRE_TRAINED
    first = detector.resources()
    library = {"minilm": "sentence-transformers 6", "wordllama": "tokenizers 0"}[method]
    assert library in first["encoder.libraries"]
    assert _needed_resources(detector) == {"encoder": first["encoder"]}  # of a saved model
    wheel = {"wordllama": "WORDLLAMA", "minilm": "MINILM"}[method]
    name = next(iter(getattr(pretrained, wheel).sha256))
    changed = getattr(pretrained, wheel).sha256 | {name: "0" * 64}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretrained, wheel, replace(getattr(pretrained, wheel), sha256=changed))
        with pytest.raises(DataError, match=f"{name} .*pip install "):
            detector.resources()
    assert detector.resources() == first


@pytest.mark.parametrize("method", REAL)
def test_a_package_that_is_missing_is_one_line_with_the_command(home, monkeypatch, method):
    for name in ("WORDLLAMA", "MINILM"):
        wheel = replace(getattr(pretrained, name), folder="no_such_package")
        monkeypatch.setattr(pretrained, name, wheel)
    forget()
    detector = OCSVM(encoder=method)
    for use in (lambda: detector.fit(TRAIN), lambda: detector.prepare(TRAIN), detector.resources):
        message = rf"'{method}' .*no-such-package; {COMMAND[method]}"
        with pytest.raises(PluginError, match=message):
            use()


@pytest.mark.parametrize(("model", "library"), [("first", "sentence-transformers"), ("static", "model2vec")])
def test_a_library_that_is_missing_is_one_line_with_the_command(packages, monkeypatch, model, library):
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    with pytest.raises(PluginError, match=rf"'{library}:.*' .*{library}; {INSTALL}"):
        OCSVM(encoder=f"{library}:{packages / model}").resources()


@pytest.mark.parametrize("library", pretrained.LIBRARIES)
def test_a_model_that_is_not_here_is_one_line_offline(home, tmp_path, monkeypatch, library):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv(storage.OFFLINE, "1")
    with pytest.raises(DataError, match=f"'{library}:nobody/nothing'") as caught:
        OCSVM(encoder=f"{library}:nobody/nothing").resources()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoder", ["/no/such/folder", "./nothing"])
def test_a_folder_that_is_missing_is_named(home, encoder):
    with pytest.raises(DataError, match=f"{Path(encoder)}\\. .*sentence-transformers:NAME or model2vec:NAME"):
        OCSVM(encoder=encoder).resources()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "modules.json"])
def test_a_damaged_file_of_a_folder_is_one_line(home, tiny, tmp_path, name):
    folder = shutil.copytree(tiny / "first", tmp_path / "model")
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
    with pytest.raises(DataError, match=f"{re.escape(str(folder))} .*sentence-transformers") as caught:
        vectors_of(str(folder), ["ship"])
    assert "\n" not in str(caught.value)
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match=f"{re.escape(str(folder))}: .*safetensors"):
        OCSVM(encoder=str(folder)).resources()


@pytest.mark.parametrize("encoder", ["minlm", "", 3, ["a/b"]])
def test_what_is_neither_a_name_nor_a_path_is_refused(home, encoder):
    with pytest.raises(UnknownNameError):
        OCSVM(encoder=encoder).fit(TRAIN)


def test_weights_that_are_pickled_are_refused(home, tiny, tmp_path):
    folder = shutil.copytree(tiny / "first", tmp_path / "model")
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(DataError, match=r"pytorch_model\.bin .*safetensors"):
        OCSVM(encoder=str(folder)).resources()


# -- what is kept


@pytest.mark.usefixtures("caching")
def test_a_corpus_is_encoded_once_for_all_cells_and_processes(packages, encoded):
    direct = vectors_of("minilm", TEST)
    encoded.clear()
    forget()
    OCSVM(encoder="minilm").prepare(TRAIN + TEST + TRAIN)
    assert sorted(encoded) == sorted(set(TRAIN + TEST))
    forget()  # another process
    np.testing.assert_allclose(vectors_of("minilm", TEST), direct, rtol=1e-4, atol=1e-6)
    for nu in (0.1, 0.2):
        OCSVM(encoder="minilm", nu=nu).fit(TRAIN).decision_function(TEST)
    assert len(encoded) == len(set(TRAIN + TEST))
    OCSVM(encoder="minilm").prepare([*TRAIN, "another text"])
    assert encoded[len(set(TRAIN + TEST)) :] == ["another text"]


def test_without_preparation_or_for_own_text_nothing_is_written(packages, home):
    OCSVM(encoder="minilm").fit(TRAIN).decision_function(TEST)
    odd_documents(TRAIN + TEST, "ocsvm", settings={"encoder": "minilm"}, n_folds=2)
    assert not (storage.cache_dir() / "encodings").exists()


@pytest.mark.usefixtures("caching")
def test_the_seconds_of_a_cell_contain_those_of_the_preparation(packages, monkeypatch):
    train, test = ["ship crew", "crew ship", "sail ship"], ["law court", "ship crew"]
    write = storage.write_array

    def write_slow(path: Path, rows: np.ndarray) -> None:
        rows["seconds"] = 100.0
        write(path, rows)

    monkeypatch.setattr(storage, "write_array", write_slow)
    OCSVM(encoder="minilm").prepare(train + test)
    for _ in range(2):
        forget()
        with Stopwatch() as fit:
            detector = OCSVM(encoder="minilm").fit(train)
        with Stopwatch() as score:
            detector.decision_function(test)
        assert (round(fit.seconds / 100), round(score.seconds / 100)) == (3, 2)


@pytest.mark.usefixtures("caching")
def test_a_large_corpus_is_kept_in_parts(packages, encoded, monkeypatch):
    monkeypatch.setattr(pretrained, "_CHUNK", 2)
    texts = ["ship", "crew", "sail", "law", "court"]
    OCSVM(encoder="minilm").prepare(texts)
    files = sorted((storage.cache_dir() / "encodings").rglob("*.npy"))
    assert len(files) == 3
    forget()
    files[0].unlink()  # as if the preparation had been interrupted
    encoded.clear()
    OCSVM(encoder="minilm").prepare(texts)
    assert 1 <= len(encoded) <= 2


@pytest.mark.usefixtures("caching")
def test_a_damaged_file_is_made_again(packages, encoded):
    OCSVM(encoder="minilm").prepare(TEST)
    direct = vectors_of("minilm", TEST)
    (file,) = (storage.cache_dir() / "encodings").rglob("*.npy")
    file.write_bytes(file.read_bytes()[:-40])
    forget()
    encoded.clear()
    OCSVM(encoder="minilm").prepare(TEST)
    forget()
    np.testing.assert_array_equal(vectors_of("minilm", TEST), direct)
    assert len(encoded) == len(set(TEST))


# -- the real weights


@pytest.mark.parametrize("method", REAL)
def test_real_vectors_know_that_a_boat_is_a_ship(home, method):
    if REAL[method].find() is None:
        pytest.skip(f"no package with the weights is installed: {REAL[method].command}")
    forget()
    texts = ["the boat left the harbour", "a ship sailed from the port", "the judge heard the witness"]
    boat, ship, judge = vectors_of(method, texts, normalize=True)
    assert boat @ ship > boat @ judge + 0.1
    assert boat.shape == {"wordllama": (256,), "minilm": (384,)}[method]
    odd = ["", " \n\t", "ship " * 20_000, "a" * 50_000, "船 が 港 に", "\x00\x01ship\x7f", "🙂", "\ud800"]
    assert np.isfinite(vectors_of(method, odd)).all()


def test_the_libraries_are_imported_only_where_a_text_is_encoded():
    code = (
        "import sys; from adbench_text.detectors.ocsvm import OCSVM\n"
        "OCSVM(encoder='svd').fit(['ship and crew', 'ship and sail']); print(*sys.modules)"
    )
    assert not {"torch", "sentence_transformers", "transformers", "model2vec"} & set(printed(code).split())


def test_no_text_pays_for_the_loading_of_the_model(home, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(pretrained.time, "perf_counter", lambda: clock[0])

    @cache
    def load(model):
        clock[0] += 100
        return lambda texts: np.ones((len(texts), 2), np.float32)

    monkeypatch.setattr(pretrained, "_load", load)
    model = pretrained.PretrainedModel("model2vec", "made-up", "digest", None, "cpu", "fp32")
    assert model._encoded({b"1": "a ship"})["seconds"].tolist() == [0]
