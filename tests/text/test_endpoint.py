"""Encoders behind OpenAI's embeddings protocol; a server on this machine has WordLlama's vectors."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import adbench
from servers import Handler, Server, serving

from adbench_text import storage
from adbench_text.contract.scores import PRE_TRAINED
from adbench_text.corpora.corpus import load
from adbench_text.detectors.ensemble import Ensemble
from adbench_text.detectors.knn_vectors import KNNVectors
from adbench_text.detectors.ocsvm import OCSVM
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.models.model import Scorer
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError, ModelError
from adbench_text.plugins.registry import dataset
from adbench_text.run.cell import Cell
from adbench_text.run.definition import definition
from adbench_text.run.engine import _check_definition, _checked
from adbench_text.store.store import Store
from adbench_text.testing.topics import texts_about
from adbench_text.text import encoders, endpoint, pretrained
from adbench_text.text.encoders import Encoding, fit_encoder

PATH = "/v1/embeddings"
NAME = "openai:llama"
KEY, PASSWORD = "sk-5ecret0fmine", "pa55w0rd"
TRAIN, TEST = texts_about("sea", 30, seed=0), texts_about("sea", 10, seed=1) + texts_about("law", 10, seed=2)


def vectors_of(method: str, texts: Sequence[str]) -> np.ndarray:
    encoding = Encoding(method, vectors="", normalize=False, svd_components=1, seed=0)
    return fit_encoder(encoding, ["ship"])(texts)


def forget() -> None:
    """Forget what this process remembers, as a new process does."""
    encoders._fit_encoder.forget()
    encoders._encode.forget()
    for remembered in (pretrained._remembered, endpoint._digest, endpoint._session, endpoint._print_once):
        remembered.cache_clear()


class Embeddings:
    """Answers requests by the vectors of a function; `changed` gives other answers."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.keys: list[str | None] = []
        self.vectors: Callable[[list[str]], Any] = lambda texts: vectors_of("wordllama", texts)
        self.changed: Iterator[Callable[[Handler], object]] = iter(())

    def __call__(self, request: Handler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        assert body.keys() == {"model", "input"}
        self.keys.append(request.headers["Authorization"])
        if other := next(self.changed, None):
            other(request)
            return
        self.batches.append(body["input"])
        rows = enumerate(np.asarray(self.vectors(body["input"])).tolist())
        data = [{"index": index, "embedding": vector} for index, vector in rows]
        request.send(json.dumps({"data": data[::-1], "model": body["model"]}).encode())

    @property
    def texts(self) -> list[str]:
        """The texts that were sent, without those that identify the model."""
        return [text for batch in self.batches for text in batch if text not in endpoint._PROBES]


@pytest.fixture
def embeddings(here, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Embeddings]:
    """What the server of this test answers; its URL is in the environment."""
    server.answers[PATH] = answers = Embeddings()
    monkeypatch.setenv(endpoint.URL, f"{server.url}/v1")
    monkeypatch.setenv(endpoint.KEY, "")
    monkeypatch.setattr(endpoint, "BACKOFF", 0.001)
    forget()
    yield answers
    forget()


def status(code: int, body: object = "", **headers: str) -> Callable[[Handler], None]:
    """Return what answers with an error."""

    def answer(request: Handler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


def refusal(use: Callable[[], object] = lambda: vectors_of(NAME, ["ship"]), kind: Any = DataError) -> str:
    with pytest.raises(kind) as caught:
        use()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- vectors


def test_vectors_are_those_of_the_server_by_their_index(embeddings):
    encoded = vectors_of(NAME, ["", *TEST, " \n", "\ud800"])
    np.testing.assert_allclose(encoded[1:-2], vectors_of("wordllama", TEST), rtol=1e-6)
    assert not encoded[[0, -2]].any()
    assert encoded.dtype == np.float32
    assert embeddings.texts == [*TEST, "?"]


@pytest.mark.parametrize(
    "build",
    [
        lambda encoder: KNNVectors(k=5, encoder=encoder),
        lambda encoder: OCSVM(encoder=encoder),
        lambda encoder: Ensemble(encoder=encoder),
        lambda encoder: Ensemble(members=f"llr, knn-vectors(k=3, encoder={encoder})"),
    ],
)
def test_detectors_have_the_scores_of_the_local_encoder(embeddings, build):
    here, there = (build(encoder).fit(TRAIN).decision_function(TEST) for encoder in ("wordllama", NAME))
    np.testing.assert_allclose(there, here, atol=1e-4)
    assert build(NAME).regime == PRE_TRAINED


def test_a_request_is_limited_in_texts_and_characters(embeddings, monkeypatch):
    texts = [f"ship {number}" for number in range(70)] + ["x" * 50_000, "y" * 60_000, "z" * 200_000, "sail"]
    embeddings.vectors = lambda batch: [[len(text), 1.0] for text in batch]
    encoded = vectors_of(NAME, texts)
    assert [len(batch) for batch in embeddings.batches[1:]] == [32, 32, 8, 1, 1]
    assert encoded[:, 0].tolist() == [len(text) for text in texts]


def test_a_text_is_sent_once(embeddings):
    detector = KNNVectors(encoder=NAME)
    detector.prepare(TRAIN + TRAIN)
    detector.fit(TRAIN).decision_function(TRAIN)
    assert sorted(embeddings.texts) == sorted(set(TRAIN))
    assert not (storage.cache_dir() / "encodings").exists()  # documents of a user stay out of it


# -- servers that fail


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_server_that_fails_twice_is_asked_again(embeddings, code):
    embeddings.changed = iter([status(code), status(code)])
    np.testing.assert_allclose(vectors_of(NAME, TEST), vectors_of("wordllama", TEST), rtol=1e-6)


@pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("86400", 60)])
def test_a_server_is_asked_again_when_it_wants_to_be_but_no_later_than_in_a_minute(
    embeddings, monkeypatch, asked, waited
):
    waits: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waits.append)
    embeddings.changed = iter([status(429, Retry_After=asked)])
    vectors_of(NAME, ["ship"])
    assert waits == [waited]


