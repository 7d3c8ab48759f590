"""A saved model as a model of MLflow's flavour pyfunc: a table of texts in, a table of scores out.

MLflow calls `_load_pyfunc` of this module with the folder of the model, so that it needs no pickle.
"""

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from adbench_text.documents.models.folder import load_model
from adbench_text.documents.models.model import Model, Scorer
from adbench_text.errors import InvalidValueError

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.01

#: The columns of the answer with the types of MLflow; those of numbers may be None.
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
    """Scores texts with a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        # MLflow's server calls from several threads, and detectors are not made for them
        self._lock = Lock()

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> "pd.DataFrame":
        """Return scores, p-values, whether one is odd, and why, for each text in the column ``text``.

        `params` may have ``alpha``. A text without words has None as its score, and an empty one None as each
        p. See `Scorer` for the p that decides what is odd.
        """
        import pandas as pd

        alpha = (params or {}).get("alpha", ALPHA)
        index = None
        if isinstance(model_input, pd.DataFrame):
            if "text" not in model_input:
                listed = ", ".join(map(str, model_input.columns))
                raise InvalidValueError(f"The input needs a column 'text', got: {listed or 'no column'}.")
            # MLflow's server makes one row of all texts of {"inputs": [...]}
            texts = model_input["text"].explode()
            # a missing text has no words, as an empty one
            model_input, index = texts.fillna("").tolist(), texts.index
        with self._lock:
            table = Scorer(self._model, alpha).score(model_input)
        why = {name: table[name].map(", ".join) for name in ("why", "why_form")}
        answer = table.assign(**why)[[*RESULTS]].astype(object)
        # MLflow's server writes None as null, but NaN as NaN, which is not JSON
        answer = answer.where(answer.notna(), None).astype({"odd": bool})
        return answer if index is None else answer.set_axis(index)


def _load_pyfunc(path: str) -> Predictor:
    """Return what predicts with the model in a folder; MLflow calls this function."""
    return Predictor(load_model(Path(path)))
