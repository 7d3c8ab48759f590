"""Plug-ins of another package: a corpus of three classes, a detector, and one that goes wrong in many ways.

A test puts this folder on the path. What a plug-in does may depend on environment variables, so
that worker processes see them too.
"""

import contextlib
import os
import random
import signal
import sys
import threading
import time
import warnings
from multiprocessing import parent_process
from pathlib import Path

import numpy as np

from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.text.words import count_words

TOPICS = {
    "sea": "ship harbour sail tide anchor",
    "law": "judge court statute appeal verdict",
    "sky": "cloud storm wind thunder rain",
}
N_TRAIN, N_TEST = 20, 10


class Tiny(Dataset):
    name = "tiny"
    classes = tuple(TOPICS)
    source = licence = citation = "made up"

    def edition(self):
        name = os.environ.get("TOY_EDITION", "published")
        return Edition(name, name)

    def read(self):
        rng = np.random.default_rng(len(self.edition().name))
        common = "people said another time today".split()

        def part(*counts):
            topics = np.repeat(list(TOPICS.values()), counts)
            texts = [" ".join(rng.choice(topic.split() + common, 6)) for topic in topics]
            return Documents(texts, np.repeat(np.arange(len(TOPICS)), counts))

        n_sea = 9 * N_TRAIN if self.edition().name == "lopsided" else N_TRAIN
        return part(n_sea, N_TRAIN, N_TRAIN), part(N_TEST, N_TEST, N_TEST)


class Counting:
    """The share of words that were not seen in training, and some noise."""

    def __init__(self, *, weight=1.0, random_state=None):
        self.weight = weight
        self.random_state = random_state

    @classmethod
    def presets(cls, dataset):
        return {"grid": [{"weight": 1}, {"weight": 2}], "heavy": [{"weight": 9}]}

    def resources(self):
        return {"words": os.environ.get("TOY_RESOURCE", "1")}

    def fit(self, texts, y=None):
        interrupt = os.environ.get("TOY_INTERRUPT")
        if interrupt and interrupt in " ".join(texts):
            raise KeyboardInterrupt
        wait_at_gate()
        note("TOY_FITS", "begun")
        time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
        self.known = {word for text in texts for word in text.split()}
        return self

    def decision_function(self, texts):
        noise = np.random.default_rng(self.random_state).random(len(texts))
        unknown = [np.mean([word not in self.known for word in text.split()]) for text in texts]
        return self.weight * np.array(unknown) + 0.5 * noise


def wait_at_gate():
    """Wait until two processes have come here, if TOY_GATE names a folder."""
    if gate := os.environ.get("TOY_GATE"):
        Path(gate, str(os.getpid())).touch()
        while len(list(Path(gate).iterdir())) < 2:
            time.sleep(0.05)


def note(variable, value):
    """Add a line to a file, if the variable names one."""
    if path := os.environ.get(variable):
        with open(path, "a") as file:  # noqa: PTH123
            file.write(f"{value}\n")


class OnGPU(Counting):
    """Pretends to use a GPU."""

    def __init__(self, *, device="auto", random_state=None):
        super().__init__(random_state=random_state)
        self.device = device

    def get_params(self, deep=True):
        return {"device": self.device, "random_state": self.random_state}

    @property
    def ran_on_(self):
        names = {"worker": "TOY_WORKER", "gpu": "CUDA_VISIBLE_DEVICES", "threads": "OMP_NUM_THREADS"}
        return {name: os.environ.get(variable, "") for name, variable in names.items()}