def test_a_server_that_goes_on_failing_is_one_line_with_its_message(embeddings):
    message = {"error": {"message": "input (992 tokens) is too large to process"}}
    embeddings.changed = iter(lambda: status(500, message), None)
    assert re.search(r"answers 500 to 4 texts .*input \(992 tokens\) is too large to process", refusal())
    assert len(embeddings.keys) == 6


def test_a_text_that_is_too_long_is_one_line_with_its_length(embeddings):
    message = {"error": {"message": "maximum context length is 512 tokens", "code": 400}}
    embeddings.changed = iter([embeddings_of_probes, status(400, message)])
    line = refusal(lambda: vectors_of(NAME, ["ship", "x" * 12_345]))
    assert "answers 400 to 2 texts for the model 'llama', the longest of 12,345 characters: " in line
    assert "maximum context length is 512 tokens" in line
    assert len(embeddings.keys) == 2


def embeddings_of_probes(request: Handler) -> None:
    request.send(json.dumps(with_vectors(*vectors_of("wordllama", endpoint._PROBES).tolist())).encode())


def test_a_server_that_closes_the_connection_is_one_line(embeddings):
    embeddings.changed = iter(lambda: lambda request: request.connection.close(), None)
    assert re.match(r"No answer from http://127.0.0.1:\d+/v1 \(.*Start the server, or give", refusal())


def test_a_server_that_is_slow_is_one_line(embeddings, monkeypatch):
    monkeypatch.setattr(endpoint, "TIMEOUT", 0.02)
    embeddings.changed = iter(lambda: lambda request: time.sleep(0.1), None)
    assert "Read timed out. (read timeout=0.02)" in refusal()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1", "localhost:8080", "ftp://127.0.0.1", "http://[/v1", "http://"]
)
def test_a_url_without_a_server_is_one_line(embeddings, monkeypatch, url):
    monkeypatch.setenv(endpoint.URL, url)
    assert refusal().startswith(f"No answer from {url} (")


def test_texts_are_not_sent_where_a_server_points_to(embeddings):
    with serving(Server()) as other:
        embeddings.changed = iter([status(307, Location=f"{other.url}{PATH}")])
        assert "answers 307 to 4 texts" in refusal()
        assert other.asked == []


def with_vectors(*vectors: object) -> dict[str, object]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


ROW = {"index": 0, "embedding": [1.0, 2.0]}


