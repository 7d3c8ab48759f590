"""Benchmark of models that MLflow serves: ours, and plain pipelines of scikit-learn in the same server.

All of them learn from the same words of pydocs, and every request has texts that are new to them.
"""

import http.client
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import mlflow
import pandas as pd
import psutil
from documents import children, run, written
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import Pipeline

from adbench_text.documents.models.registered import log_model
from adbench_text.plugins import registry

N_LEARNED, N_WORDS = 20_000, 20
SECONDS = 6  # of each load
LOADS = [(clients, size) for size in (1, 100) for clients in (1, 4)]
PIPELINES = {
    "TF-IDF and isolation forest": IsolationForest(random_state=0),
    "TF-IDF and LOF": LocalOutlierFactor(novelty=True),
}


@contextmanager
def served(model: str) -> Iterator[tuple[int, float]]:
    """Serve a model within a block; give the port, and the seconds until the server says that it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", model, "--env-manager", "local"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # MLflow looks for uvicorn there
    begin = time.perf_counter()
    server = psutil.Popen(
        [*command, "--port", str(port)],
        env={**os.environ, "PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not is_ready(port):
            if server.poll() is not None:
                raise SystemExit(f"The server of {model} has ended.")
            time.sleep(0.02)
        yield port, time.perf_counter() - begin
    finally:
        processes = [*children(server), server]
        for process in processes:
            process.terminate()
        psutil.wait_procs(processes)


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def seconds_of_requests(port: int, bodies: Iterator[str], limit: float) -> list[float]:
    """Send requests over one connection, one after the other, until the limit; return their seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times: list[float] = []
    end = time.perf_counter() + limit
    while not times or time.perf_counter() < end:
        body = next(bodies)
        begin = time.perf_counter()
        connection.request("POST", "/invocations", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        times.append(time.perf_counter() - begin)
        if response.status != 200:
            raise SystemExit(answer.decode())
    connection.close()
    return times


def measure(name: str, model: str, texts: list[str]) -> None:
    """Serve a model, and print how long it needs to start, and to answer."""
    parts = itertools.cycle(texts)

    def bodies(size: int) -> Iterator[str]:
        while True:
            yield json.dumps({"dataframe_records": [{"text": next(parts)} for _ in range(size)]})

    with served(model) as (port, until_ready):
        first, *others = (seconds_of_requests(port, bodies(1), 0)[0] for _ in range(20))
        print(f"\n{name}: ready after {until_ready:.1f} s; first request {1e3 * first:,.0f} ms")
        print(f"    the next 19: median {1e3 * median(others):.1f} ms, largest {1e3 * max(others):.0f} ms")
        for clients, size in LOADS:
            made = [bodies(size) for _ in range(clients)]
            with ThreadPoolExecutor(clients) as threads:
                loads = list(threads.map(lambda each: seconds_of_requests(port, each, SECONDS), made))
            times = sorted(itertools.chain.from_iterable(loads))
            print(
                f"    {clients} at once, {size} in a request: {len(times) / SECONDS:.1f} requests a second, "
                f"median {1e3 * median(times):.0f} ms, p95 {1e3 * times[int(0.95 * len(times))]:.0f} ms"
            )


def main(folder: Path) -> None:
    words = [word for text in registry.dataset("pydocs").read()[0].texts for word in text.split()]
    name = written(folder, words, N_LEARNED, N_WORDS)
    learned = pd.read_csv(folder / name)[["text"]]
    texts = pd.read_csv(folder / written(folder, words[::-1], 5_000, N_WORDS))["text"].tolist()
    uri = f"sqlite:///{folder}/mlflow.db"
    os.environ["MLFLOW_TRACKING_URI"] = uri
    run(folder, "fit", name, "--model", "model")
    models = {"adbench-text fit": log_model(folder / "model", "ours", uri)}
    for title, detector in PIPELINES.items():
        columns = ColumnTransformer([("text", TfidfVectorizer(), "text")])
        pipeline = Pipeline([("tfidf", columns), ("detector", detector)]).fit(learned)
        path = folder / type(detector).__name__
        mlflow.sklearn.save_model(pipeline, path, pip_requirements=[], serialization_format="cloudpickle")
        models[title] = str(path)
    for title, model in models.items():
        measure(title, model, texts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
