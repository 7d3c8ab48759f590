"""The detector contract: PyOD's, for texts.

**A higher score is more abnormal.** If a library scores normality, the detector negates its scores.
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
    """A detector is not fitted; also an instance of scikit-learn's error of the same name."""


class Observer(Protocol):
    """Receives the losses of a training; a detector that trains in steps calls its ``observer``.

    It returns nothing to the detector, and does not see labels.
    """

    def losses(self, step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the mean losses since the last call, by name, after `step` of `steps` steps.

        Both are whole numbers of at least 0. The observer of the benchmark raises InvalidValueError for other
        numbers of steps, and the benchmark then counts this training as failed.
        """


def report_losses(observer: Observer | None, step: int, steps: int, losses: Mapping[str, float]) -> None:
    """Report the losses since the last report; raise DetectorError if their total is not finite.

    `losses` has the key ``"total"``.
    """
    if not math.isfinite(losses["total"]):
        raise DetectorError(
            f"The loss must be finite, got {losses['total']} at step {step}; lower learning_rate."
        )
    if observer is not None:
        observer.losses(step, steps, {f"loss_{name}": value for name, value in losses.items()})


class SharedParams(TypedDict, total=False):
    """The hyper-parameters that a detector passes to `TextDetector`; see there."""

    contamination: float
    random_state: int | None


class TextDetector(BaseDetector):  # type: ignore[misc]  # PyOD has no type hints
    """A PyOD detector that learns from documents instead of a matrix.

    A subclass stores its keyword-only hyper-parameters as given, and passes shared ones to its base
    (``**shared``). It implements `_fit` and `_score`, and may offer `token_scores`. PyOD has the rest:
    `predict`, `predict_proba`, `decision_scores_`, `threshold_`, `labels_`, ``get_params``, ``clone``.

    Parameters
    ----------
    contamination : float, default 0.1
        Share of the training documents above the decision threshold, in (0, 0.5]. It changes
        ``threshold_`` and the labels, but no score. It is not the share of outliers that the benchmark
        mixes into the training data.
    random_state : int or None, default None
        Seed of all random numbers.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; computed at the first access.
    threshold_ : float
        Score above which a document is called an outlier.
    labels_ : int array of shape (n_train,)
        1 for each training text that is called an outlier.
    observer : Observer or None
        Watches the training of a detector that trains in steps; set it before ``fit``.
    others : OtherWords or None
        The words of documents from other groups, if the training documents are one group. It is set before
        ``fit``. A detector that knows the language judges its documents against them.
    ran_on_ : mapping of str to str
        Device and precision of the last fit, if the detector has a choice. ``steps`` describes a
        training that was shorter than the settings say; the command line prints it.
    is_timed : bool
        Whether the harness measures the costs. False if another program made the scores, because the
        harness cannot measure it. Class attribute.
    kept_ : bool array of shape (n_train,), or None
        Training documents that a robust detector used in the end; None if the detector uses all.
    ranges : mapping of str to Range
        The values that each hyper-parameter may have, for the hyper-parameters that the class adds to its
        bases; see `adbench_text.checks`. Class attribute.
    computes_with : frozenset of str
        Packages that decide the scores, although the code of the detector does not import them. If their
        releases change, older results are outdated. Class attribute.
    threshold_params : frozenset of str
        Hyper-parameters that move the threshold but change no score. Class attribute.
    leaves_out_self : bool
        Whether ``decision_scores_`` scores each training document without itself. Class attribute.
    default_preset : str
        Preset that a benchmark uses for the bare name of the detector; by default ``"default"``. Class
        attribute.
    faster : mapping of str to float
        Presets, and ``"GPU"``, that are faster than `default_preset`, with their share of its time, for a
        note on a long sweep. Class attribute.
    takes_labels : bool
        Whether ``fit`` learns from `y`, the labels of some training documents. Class attribute.
    takes_language : bool
        Whether all presets get the hyper-parameter `language` for a dataset that is not English. Class
        attribute.
    reads_raw : bool
        Whether the detector reads documents as written; other detectors read cleaned ones. Class attribute.
    trusted_types : frozenset of str, or None
        Full names of the classes that the fitted attributes contain, besides data; may be empty. None, the
        default, if the detector cannot be saved.
    not_saved : frozenset of str
        Names of attributes that only a fit needs; they are not saved. Class attribute.
    test_settings : mapping of str to object
        Hyper-parameters with which the contract test learns eighty short documents in seconds. Class
        attribute; empty by default.

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
    takes_language: ClassVar[bool] = False
    reads_raw: ClassVar[bool] = False
    trusted_types: frozenset[str] | None = None
    not_saved: ClassVar[frozenset[str]] = frozenset()
    test_settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, *, contamination: float = 0.1, random_state: int | None = None) -> None:
        TextDetector.ranges["contamination"].check("contamination", contamination)  # before PyOD does
        # PyOD mistakes NumPy's short floats for thresholders
        super().__init__(contamination=float(contamination))
        self.random_state = random_state

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the hyper-parameters, sorted."""
        # scikit-learn reads only the __init__ of a class; ours pass shared parameters as **shared
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
        """Return named configurations for a dataset; a preset with several configurations is a grid.

        ``"default"`` always exists and need not be listed.
        """
        return {}

    @classmethod
    def from_preset(cls, preset: str, /, dataset: str = "", **settings: Any) -> Self:
        """Return an unfitted detector with the settings of a preset.

        Parameters
        ----------
        preset : str
            Name of a preset with one configuration, such as ``"robust"`` of `LLR`; see `presets`.
        dataset : str, optional
            Name of the dataset, if the preset differs between datasets.
        **settings
            Hyper-parameters that override the preset.

        Raises
        ------
        InvalidValueError
            If the preset does not exist, or has several configurations.
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

        It is called if the user names no preset. `language` is a code such as ``"en"``. The user's `settings`
        override the configuration. `normal` is True if all training documents are normal. After the name of a
        preset, notes for the user may follow, as in ``"robust, without word vectors"``. A detector that lacks
        something for the language raises InvalidValueError.
        """
        return "default", {}

    @classmethod
    def parameter_ranges(cls) -> dict[str, Range]:
        """Return the values that each hyper-parameter of the class and its bases may have."""
        return declared_ranges(cls)

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of its range; `fit` calls this first.

        A subclass may check several hyper-parameters together, after it has called this method.
        """
        params = self.get_params(deep=False)
        for name, values in self.parameter_ranges().items():
            if name in params:
                values.check(name, params[name])

    def prepare(self, texts: Sequence[str]) -> None:
        """Load or compute what is not learned: a file of word vectors, or vectors of `texts` by an encoder.

        The harness calls this method with all documents of a corpus, before any split. It calls it again for
        the new detector of each cell, perhaps in another process, with an empty list, so that loading is not
        part of the measured time. So keep the results outside the detector, in a cache of the module or on
        the disk. Do not learn here: test documents are among the texts.
        """

    def resources(self) -> dict[str, str]:
        """Return the digests or versions of all files and data, outside the code, that decide the scores."""
        return {}

    @property
    def regime(self) -> str | None:
        """Knowledge besides the training texts: one of `adbench_text.contract.scores.REGIMES`."""
        return FROM_SCRATCH

    @property
    def is_oracle(self) -> bool:
        """Whether the test labels choose the scores.

        The benchmark then calls ``oracle_scores(texts, outlier)`` instead of
        ``decision_function(texts)``, and marks the results.
        """
        return False

    def oracle_scores(self, texts: Sequence[str], outlier: NDArray[np.bool_]) -> Scores:
        """Return scores that the test labels choose; only for a detector with `is_oracle`."""
        raise DetectorError(f"{type(self).__name__} has no scores that are chosen by the test labels.")

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of the words of each text; raise DetectorError if the detector has none."""
        raise DetectorError(f"{type(self).__name__} scores a text as a unit; it has no scores of words.")

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of the words of training documents.

        They explain ``decision_scores_``. A detector with `leaves_out_self` must override this method, and
        leave each document out of what it learned. Other detectors score them like new documents.
        `places` are positions in the list of training documents. Known outliers are not in this list.
        """
        texts = self._texts_of_training()
        return self.token_scores([texts[place] for place in places])

    def reasons(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the facts that make each document odd, the strongest first, or empty lists.

        An example for one document: ``["41 % digits (others 1 %)"]``.
        """
        return [[] for _ in texts]

    def training_reasons(self, places: Sequence[int]) -> list[list[str]]:
        """Return the `reasons` for the ``decision_scores_`` of training documents.

        `places` are the same as in `training_token_scores`.
        """
        texts = self._texts_of_training()
        return self.reasons([texts[place] for place in places])

    def _texts_of_training(self) -> list[str]:
        """Return the training documents; raise an error if it is not fitted, or was loaded without them."""
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
        """Score the training documents; by default like other documents."""
        return self._score(texts)

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Fit on training documents.

        Parameters
        ----------
        texts : iterable of str
            Training documents, assumed to be mostly normal.
        y : sequence of float of shape (n_train,), optional
            Labels for a detector that `takes_labels`: 1 for a known outlier, 0 for a document known to be
            normal, NaN for any other. Other detectors ignore it, as in PyOD. ``kept_`` and
            `training_token_scores` leave out known outliers.

        Returns
        -------
        self

        Raises
        ------
        InvalidValueError
            If a value is out of range, or if all documents are known outliers.
        """
        checked = check_texts(texts)
        self.check_params()
        self._set_n_classes(None)
        self._known_labels, self._is_odd = NOTHING_KNOWN, np.zeros(len(checked), dtype=np.bool_)
        if y is not None and self.takes_labels:
            self._is_odd, self._known_labels = split_known(checked, y)
            checked = list(compress(checked, ~self._is_odd))
        # before `_fit`, because a detector may score while it trains
        self._training_texts: list[str] | None = checked
        try:
            self._fit(checked)
        except BaseException:
            del self._training_texts  # an interrupted fit leaves the detector unfitted
            raise
        finally:
            for name in OF_TRAINING:  # they may have been computed during the fit
                self.__dict__.pop(name, None)
        return self

    def decision_function(self, texts: Iterable[str]) -> Scores:
        """Score documents; higher is more abnormal.

        Parameters
        ----------
        texts : iterable of str
            Any documents; each is scored by itself.

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
        """Return documents as a list; raise NotFittedError, or InvalidValueError for wrong texts."""
        checked = check_texts(texts)
        self._check_is_fitted()
        return checked

    def __sklearn_is_fitted__(self) -> bool:
        return "_training_texts" in self.__dict__

    def _check_is_fitted(self) -> None:
        """Raise NotFittedError if it is not fitted."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"{type(self).__name__} is not fitted yet; call fit(texts) first.")

    def learned(self) -> dict[str, Any]:
        """Return the attributes of the fitted detector to save.

        Leave out the hyper-parameters, the training documents and the attributes that `not_saved` lists. A
        subclass overrides this method and `restore` if it has an attribute that skops cannot save, such as a
        network.
        """
        self._check_is_fitted()
        left_out = self._not_learned()
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set attributes, and return the detector.

        `learned` is the result of the method `learned` of a detector with the same hyper-parameters.
        """
        left_out = self._not_learned()  # again, because a file may hold names that it leaves out
        self.__dict__.update({name: value for name, value in learned.items() if name not in left_out})
        self._training_texts = None  # fitted, but without scores of training documents
        return self

    def _not_learned(self) -> set[str]:
        """Return the names of the attributes that `learned` leaves out."""
        only_for_training = "_training_texts", "_known_labels", "_is_odd"
        return {*only_for_training, "observer", *self.not_saved, *self.get_params(deep=False)}

    if not TYPE_CHECKING:  # or else a type checker would accept every name

        def __getattr__(self, name: str) -> Any:
            # Scoring the training documents takes time, and a benchmark never needs these scores.
            # A loaded detector has no training documents.
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
        """Return the scores of all training documents; known outliers are scored like other documents."""
        scores = check_scores(self._score_training(texts), len(texts))
        if not self._known_labels.odd:
            return scores
        all_scores = np.empty(len(self._is_odd))
        all_scores[~self._is_odd] = scores
        all_scores[self._is_odd] = self.decision_function(self._known_labels.odd)
        return all_scores

    def predict(self, X: Iterable[str], return_confidence: bool = False) -> Any:
        """Return 1 for each document above the threshold, else 0; see PyOD."""
        return super().predict(self._check_fitted(X), return_confidence)  # a list: PyOD reads it twice

    def predict_proba(
        self, X: Iterable[str], method: Literal["linear", "unify"] = "linear", return_confidence: bool = False
    ) -> Any:
        """Return the probability of inlier and outlier, of shape (n_texts, 2); see PyOD."""
        return super().predict_proba(_Shaped(self._check_fitted(X)), method, return_confidence)


def made_again(adapter: Callable[..., Any], *arguments: Any) -> Any:
    """Unpickle a detector; `adapter` makes its class again, because the class has no importable name."""
    kind = adapter(*arguments)
    return kind.__new__(kind)


#: Attributes for the scores of the training documents, computed at the first access to one of them.
OF_TRAINING = ("decision_scores_", "threshold_", "labels_", "_mu", "_sigma")


class _Shaped(list[str]):
    """Documents with a ``shape``, which PyOD's methods need."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)