@pytest.mark.parametrize(
    "body",
    [
        "<html>Welcome</html>",
        "",
        [],
        {"embeddings": []},
        {"data": None},
        {"data": [ROW]},
        {"data": [ROW] * 4},
        {"data": [ROW | {"index": index} for index in range(5)]},
        {"data": ["a", "b", "c", "d"]},
        with_vectors([1.0], [1.0, 2.0], [1.0], [1.0]),
        with_vectors("AAAA", "AAAA", "AAAA", "AAAA"),
        with_vectors(1.0, 1.0, 1.0, 1.0),
        with_vectors([1.0], [1.0], [1.0], [None]),
        with_vectors([1.0], [1.0], [1.0], [float("nan")]),
        with_vectors([1.0], [1.0], [1.0], [1e300]),
    ],
)
def test_an_answer_that_is_nonsense_is_one_line(embeddings, body):
    embeddings.changed = iter([status(200, body)])
    shown = (body if isinstance(body, str) else json.dumps(body))[:290]
    assert refusal().endswith(
        "does not answer as an embeddings server, with 4 vectors of finite numbers: "
        f"{shown}. Check --encoder-url."
    )


def test_vectors_of_another_length_than_those_of_the_first_request_are_one_line(embeddings):
    embeddings.vectors = lambda texts: np.ones((len(texts), 2 + (texts == ["ship"])))
    assert "vectors of another length than before" in refusal()


# -- settings


def test_a_wrong_setting_is_one_line(embeddings, monkeypatch):
    nameless = refusal(lambda: vectors_of("openai:", ["ship"]), InvalidValueError)
    assert nameless == "The encoder 'openai:' needs a name: openai:NAME."
    monkeypatch.setenv(endpoint.KEY, f"{KEY}\nX-Other: 1")
    line = refusal(kind=InvalidValueError)
    assert line.startswith("OPENAI_API_KEY has a character that no key has")
    assert KEY not in line
    monkeypatch.setenv(endpoint.URL, "")
    assert "'openai:llama' needs a server: --encoder-url http" in refusal(kind=InvalidValueError)
    monkeypatch.setenv(storage.OFFLINE, "1")
    assert refusal() == "The encoder 'openai:llama' sends texts to a server; run without --offline."
    assert embeddings.keys == []


def test_the_key_and_the_password_of_a_url_are_sent_and_shown_nowhere(
    embeddings, server, monkeypatch, capsys
):
    vectors_of(NAME, ["ship"])
    monkeypatch.setenv(endpoint.URL, f"{server.url}/v1".replace("//", f"//me:{PASSWORD}@"))
    forget()
    vectors_of(NAME, ["ship"])
    monkeypatch.setenv(endpoint.KEY, f" {KEY}\n")
    forget()
    vectors_of(NAME, ["ship"])
    assert [key and key.split()[0] for key in embeddings.keys[::2]] == [None, "Basic", "Bearer"]
    assert embeddings.keys[-1] == f"Bearer {KEY}"
    embeddings.changed = iter([status(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}})])
    forget()
    line = refusal()
    assert "Incorrect API key provided: ***" in line
    assert "http://***@127.0.0.1:" in line
    shown = line + capsys.readouterr().err
    assert KEY not in shown
    assert PASSWORD not in shown


# -- identity


def changed_by(amount: float) -> Callable[[list[str]], np.ndarray]:
    """Return a function of vectors that differ a little, as those of another batch or of another model."""

    def vectors(texts: list[str]) -> np.ndarray:
        exact = vectors_of("wordllama", texts)
        noise = np.random.default_rng(0).normal(size=exact.shape) / np.sqrt(exact.shape[1])
        return exact + amount * np.linalg.norm(exact, axis=1, keepdims=True) * noise

    return vectors


def digest() -> str:
    forget()
    return endpoint.digest("llama")


