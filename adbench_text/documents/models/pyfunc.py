"""Serve a saved model as an MLflow pyfunc: it takes a table of texts and returns a table of scores.

MLflow calls `_load_pyfunc` with the folder of the model, so it needs no pickle.
"""

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

from adbench_text.documents.models.folder import load_model
from adbench_text.documents.models.model import Model, Scorer
from adbench_text.errors import InvalidValueError

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.01

#: The first text of each predictor. With this alpha it is odd, so the reasons are computed, too.
_FIRST_TEXT, _FIRST_ALPHA = "The first document of a model takes longer than the other documents.", 0.999

#: The columns of the answer with their MLflow types. Numbers may be None.
RESULTS = {
    "score": "double",
    "p": "double",
    "odd": "boolean",
    "why": "string",
    "p_form": "double",
    "p_both": "double",
    "why_form": "string",
}


class Predictor:
    """Scores texts with a model. It scores a first text by itself, so that the first request is fast."""

    def __init__(self, model: Model) -> None:
        self._model = model
        # MLflow's server has several threads, and detectors are not thread-safe
        self._lock = Lock()
        # it loads libraries, word lists and vectors; a server is ready only after that
        Scorer(model, _FIRST_ALPHA).score([_FIRST_TEXT])
        self._libraries = ThreadpoolController()  # the ones that are loaded now

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """Return for each text in the column ``text`` its score, its p-values, whether it is odd, and why.

        `model_input` is a table with this column, whose index the answer keeps, or a list of texts. `params`
        may have ``alpha``. The score of a text without words is None, and every p of an empty text is None.
        See `Scorer` for the p that decides.
        """
        import pandas as pd

        alpha = (params or {}).get("alpha", ALPHA)
        index = None
        if isinstance(model_input, pd.DataFrame):
            if "text" not in model_input:
                listed = ", ".join(map(str, model_input.columns))
                raise InvalidValueError(f"The input needs a column 'text', got: {listed or 'no column'}.")
            # MLflow's server puts all texts of {"inputs": [...]} into one row
            texts = model_input["text"].explode()
            # a missing text counts as an empty one
            model_input, index = texts.fillna("").tolist(), texts.index
        # for a few texts, the threads of a busy machine wait for each other ten times as long as they compute
        with self._lock, self._libraries.limit(limits=1):
            table = Scorer(self._model, alpha).score(model_input)
        answer = {name: _values(table[name], kind) for name, kind in RESULTS.items()}
        return pd.DataFrame(answer, index, dtype=object).astype({"odd": bool})


def _values(column: "pd.Series[Any]", kind: str) -> list[Any]:
    """Return the values of a column of `Scorer` for MLflow."""
    if kind == "string":
        return [", ".join(words) for words in column]
    # MLflow's server writes None as null, but NaN as NaN, which is not JSON
    return [None if value != value else value for value in column.tolist()]


def _load_pyfunc(path: str) -> Predictor:
    """Return the predictor for the model in a folder. MLflow calls this function."""
    return Predictor(load_model(Path(path)))
