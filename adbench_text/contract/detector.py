"""The detector contract: PyOD's, over raw text.

The sign convention: **a higher score is more abnormal**. A detector whose
library scores normality negates it where it calls that library.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, signature
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypedDict

import numpy as np
from numpy.typing import NDArray
from pyod.models.base import BaseDetector
from sklearn import exceptions

from adbench_text.checks import SEED, Number, Range, declared_ranges
from adbench_text.contract.labels import NOTHING_KNOWN, split_known
from adbench_text.contract.other_words import OtherWords
from adbench_text.contract.scores import FROM_SCRATCH, Scores, TokenScore, check_scores, check_texts
from adbench_text.errors import DetectorError, InvalidValueError, UnknownNameError

__all__ = ["Observer", "Scores", "TextDetector", "TokenScore", "check_scores", "check_texts"]


class NotFittedError(InvalidValueError, exceptions.NotFittedError):  # type: ignore[misc]  # scikit-learn has no type hints
    """A detector was not fitted; this is also scikit-learn's error of that name."""


class Observer(Protocol):
    """Receives the losses of a training; a detector that trains in steps calls its ``observer``.

    It answers nothing, and holds no label.
    """

    def losses(self, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the mean losses since the last call, by name; `steps` is the number of all steps.

        Both are whole numbers of at least 0; otherwise InvalidValueError is raised, and the cell fails.
        """


def report_losses(observer: Observer | None, step: int, steps: int, losses: Mapping[str, float]) -> None:
    """Tell an observer the losses since the last report; raise DetectorError if their total is not finite."""
    if not math.isfinite(losses["total"]):
        raise DetectorError(
            f"The loss must be finite, got {losses['total']} at step {step}; lower learning_rate."
        )
    if observer is not None:
        observer.losses(step, steps, {f"loss_{name}": value for name, value in losses.items()})


class SharedParams(TypedDict, total=False):
    """The hyper-parameters that a detector passes on to `TextDetector`; see there."""

    contamination: float
    random_state: int | None


class TextDetector(BaseDetector):  # type: ignore[misc]  # PyOD has no type hints
    """A PyOD detector that is fitted on documents instead of a matrix.

    A subclass stores its keyword-only hyper-parameters as given, passes those it shares to its
    base (``**shared``), and implements `_fit` and `_score`; it may offer `token_scores`. Everything
    else (`predict`, `predict_proba`, `decision_scores_`, `threshold_`, `labels_`, ``get_params``,
    ``clone``) is PyOD's.

    Parameters
    ----------
    contamination : float, default 0.1
        Share of the training documents above the decision threshold, in (0, 0.5]. It moves
        ``threshold_`` and the labels only, never a score, and has nothing to do with the
        share of outliers that the benchmark mixes into the training data.
    random_state : int or None, default None
        Seed of everything random.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; computed when first asked for.
    threshold_ : float
        Score above which a document is called an outlier.
    labels_ : int array of shape (n_train,)
        1 where a training text is called an outlier.
    observer : Observer or None
        Watches the training of a detector that trains in steps; set it before ``fit``.
    others : OtherWords or None
        The words of documents of other groups, if the training documents are those of one group; it is set
        before ``fit``. A detector that knows the language judges its documents against them.
    ran_on_ : mapping of str to str
        Device and precision of the last fit, for a detector that has a choice of them. ``steps`` describes a
        training that was shorter than its settings say; the command line prints it.
    is_timed : bool
        Whether the harness measures its costs; not those of another program. Of the class.
    kept_ : bool array of shape (n_train,), or None
        Training documents that a robust detector learned from in the end; None for one that uses all.
    ranges : mapping of str to Range
        The values that each hyper-parameter may have, for those that the class adds to its bases; see
        `adbench_text.checks`. Of the class.
    computes_with : frozenset of str
        Packages that decide its scores besides those that its own code imports; their releases are part of
        the identity of its results. Of the class.
    threshold_params : frozenset of str
        Hyper-parameters that move the threshold and never a score. Of the class.
    leaves_out_self : bool
        Whether no training document has a part in its own score in ``decision_scores_``. Of the class.
    default_preset : str
        Preset that the name of the detector means in a benchmark, ``"default"`` unless stated. Of the class.
    faster : mapping of str to float
        Presets, and ``"GPU"``, that are faster than `default_preset`, with their share of its time, for a
        note on a long sweep. Of the class.
    takes_labels : bool
        Whether ``fit`` learns from `y`, the labels of some training documents. Of the class.
    reads_raw : bool
        Whether it reads documents as they were written; the others get cleaned ones. Of the class.
    trusted_types : frozenset of str, or None
        Full names of the classes that its fitted attributes contain, besides data; empty if there are none.
        None, the default, if it cannot be saved.
    not_saved : frozenset of str
        Names of attributes that are not saved: what only a fit needs. Of the class.
    test_settings : mapping of str to object
        Hyper-parameters with which the contract test makes the detector, so that it learns eighty
        short documents in seconds. An attribute of the class; empty by default.

    Examples
    --------
    >>> import numpy as np
    >>> class LengthDetector(TextDetector):
    ...     def _fit(self, texts):
    ...         self._mean = np.mean([len(text) for text in texts])
    ...
    ...     def _score(self, texts):
    ...         return np.array([abs(len(text) - self._mean) for text in texts])
    >>> detector = LengthDetector(contamination=0.25).fit(["one", "two", "six", "seventeen"])
    >>> detector.decision_function(["ten", "twelve"])
    array([1.5, 1.5])
    >>> detector.labels_
    array([0, 0, 0, 1])
    """

    decision_scores_: Scores
    threshold_: float
    labels_: NDArray[np.int64]
    observer: Observer | None = None
    others: OtherWords | None = None
    ran_on_: Mapping[str, str] = MappingProxyType({})
    is_timed: ClassVar[bool] = True
    kept_: NDArray[np.bool_] | None = None
    ranges: ClassVar[Mapping[str, Range]] = {
        "contamination": Number("(0, 0.5]"),
        "random_state": SEED,
    }
    computes_with: ClassVar[frozenset[str]] = frozenset({"numpy", "scipy", "scikit-learn"})
    threshold_params: ClassVar[frozenset[str]] = frozenset({"contamination"})
    leaves_out_self: ClassVar[bool] = False
    default_preset: ClassVar[str] = "default"
    faster: ClassVar[Mapping[str, float]] = MappingProxyType({})
    takes_labels: ClassVar[bool] = False
    reads_raw: ClassVar[bool] = False
    trusted_types: frozenset[str] | None = None
    not_saved: ClassVar[frozenset[str]] = frozenset()
    test_settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, *, contamination: float = 0.1, random_state: int | None = None) -> None:
        TextDetector.ranges["contamination"].check("contamination", contamination)  # before PyOD does
        # PyOD takes NumPy's short floats for thresholders
        super().__init__(contamination=float(contamination))
        self.random_state = random_state

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads only a class's own __init__; ours pass shared parameters on as **shared
        names: set[str] = set()
        for kind in cls.__mro__:
            if "__init__" in vars(kind):
                parameters = signature(vars(kind)["__init__"]).parameters.values()
                names |= {p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
                if all(p.kind is not Parameter.VAR_KEYWORD for p in parameters):
                    break
        return sorted(names)

    @property
    def implementation(self) -> type:
        """The class whose code decides the scores."""
        return type(self)

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """Return the hyper-parameters by name, with their defaults."""
        return dict(cls().get_params())

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return named configurations for a dataset; one of several settings is a grid.

        ``"default"`` always exists and need not be listed.
        """
        return {}

    @classmethod
    def from_preset(cls, preset: str, /, dataset: str = "", **settings: Any) -> Self:
        """Return an unfitted detector with the settings of a preset.

        Parameters
        ----------
        preset : str
            Name of a preset of one configuration, such as ``"robust"`` of `LLR`; see `presets`.
        dataset : str, optional
            Name of the dataset that the preset is for, if it differs between datasets.
        **settings
            Hyper-parameters that override the preset.

        Raises
        ------
        InvalidValueError
            If there is no such preset, or it has several configurations.
        """
        grids = {"default": [{}], **cls.presets(dataset)}
        if preset not in grids:
            raise UnknownNameError(f"preset of {cls.__name__}", preset, grids)
        if len(grids[preset]) > 1:
            first = ", ".join(f"{name}={value!r}" for name, value in grids[preset][0].items())
            raise InvalidValueError(
                f"The preset {preset!r} of {cls.__name__} has {len(grids[preset])} configurations; give the "
                f"settings of one, for example {cls.__name__}({first})."
            )
        return cls(**{**grids[preset][0], **settings})

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the name and the settings of the configuration for a user's own documents.

        `language` is a code such as ``"en"``; `settings` are those that the user gives, which override the
        configuration; `normal` is True if all training documents are normal. It may raise InvalidValueError.
        """
        return "default", {}

    @classmethod
    def parameter_ranges(cls) -> dict[str, Range]:
        """Return the values that each hyper-parameter may have, of the class and of its bases."""
        return declared_ranges(cls)

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of its range (fit calls it first).

        A subclass may add a check of several hyper-parameters together; it calls this method first.
        """
        params = self.get_params(deep=False)
        for name, values in self.parameter_ranges().items():
            if name in params:
                values.check(name, params[name])

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up resources that are not learned (word vectors) for all documents of a corpus at once.

        The harness calls it once per corpus, before any split, so that the splits share one
        pass over a large file. Nothing may be learned here: the test documents are among them.
        """

    def resources(self) -> dict[str, str]:
        """Return a digest or version of everything outside the code that the scores depend on."""
        return {}

    @property
    def regime(self) -> str | None:
        """What it knows besides the training texts: one of `adbench_text.contract.scores.REGIMES`."""
        return FROM_SCRATCH

    @property
    def is_oracle(self) -> bool:
        """Whether the scores are chosen by the test labels.

        The benchmark then asks for ``oracle_scores(texts, outlier)`` instead of
        ``decision_function(texts)``, and marks what it reports.
        """
        return False

    def oracle_scores(self, texts: Sequence[str], outlier: NDArray[np.bool_]) -> Scores:
        """Return scores that are chosen by the test labels; only of a detector with `is_oracle`."""
        raise DetectorError(f"{type(self).__name__} has no scores that are chosen by the test labels.")

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of the words of each text; raise DetectorError if the method has none."""
        raise DetectorError(f"{type(self).__name__} scores a text as a unit; it has no scores of words.")

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of the words of training documents, as they add up to ``decision_scores_``."""
        texts = self._texts_of_training()
        return self.token_scores([texts[place] for place in places])

    def reasons(self, texts: Sequence[str]) -> list[list[str]]:
        """Return facts that make each document odd, the strongest first; none if the method has none.

        Those of a document are such as ``["41 % digits (others 1 %)"]``.
        """
        return [[] for _ in texts]

    def training_reasons(self, places: Sequence[int]) -> list[list[str]]:
        """Return the `reasons` of training documents, as they fit ``decision_scores_``."""
        texts = self._texts_of_training()
        return self.reasons([texts[place] for place in places])

    def _texts_of_training(self) -> list[str]:
        self._check_is_fitted()
        if self._training_texts is None:
            raise InvalidValueError(f"This {type(self).__name__} was loaded without its training documents.")
        return self._training_texts

    @abstractmethod
    def _fit(self, texts: list[str]) -> None:
        """Learn from the training documents."""

    @abstractmethod
    def _score(self, texts: list[str]) -> Scores:
        """Score documents; higher is more abnormal."""

    def _score_training(self, texts: list[str]) -> Scores:
        """Score the training documents; by default as any others."""
        return self._score(texts)

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Fit on training documents.

        Parameters
        ----------
        texts : iterable of str
            Training documents, assumed to be mostly normal.
        y : sequence of float of shape (n_train,), optional
            Labels of a detector that `takes_labels`: 1 for a known outlier, 0 for a document known to be
            normal, NaN for any other. Others ignore it, as in PyOD. Known outliers are not among the
            documents that ``kept_`` and `training_token_scores` are about.

        Returns
        -------
        self

        Raises
        ------
        InvalidValueError
            If a value is out of range, or no document is left that is not a known outlier.
        """
        checked = check_texts(texts)
        self.check_params()
        self._set_n_classes(None)
        self._known_labels, self._is_odd = NOTHING_KNOWN, np.zeros(len(checked), dtype=np.bool_)
        if y is not None and self.takes_labels:
            self._is_odd, self._known_labels = split_known(checked, y)
            checked = list(compress(checked, ~self._is_odd))
        # set before _fit: a detector may score while it trains
        self._training_texts: list[str] | None = checked
        try:
            self._fit(checked)
        except BaseException:
            del self._training_texts  # an interrupted fit leaves the detector unfitted
            raise
        finally:
            for name in OF_TRAINING:  # it may have computed them before the end
                self.__dict__.pop(name, None)
        return self

    def decision_function(self, texts: Iterable[str]) -> Scores:
        """Score documents; higher is more abnormal.

        Parameters
        ----------
        texts : iterable of str
            Any documents; each is scored for itself.

        Returns
        -------
        float64 array of shape (n_texts,)

        Raises
        ------
        DetectorError
            If a score is NaN or infinite.
        """
        checked = self._check_fitted(texts)
        return check_scores(self._score(checked), len(checked))

    def _check_fitted(self, texts: Iterable[str]) -> list[str]:
        """Return documents to be scored as a list; raise NotFittedError, or InvalidValueError for others."""
        checked = check_texts(texts)
        self._check_is_fitted()
        return checked

    def __sklearn_is_fitted__(self) -> bool:
        return "_training_texts" in self.__dict__

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"{type(self).__name__} is not fitted yet; call fit(texts) first.")

    def learned(self) -> dict[str, Any]:
        """Return the attributes of the fitted detector, to be saved.

        The hyper-parameters, the training documents and what `not_saved` lists are no part of it. A subclass
        overrides this method and `restore` if it has an attribute that skops cannot save, such as a network.
        """
        self._check_is_fitted()
        left_out = self._not_learned()
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Take over what `learned` returned for a detector with these hyper-parameters; return this one."""
        left_out = self._not_learned()
        self.__dict__.update({name: value for name, value in learned.items() if name not in left_out})
        self._training_texts = None
        return self

    def _not_learned(self) -> set[str]:
        of_training = "_training_texts", "_known_labels", "_is_odd"
        return {*of_training, "observer", *self.not_saved, *self.get_params(deep=False)}

    if not TYPE_CHECKING:  # or else a type checker would know every name

        def __getattr__(self, name: str) -> Any:
            # Scores of the training documents cost as much as any; a benchmark never asks for them.
            # A detector that was read back has no training documents.
            texts: list[str] | None = self.__dict__.get("_training_texts")
            if name in OF_TRAINING and texts is not None:
                self.decision_scores_ = self._of_all_training(texts)
                self._process_decision_scores()
                return self.__dict__[name]
            if name in OF_TRAINING and "_training_texts" in self.__dict__:
                raise AttributeError(
                    f"This {type(self).__name__} was saved without the scores of its training texts."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _of_all_training(self, texts: list[str]) -> Scores:
        """Return the scores of all training documents; known outliers are scored as any others."""
        scores = check_scores(self._score_training(texts), len(texts))
        if not self._known_labels.odd:
            return scores
        of_all = np.empty(len(self._is_odd))
        of_all[~self._is_odd] = scores
        of_all[self._is_odd] = self.decision_function(self._known_labels.odd)
        return of_all

    def predict(self, X: Iterable[str], return_confidence: bool = False) -> Any:
        """Return 1 for each document above the threshold, else 0; see PyOD."""
        return super().predict(self._check_fitted(X), return_confidence)  # a list: PyOD reads it twice

    def predict_proba(
        self, X: Iterable[str], method: Literal["linear", "unify"] = "linear", return_confidence: bool = False
    ) -> Any:
        """Return the probability of inlier and outlier, of shape (n_texts, 2); see PyOD."""
        return super().predict_proba(_Shaped(self._check_fitted(X)), method, return_confidence)


def made_again(adapter: Callable[..., Any], *arguments: Any) -> Any:
    """Return a detector that is unpickled; `adapter` makes its class, which cannot be found by a name."""
    kind = adapter(*arguments)
    return kind.__new__(kind)


#: Attributes about the scores of the training documents, computed when one is first asked for.
OF_TRAINING = ("decision_scores_", "threshold_", "labels_", "_mu", "_sigma")


class _Shaped(list[str]):
    """Documents with the ``shape`` that PyOD's methods ask of their input."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)