def test_rounding_leaves_the_digest_of_a_model_and_another_model_has_another(embeddings):
    first = digest()
    assert re.fullmatch("openai-256-[0-9a-f]{48}", first)
    for amount in (1e-5, 1e-3, 1e-2):
        embeddings.vectors = changed_by(amount)
        assert endpoint.is_same(first, digest())
    for amount in (0.1, 1.0):
        embeddings.vectors = changed_by(amount)
        assert not endpoint.is_same(first, digest())
    embeddings.vectors = lambda texts: vectors_of("wordllama", texts)[:, ::-1]
    assert not endpoint.is_same(first, digest())
    embeddings.vectors = lambda texts: vectors_of("wordllama", texts)[:, :128]
    assert not endpoint.is_same(first, digest())
    embeddings.vectors = lambda texts: np.ones((len(texts), 3))  # of no use, but no crash
    assert digest() == f"openai-3-{'0' * 48}"


@pytest.mark.parametrize("other", [None, "", "none", "openai-128-7f00", "a-128"])
def test_other_digests_are_the_same_only_if_they_are_equal(other):
    assert not endpoint.is_same("openai-256-7f00", other)
    assert endpoint.is_same(other, other)


@pytest.mark.usefixtures("caching")
def test_the_digest_of_vectors_that_were_kept_is_kept_despite_rounding(embeddings):
    first = digest()
    KNNVectors(encoder=NAME).prepare(TRAIN)
    embeddings.vectors = changed_by(1e-2)
    assert digest() == first
    shutil.rmtree(storage.cache_dir())
    assert digest() != first


@pytest.mark.usefixtures("toy_path")
def test_a_worker_of_a_cluster_may_round_and_may_not_have_another_model(embeddings):
    cell, tiny = Cell("knn-vectors", "default", {"encoder": NAME}, "tiny", "sea", 0, 0), load(dataset("tiny"))
    expected = definition(cell, tiny)
    embeddings.vectors = changed_by(1e-2)
    forget()
    _check_definition(cell, tiny, expected)
    embeddings.vectors = changed_by(0.5)
    forget()
    shutil.rmtree(storage.cache_dir())
    _checked.clear()
    with pytest.raises(AdbenchTextError, match="cannot run these cells: knn-vectors has resource"):
        _check_definition(cell, tiny, expected)
    _checked.clear()


# -- commands


RUN = "run -s tiny --inlier sea --contamination 0 -d knn-vectors --encoder"


@pytest.fixture
def store(empty_database, here, toy_path) -> Path:
    return Path(shutil.copy(empty_database, here / "mlflow.db"))


@pytest.mark.usefixtures("store")
def test_a_sweep_has_the_figures_of_the_local_encoder_and_sends_a_corpus_once(
    embeddings, server, monkeypatch
):
    monkeypatch.setenv(endpoint.URL, "")
    sent = adbench(f"{RUN} {NAME} --encoder-url {server.url}/v1 --seed 0,1")
    assert sent.exit_code == 0, sent.output
    n_texts, n_characters = len(embeddings.texts), sum(map(len, embeddings.texts))
    assert len(set(embeddings.texts)) == n_texts
    line = f"Sending {n_texts:,} texts ({n_characters:,} characters) to {server.url}/v1, model llama."
    assert sent.stderr.count("Sending") == sent.stderr.count(line) == 1
    assert adbench(f"{RUN} wordllama --seed 0,1").exit_code == 0
    records = Store("sqlite:///mlflow.db").cells(["tiny"])
    assert len(records) == 4
    figures = [record.metrics["auroc"] for record in records]
    assert figures == pytest.approx([figures[0]] * 4, abs=1e-6)
    with serving(Server()) as moved:  # the server is elsewhere
        moved.answers[PATH] = embeddings
        forget()
        again = adbench(f"{RUN} {NAME} --encoder-url {moved.url}/v1 --seed 0,1")
    assert "0 cells to run, 2 finished before" in again.stderr
    assert len(embeddings.texts) == n_texts
    embeddings.vectors = changed_by(0.5)
    forget()
    assert "2 cells to run" in adbench(f"{RUN} {NAME} --encoder-url {server.url}/v1 --seed 0,1").stderr


@pytest.mark.usefixtures("store")
def test_a_server_that_does_not_answer_ends_a_sweep_in_one_line(embeddings):
    embeddings.changed = iter(lambda: status(404, "no such page"), None)
    result = adbench(f"{RUN} {NAME}")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("Error: http://127.0.0.1:")
    offline = adbench(f"{RUN} {NAME} --offline")
    assert offline.stderr.splitlines()[-1] == (
        "Error: The encoder 'openai:llama' sends texts to a server; run without --offline."
    )


