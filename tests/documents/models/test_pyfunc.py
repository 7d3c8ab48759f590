"""A saved model as a model of MLflow."""

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import save_model as save
from adbench_text.documents.models.model import Model, Scorer, TrainingFacts
from adbench_text.documents.models.pyfunc import _load_pyfunc
from adbench_text.errors import DataError, InvalidValueError, ModelError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

TRAIN = texts_about("sea", 200, seed=0)
TEXTS = [*texts_about("sea", 2, seed=1), *texts_about("law", 2, seed=2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fitted = registry.detector("llr")(background="uniform").fit(TRAIN)
    model = Model(
        fitted, "llr", {"words": fitted.decision_scores_}, "leave-one-out", TrainingFacts.of(TRAIN, "sea")
    )
    return save(model, tmp_path_factory.mktemp("models") / "model")


def test_a_table_of_texts_becomes_a_table_of_scores(folder):
    predicted = _load_pyfunc(str(folder)).predict(
        pd.DataFrame({"text": TEXTS, "id": range(4)}, index=list("abcd"))
    )
    assert list(predicted) == ["score", "p", "odd", "why", "p_form", "p_both", "why_form"]
    assert list(predicted.index) == list("abcd")
    assert predicted["odd"].tolist() == [False, False, True, True]
    assert predicted["p"].tolist()[2:] == [1 / 201] * 2


def test_a_model_that_looks_at_form_gives_its_columns(tmp_path):
    folder = save(fit_model(texts_about("sea", 200, 0, compounds=True)), tmp_path / "model")
    predicted = _load_pyfunc(str(folder)).predict([*TEXTS[:3], "12 34 56", ""], {"alpha": 0.05})
    assert predicted["p"].tolist()[3:] == [1 / 201, None]  # no document of the model is without words
    assert predicted["p_form"].tolist()[3:] == [1 / 201, None]
    assert predicted["why"][3] == "no words"
    assert predicted["odd"].tolist() == [p is not None and p <= 0.05 for p in predicted["p_both"]]
    assert predicted["why_form"][3].startswith("75 % digits")


def test_a_missing_text_is_an_empty_one(folder):
    predicted = _load_pyfunc(str(folder)).predict(pd.DataFrame({"text": [TEXTS[2], None, float("nan")]}))
    assert predicted["score"].isna().tolist() == [False, True, True]
    assert predicted["odd"].tolist() == [True, False, False]
    assert predicted["p"].tolist()[1:] == [None, None]


def test_a_list_of_texts_and_another_alpha(folder):
    predictor = _load_pyfunc(str(folder))
    assert predictor.predict(TEXTS)["odd"].tolist() == [False, False, True, True]
    assert not predictor.predict(TEXTS, {"alpha": 0.001})["odd"].any()
    assert predictor.predict([]).shape == (0, 7)


def test_the_first_request_imports_no_library(folder):
    code = (
        "import sys; from adbench_text.documents.models.pyfunc import _load_pyfunc\n"
        f"loaded = _load_pyfunc({str(folder)!r}); before = {{*sys.modules}}\n"
        f"print(*loaded.predict({TEXTS})['odd'], *{{*sys.modules}} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "True"]


def test_a_request_is_scored_in_one_thread(folder, monkeypatch):
    predictor, score, seen = _load_pyfunc(str(folder)), Scorer.score, []

    def look(scorer, texts):
        seen.extend(library["num_threads"] for library in threadpool_info())
        return score(scorer, texts)

    monkeypatch.setattr(Scorer, "score", look)
    with threadpool_limits(2):
        predictor.predict(TEXTS)
        assert {library["num_threads"] for library in threadpool_info()} == {2}
    assert set(seen) == {1}


def test_requests_are_scored_one_at_a_time(folder, monkeypatch):
    predictor, score, inside, seen = _load_pyfunc(str(folder)), Scorer.score, [], []

    def slow(scorer, texts):
        inside.append(texts)
        time.sleep(0.02)
        seen.append(len(inside))
        inside.remove(texts)
        return score(scorer, texts)

    monkeypatch.setattr(Scorer, "score", slow)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(predictor.predict, [[text] for text in TEXTS]))
    assert seen == [1] * len(TEXTS)
    assert [answer["odd"].tolist() for answer in answers] == [[False], [False], [True], [True]]


def test_wrong_input_is_refused(folder):
    predictor = _load_pyfunc(str(folder))
    with pytest.raises(InvalidValueError, match=r"'text'.* body"):
        predictor.predict(pd.DataFrame({"body": TEXTS}))
    with pytest.raises(InvalidValueError, match=r"alpha .*got 2"):
        predictor.predict(TEXTS, {"alpha": 2})
    with pytest.raises(DataError, match=r"text 2: .*10,000,001 .*10,000,000"):
        predictor.predict(pd.DataFrame({"text": ["ship", "x" * 10_000_001]}))
    with pytest.raises(ModelError, match=re.escape(f"{folder.parent}: model.json")):
        _load_pyfunc(str(folder.parent))