class Faulty(Counting):
    """Goes wrong, unless TOY_MENDED is set."""

    def __init__(self, *, fault="always", random_state=None):
        super().__init__(random_state=random_state)
        self.fault = fault

    def fit(self, texts, y=None):
        if "TOY_MENDED" not in os.environ:
            if self.fault in ("always", "raises"):
                raise RuntimeError("no luck\nat all")
            if self.fault == "exits":
                sys.exit(5)
            if self.fault == "dies":
                wait_at_gate()
                os._exit(9)
            if self.fault == "leaves":
                os._exit(0)
            if self.fault == "kills":
                os.kill(parent_process().pid, signal.SIGKILL)  # not the process that forks workers
            if self.fault in ("hangs", "kills"):
                time.sleep(600)
            if self.fault == "eats":
                self.eaten = np.ones(2**27)  # 1 GiB
                time.sleep(600)
        return super().fit(texts)

    def decision_function(self, texts):
        scores = super().decision_function(texts)
        if "TOY_MENDED" in os.environ:
            return scores
        if self.fault in ("nan", "inf"):
            scores[1] = float(self.fault)
        return {
            "constant": np.ones(len(texts)),
            "short": scores[1:],
            "text": ["high"] * len(texts),
            "nothing": None,
        }.get(self.fault, scores)


class Sent(Counting):
    """Cannot be sent to another process, or fails there."""

    def __init__(self, *, fault="lock", random_state=None):
        super().__init__(random_state=random_state)
        self.fault = fault

    def fit(self, texts, y=None):
        if self.fault == "lock":
            self.lock = threading.Lock()
        return super().fit(texts)

    def decision_function(self, texts):
        if self.fault == "raises" and parent_process():
            raise RuntimeError("no luck\nhere")
        return super().decision_function(texts)


class Vandal(Counting):
    """Changes whatever it gets hold of."""

    def prepare(self, texts):
        texts.sort()
        spoil_process()

    def resources(self):
        spoil_process()
        return {}

    def fit(self, texts, y=None):
        super().fit(texts)
        texts[:] = ["spoilt"]
        spoil_process()
        return self

    def decision_function(self, texts):
        scores = super().decision_function(texts)
        texts.sort()
        texts[0] = "spoilt"
        counts = count_words(texts).counts
        with contextlib.suppress(ValueError):
            counts.data *= 2
        spoil_process()
        return scores


class Patching(Counting):
    """Replaces functions of libraries, and when it is fitted those of the harness, too."""

    def __init__(self, *, when="fit", random_state=None):
        super().__init__(random_state=random_state)
        self.when = when

    def resources(self):
        if self.when == "identified":  # this is before any cell runs, in the process that measures
            import sklearn.metrics

            sklearn.metrics.roc_auc_score = lambda *_: 1.0
        return {}

    def fit(self, texts, y=None):
        if self.when == "fit":
            patch_libraries()
        return super().fit(texts)


def patch_libraries():
    """Let every detector look perfect, and every draw be the same."""
    import sklearn.metrics

    from adbench_text import metrics
    from adbench_text.run import evaluate

    perfect = metrics.Metric("auroc", "AUROC", lambda outlier, scores: 1.0, "outliers")
    metrics.METRICS["auroc"] = perfect
    metrics.roc_auc_score = sklearn.metrics.roc_auc_score = lambda *_: 1.0
    evaluate.all_metrics = lambda outlier, scores: dict.fromkeys(metrics.METRICS, 1.0)
    real = np.random.default_rng
    np.random.default_rng = lambda seed=None: real(0)


class Forking(Counting):
    """Leaves a process behind that does all that it does itself."""

    def fit(self, texts, y=None):
        child = os.fork()
        if child:
            note("TOY_FORK_FILE", child)
        elif os.environ.get("TOY_FORK") == "waits":
            time.sleep(600)
        if child and os.environ.get("TOY_FORK") == "dies":
            os._exit(7)
        return super().fit(texts)


def spoil_process():
    """Change all global state that other detectors may depend on."""
    import sklearn
    import torch

    random.seed(666)
    np.random.seed(666)  # noqa: NPY002
    torch.manual_seed(666)
    warnings.simplefilter("error")
    warnings.showwarning = print
    np.seterr(all="raise")
    sklearn.set_config(transform_output="pandas")
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.set_num_threads(3)
    os.chdir("/")
    os.environ["TOY_MENDED"] = "1"
    os.environ.pop("TOY_EDITION", None)
    if sys.stdout:
        sys.stdout.close()
    sys.stdin = sys.stdout = sys.stderr = None