def test_own_documents_are_ranked_kept_and_scored(embeddings, here, server):
    (here / "posts.csv").write_text("\n".join(["body", *TRAIN, *TEST]))
    choice = f"posts.csv -d knn-vectors --set encoder={NAME} --jobs 1"
    odd = adbench(f"odd {choice} --sample 40 --keep-copies")
    assert odd.exit_code == 0, odd.output
    first, second = [line for line in odd.stderr.splitlines() if line.startswith("Sending")]
    assert re.match(
        r"Sending 40 texts \([\d,]+ characters\) to http://127.0.0.1:\d+/v1, model llama\.", first
    )
    assert second == f"Sending each further text to {server.url}/v1, model llama."
    assert len(embeddings.texts) == len(set(TRAIN + TEST))
    fitted = adbench(f"fit {choice} --model kept")
    assert fitted.exit_code == 0, fitted.output
    forget()
    scored = adbench("score kept posts.csv --output scored.csv")
    assert scored.exit_code == 0, scored.output
    assert scored.stderr.count("Sending") == 1
    embeddings.vectors = changed_by(0.5)
    forget()
    refused = adbench("score kept posts.csv")
    assert refused.exit_code == 1
    assert re.search(
        r"fitted with encoder 'openai:llama' openai-256-\w+, but it is openai-256-", refused.stderr
    )


def test_a_model_scores_as_the_local_encoder_where_the_server_has_moved_and_rounds(
    embeddings, tmp_path, monkeypatch
):
    detectors = {name: KNNVectors(k=5, encoder=name) for name in (NAME, "wordllama")}
    there, here = (fit_model(TRAIN, detector) for detector in detectors.values())
    save_model(there, tmp_path / "kept")
    embeddings.vectors = changed_by(1e-4)
    forget()
    with serving(Server()) as moved:
        moved.answers[PATH] = embeddings
        monkeypatch.setenv(endpoint.URL, f"{moved.url}/v1/")
        loaded = load_model(tmp_path / "kept")
        scores = [Scorer(model).score(TEST)["score"] for model in (loaded, here)]
        np.testing.assert_allclose(*scores, atol=1e-3)
        embeddings.vectors = changed_by(0.5)
        forget()
        assert "was fitted with encoder" in refusal(lambda: load_model(tmp_path / "kept"), ModelError)


@pytest.mark.usefixtures("store")
def test_neither_the_key_nor_the_url_is_kept(embeddings, here, server, monkeypatch):
    monkeypatch.setenv(endpoint.KEY, KEY)
    url = f"{server.url}/v1".replace("//", f"//me:{PASSWORD}@")
    (here / "posts.csv").write_text("\n".join(["body", *TRAIN, *TEST]))
    output = ""
    for command in (
        f"{RUN} {NAME} --report -v",
        f"odd posts.csv -d knn-vectors --set encoder={NAME}",
        f"fit posts.csv -d knn-vectors --set encoder={NAME} --model kept --log-model posts",
        "score kept posts.csv --page page.html",
        f"{RUN} {NAME} --set k=3 -v",  # its server fails
    ):
        if "k=3" in command:
            embeddings.changed = iter(lambda: status(401, f"wrong key {KEY}"), None)
            shutil.rmtree(storage.cache_dir())
        monkeypatch.setattr(sys, "argv", ["adbench-text", *command.split(), "--encoder-url", url])
        forget()
        result = adbench(command, "--encoder-url", url, "--debug")
        assert result.exit_code == ("k=3" in command), result.output
        output += result.output
    assert "Bearer" in embeddings.keys[-1]
    assert "wrong key ***" in output
    files = [path for folder in (here, storage.cache_dir()) for path in folder.rglob("*") if path.is_file()]
    assert {"model.json", "mlflow.db", "odd.html", "page.html"} <= {path.name for path in files}
    for secret in (KEY, PASSWORD):
        assert secret not in output
        assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_the_encoder_is_listed(here):
    assert "openai:MODEL" in adbench("list encoders").stdout
    for command in ("run", "odd", "fit", "score"):
        assert "--encoder-url URL" in adbench(f"{command} --help").stdout
