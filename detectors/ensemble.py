"""The mean of other detectors, each on the robust scale of its training scores.

The score of a document is the mean over the members of

    (score - median) / (1.4826 * MAD)

where median and MAD (median absolute deviation) come from the scores that the member gives the training
documents: leave-one-out scores, if it has them. Labels are not used. A member counts once for each mention,
and twice as often with an `encoder` that is given for all. If the MAD of a member is 0, its scores are
divided by their standard deviation; if that is 0, too, the member adds nothing. If the first member sets
training documents aside (``kept_``), the others learn from the rest. Averages of normalised scores are the
usual ensemble of outlier detectors (Aggarwal and Sathe, 2015).

The weight of a member that is written with ``~`` depends on the training documents, as in the presets.
`knn-words` and `ngrams` compare words and letters. This says much if documents are alike, such as the pages
of a manual, and little if they have many subjects. So let

    a = min(1, (s / s0)^2),   s = 1 - median score of `knn-words` in training,   s0 = 0.15, for letters 0.25

If `knn-words` compares words, it counts next to vectors. They are means over all tokens, which say little of
a long document. So `knn-words` counts w times as often, and vectors 1 - w / 2 times as often, with

    w = a max(0, 1 - 100 / n),   n = median number of words of the training documents

If n is at most 100, `knn-words` is not fitted.

If `knn-words` compares letters, as in the presets of languages with a list of words, each member with ``~``
counts max(0.2, a) times. This holds if the list knows the documents: at least 82 % of their words have a
frequency of 1e-6 or more in it. If it knows fewer, each member counts once. If it knows less than 65 %, the
list is of another language, such as German for Luxembourgish, and `llr` does not count.

References
----------
C. C. Aggarwal, S. Sathe: Theoretical Foundations and Algorithms for Outlier Ensembles. ACM SIGKDD
Explorations 17, 2015.

D. L. Miller: WordLlama: Recycled Token Embeddings from Large Language Models. 2024.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Choice, Range
from adbench_text.code_version import code_version, libraries
from adbench_text.contract.detector import OF_TRAINING, Scores, SharedParams, TextDetector, TokenScore
from adbench_text.contract.scores import REGIMES, TOGETHER
from adbench_text.contract.vector_detector import VectorDetector
from adbench_text.detectors._robust_scale import RobustScale
from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice, build, split_list
from adbench_text.plugins.declared import declared
from adbench_text.text.encoders import METHODS, find_method
from adbench_text.text.languages import has_frequencies, has_known_words, part_length, word_shares
from adbench_text.text.words import count_words

_MEMBERS = "detectors as in 'llr, knn-words(k=5)'"  # for messages
_CHARACTERS = "ngrams(references=10000)"
_VECTORS = "knn-vectors(encoder=wordllama, references=1000)"
# Few neighbours among many references are best if all training documents are normal, but not with outliers.
_NEAREST = "knn-vectors(encoder=wordllama, k=5, references=4000)"
_ADAPTED = "~"  # before a member whose weight depends on the training documents
_WORDS = f"{_ADAPTED}knn-words(references=1000, adjusted=true)"
_OF_ENCODER = 2  # times that a member counts whose encoder was chosen for the documents
_ALIKE_WORDS, _ALIKE_LETTERS = 0.15, 0.25  # similarity to neighbours from which on documents are alike
_LONG = 100  # words; vectors of longer documents say less
_LEAST_FACTOR = 0.2  # of members that compare letters
_COMMON = 1e-6  # frequency of a common word
_OTHER_LANGUAGE, _SAME_LANGUAGE = 0.65, 0.82  # share of common words
_LEAST_REASON = 1.0  # robust standard deviations from which on a member is named as a reason


class _Preset(NamedTuple):
    of_llr: str  # preset of `llr`
    members: str  # for English
    k: int  # neighbours by character n-grams, for other languages


_PRESETS = {
    "clean": _Preset("topics", f"{{llr}}, {_CHARACTERS}, {_NEAREST}, {_WORDS}", 10),
    "robust": _Preset(
        "robust", f"{{llr}}, {_VECTORS}, {{llr}}, {_VECTORS}, {_CHARACTERS}, {_WORDS}, {_WORDS}", 20
    ),
}


class _Member(NamedTuple):
    choice: DetectorChoice
    times: int  # that it counts
    is_adapted: bool  # whether its weight depends on the training documents


def choices(members: Any) -> list[DetectorChoice]:
    """Return the members that a text names, without ``~``; see `adbench_text.plugins.configure`."""
    return [choice for choice, _ in _marked(members)]


def _marked(members: Any) -> list[tuple[DetectorChoice, bool]]:
    """Return the members that a text names, each with whether its weight is adapted (``~``)."""
    if not isinstance(members, str) or not members:
        raise InvalidValueError(f"Expected {_MEMBERS}, got {members!r}.")
    return [
        (DetectorChoice.parse(part.removeprefix(_ADAPTED)), part.startswith(_ADAPTED))
        for part in split_list(members)
    ]


class Ensemble(TextDetector):
    """The mean of the robust z-scores of other detectors; see the head of the module.

    The preset ``clean`` is for training documents that are all normal: `llr` with its preset ``topics``,
    `ngrams` and `knn-vectors`. ``robust`` is for training documents that may include outliers: `llr` with its
    preset ``robust`` and `knn-vectors`, which count twice, and `ngrams`. If documents are long and alike,
    `knn-words` joins them, and the vectors count less. The vectors come from ``wordllama``: token vectors of
    LLaMA 2 70B, no network at run time. ``encoder=minilm`` takes a sentence encoder instead (the extra
    ``[encoders]``). To use no pre-trained vectors, take `llr` alone, with its preset. The vectors of
    ``wordllama`` are English. In other languages the members are `llr` on words and on
    character n-grams, `knn-words` on character n-grams, and `ngrams`; the last two count less if documents
    are not alike. If the script does not write words in letters, `llr` on words is left out. If wordfreq has
    no word list, `llr` on n-grams is left out, too, except in ``robust``, to set documents aside.

    Parameters
    ----------
    members : str, default "llr, knn-words"
        The detectors, separated by commas, with their settings in brackets:
        ``"llr, knn-words(k=5)"``. The first detector may set training documents aside; the others learn from
        the rest. If the first one keeps all documents, the order of the detectors does not change a score.
        The first one that scores words explains the documents. A detector that is named twice with the same
        settings is fitted once, and counts twice. The weight of a member with ``~`` before its name
        depends on the training documents.
    encoder : str or None, default None
        The encoder of all members that work on document vectors, as for `VectorDetector`. If there is no such
        member, ``knn-vectors(references=1000)`` with this encoder is added. Members with this encoder count
        twice as often, because an encoder that was chosen for the documents knows more than words. With None,
        each member has the encoder that it names.
    contamination, random_state
        See `TextDetector`; all members have the same seed.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = Ensemble(members="llr, knn-words(k=5)").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "a court heard the witness"])
    >>> bool(far > near)
    True
    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "members": Choice((), choices, _MEMBERS),
        "encoder": Choice(METHODS, find_method, nullable=True),
    }
    default_preset = "robust"
    not_saved: ClassVar[frozenset[str]] = frozenset({"_of_training", "_built_for", "_built_members"})

    def __init__(
        self, *, members: str = "llr, knn-words", encoder: str | None = None, **shared: Unpack[SharedParams]
    ) -> None:
        super().__init__(**shared)
        self.members = members
        self.encoder = encoder

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``clean`` and ``robust``; their member `llr` is set for the language of the dataset."""
        language, of_llr = registry.language_of(dataset), registry.detector("llr").presets(dataset)
        # a preset is a list of configurations; a preset of `llr` has only one
        return {
            name: [{"members": _members(of_llr[preset.of_llr][0], preset, language)}]
            for name, preset in _PRESETS.items()
        }

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return a preset for a user's own documents: ``clean`` if all are normal, otherwise ``robust``.

        Its member `llr` has the settings that it chooses for the language. If the user's `settings` name
        members, the preset is the default, because they replace its members. If `llr` lacks word vectors,
        the name of the preset says so.
        """
        if "members" in settings:
            return "default", {}
        preset = "clean" if normal else "robust"
        of_llr, chosen = registry.detector("llr").for_documents(language, settings, normal=normal)
        _, comma, missing = of_llr.partition(", ")  # "topics, without word vectors"
        return f"{preset}{comma}{missing}", {"members": _members(chosen, _PRESETS[preset], language)}

    def build_members(self) -> list[TextDetector]:
        """Return the unique members, unfitted, with checked hyper-parameters and the detector's seed."""
        return [self._built(member.choice) for member in self._listed()]

    def _present_members(self) -> list[TextDetector]:
        """Return the unique members, the same objects until a parameter changes; `_fit` fits them."""
        params = self.members, self.encoder, self.random_state
        if self.__dict__.get("_built_for") != params:
            self._built_for, self._built_members = params, self.build_members()
        return self._built_members

    def _listed(self) -> list[_Member]:
        """Return the unique members, with the times that each counts."""
        marked = _marked(self.members)
        if self.encoder and not any(_works_on_vectors(choice) for choice, _ in marked):
            marked.append((DetectorChoice.parse(_VECTORS), False))
        listed = [choice for choice, _ in marked]
        adapted = [choice for choice, is_adapted in marked if is_adapted]
        unique = [choice for place, choice in enumerate(listed) if choice not in listed[:place]]
        has_encoder = [self.encoder is not None and _works_on_vectors(choice) for choice in unique]
        return [
            _Member(choice, listed.count(choice) * (_OF_ENCODER if is_of_encoder else 1), choice in adapted)
            for choice, is_of_encoder in zip(unique, has_encoder, strict=True)
        ]

    def _built(self, choice: DetectorChoice) -> TextDetector:
        name = choice.name
        if issubclass(registry.detector(name), Ensemble):
            raise InvalidValueError(f"{name} cannot be a member of itself, got {self.members!r}.")
        settings = choice.configuration()
        if self.encoder and _works_on_vectors(choice):
            settings = {**settings, "encoder": self.encoder}
        member = build(name, settings, self.random_state)
        if member.is_oracle:
            raise InvalidValueError(
                f"{name} in {self.members!r} cannot be a member: its scores are chosen by the test labels, "
                "so it cannot score its training documents."
            )
        if member.reads_raw:
            raise InvalidValueError(
                f"{name} in {self.members!r} cannot be a member: it reads documents as they were written, "
                "and the others read cleaned ones. Run it by itself."
            )
        return member

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter of the ensemble or of a member is out of range."""
        super().check_params()
        self._present_members()

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up the resources of all members."""
        for member in self._present_members():
            member.prepare(texts)

    def resources(self) -> dict[str, str]:
        """Return the digest of the code of each member, its libraries and its resources."""
        used: dict[str, str] = {}
        pairs = zip(self._listed(), self._present_members(), strict=True)
        for position, ((choice, _, _), member) in enumerate(pairs, start=1):
            code = registry.module_of("detectors", choice.name), type(member), member.implementation
            known = declared(member, choice.name)
            packages = libraries(*code, declared=known.computes_with)
            of_member = {"code": code_version(*code), "libraries": packages, **known.resources}
            used |= {f"member{position}.{name}": value for name, value in of_member.items()}
        return used

    @property
    def trusted_types(self) -> frozenset[str] | None:  # type: ignore[override]
        """The trusted classes of the members and of the scales; None if a member cannot be saved."""
        trusted = frozenset({"adbench_text.detectors._robust_scale.RobustScale"})
        for member in self._present_members():
            if member.trusted_types is None:
                return None
            trusted |= member.trusted_types
        return trusted

    @property
    def regime(self) -> str | None:
        """The largest knowledge of a member; None if a member does not declare it."""
        regimes = [member.regime for member in self._present_members()]
        return None if None in regimes else max(regimes, key=REGIMES.index)

    @property
    def takes_labels(self) -> bool:  # type: ignore[override]
        """Whether a member learns from labels."""
        return any(member.takes_labels for member in self._present_members())

    @property
    def leaves_out_self(self) -> bool:  # type: ignore[override]
        """Whether all members score each training document without itself."""
        return all(member.leaves_out_self for member in self._present_members())

    def _fit(self, texts: list[str]) -> None:
        listed, members = self._listed(), self._present_members()
        is_long = _median_length(texts) > _LONG
        # the positions of the members that are fitted; the first one always is, and may set documents aside
        self._used = [n for n, member in enumerate(listed) if n == 0 or is_long or not _joins_vectors(member)]
        self._members, self._of_training = [members[n] for n in self._used], list[Scores]()
        kept = np.ones(len(texts), dtype=np.bool_)
        for member in self._members:
            member.others = self.others
            self._known_labels.fit(member, texts, kept)
            self._of_training.append(_scores_of_training(member, texts, kept))
            if member is self._members[0] and member.kept_ is not None:
                kept = member.kept_
        self.kept_ = self._members[0].kept_
        self._scales = [RobustScale.fit(scores) for scores in self._of_training]
        used = [listed[n] for n in self._used]
        factors = self._factors(used, texts)
        self._weights = [member.times * factor for member, factor in zip(used, factors, strict=True)]
        self.ran_on_ = {name: value for member in self._members for name, value in member.ran_on_.items()}

    def _factors(self, used: Sequence[_Member], texts: list[str]) -> list[float]:
        """Return a factor for the weight of each fitted member; see the head of the module.

        `used` are the fitted members. Without `knn-words` among the members with ``~``, each factor is 1.
        """
        neighbours = [member.is_adapted and member.choice.name == "knn-words" for member in used]
        if not any(neighbours):
            return [1.0] * len(used)
        place = neighbours.index(True)
        similarity = max(0.0, 1 - self._scales[place].median)
        if _joins_vectors(used[place]):
            alike = min(1.0, (similarity / _ALIKE_WORDS) ** 2)
            of_words = alike * max(0.0, 1 - _LONG / _median_length(texts))
            of_others = [1 - of_words / 2 if _works_on_vectors(member.choice) else 1.0 for member in used]
        else:
            alike = min(1.0, (similarity / _ALIKE_LETTERS) ** 2)
            known = min(_share_of_common(member, texts) for member in self._members)
            of_words = max(_LEAST_FACTOR, alike) if known >= _SAME_LANGUAGE else 1.0
            of_llr = 1.0 if known >= _OTHER_LANGUAGE else 0.0
            of_others = [of_llr if member.choice.name == "llr" else 1.0 for member in used]
        pairs = zip(used, of_others, strict=True)
        return [of_words if member.is_adapted else of_other for member, of_other in pairs]

    def _score(self, texts: list[str]) -> Scores:
        return self._mean([member.decision_function(texts) for member in self._members])

    def _score_training(self, texts: list[str]) -> Scores:
        return self._mean(self._of_training)

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of words from the first member that has them, in its units."""
        checked = self._check_fitted(texts)
        return self._first_with_words(lambda member: member.token_scores(checked))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of words of training documents from the first member that has them."""
        return self._first_with_words(lambda member: member.training_token_scores(places))

    def _first_with_words(
        self, ask: Callable[[TextDetector], list[list[TokenScore]]]
    ) -> list[list[TokenScore]]:
        for member in self._members:
            try:
                return ask(member)
            except DetectorError:
                continue
        raise DetectorError(f"no member of {self.members!r} has scores of words.")

    def reasons(self, texts: Sequence[str]) -> list[list[str]]:
        """Return for each document the members that find it odd, the largest addend to its score first.

        A member finds a document odd if its score is at least a robust standard deviation above the median.
        """
        checked = self._check_fitted(texts)
        return self._named([member.decision_function(checked) for member in self._members])

    def training_reasons(self, places: Sequence[int]) -> list[list[str]]:
        """Return the `reasons` for training documents, by scores that leave them out."""
        self._texts_of_training()  # raises an error if the detector was loaded
        return self._named([scores[np.asarray(places, dtype=np.int64)] for scores in self._of_training])

    def _named(self, scores: Sequence[Scores]) -> list[list[str]]:
        """Return for each document a reason that names the members that find it odd, given their scores."""
        listed = self._listed()
        names = [listed[n].choice.name for n in self._used]
        found = list[list[str]]()
        for z in self._z(scores).T:
            order = np.argsort(-z * self._weights, kind="stable")
            counts = [each for each in order if z[each] >= _LEAST_REASON and self._weights[each]]
            odd = dict.fromkeys(names[each] for each in counts)
            found.append([f"{TOGETHER} ({', '.join(odd)})"] if odd else [])
        return found

    def learned(self) -> dict[str, Any]:
        """Return what the members have learned, without their training scores, and the scales."""
        learned = super().learned()
        learned["_members"] = [
            {name: value for name, value in member.learned().items() if name not in OF_TRAINING}
            for member in self._members
        ]
        return learned

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that `learned` returned."""
        super().restore(learned)
        members = self.build_members()
        if "_used" not in learned:  # saved by an older version, which uses all members
            self._used = list(range(len(members)))
        pairs = zip([members[n] for n in self._used], learned["_members"], strict=True)
        self._members = [member.restore(of_member) for member, of_member in pairs]
        if "_weights" not in learned:  # saved by an older version, where every member counts once
            self._weights = [1] * len(self._members)
        return self

    def _mean(self, scores: list[Scores]) -> Scores:
        # add in order of size, so that the order of the members does not change a bit
        z, weights = self._z(scores), np.array(self._weights, dtype=np.float64)
        whole, part = weights.astype(np.int64), weights % 1
        addends = np.vstack([np.repeat(z, whole, axis=0), (z * part[:, None])[part > 0]])
        return np.asarray(np.sort(addends, axis=0).sum(axis=0) / np.sort(weights).sum(), dtype=np.float64)

    def _z(self, scores: Sequence[Scores]) -> Scores:
        """Return the scores of each member on its robust scale: (n_members, n_texts)."""
        pairs = zip(self._scales, scores, strict=True)
        return np.array([scale.z(of_member) for scale, of_member in pairs], dtype=np.float64)


def _members(of_llr: Mapping[str, Any], preset: _Preset, language: str) -> str:
    """Return the members of a preset as a text, for documents of a language.

    `of_llr` are the settings of the member `llr` for this language.
    """
    if language == "en":
        return preset.members.format(llr=_llr(of_llr))
    n = part_length(language)
    # settings of `llr` on character n-grams; vectors of words, and so the coherence, exist in English only
    parts = {**of_llr, "background": "uniform", "coherence": 0, "characters": n}
    if has_frequencies(language):
        parts |= {"background": "wordfreq", "language": language}
    neighbours = f"knn-words(characters={n}, k={preset.k}, references=1000, adjusted=true)"
    if has_known_words(language):  # `llr` on words sets documents aside for all members
        parts.pop("em_rounds", None)
        return f"{_llr(of_llr)}, {_llr(parts)}, {_ADAPTED}{neighbours}, {_ADAPTED}{_CHARACTERS}"
    if has_frequencies(language) or "em_rounds" in of_llr:
        return f"{_llr(parts)}, {neighbours}, {_CHARACTERS}"
    # without frequencies of words, `llr` helps only by setting documents aside: `knn-words` takes its place
    few = f"knn-words(characters={n}, k={preset.k // 2}, references=1000"
    return f"{few}), {few}, adjusted=true), {_CHARACTERS}"


def _llr(settings: Mapping[str, Any]) -> str:
    return f"llr({', '.join(f'{key}={value}' for key, value in settings.items())})"


def _works_on_vectors(choice: DetectorChoice) -> bool:
    return issubclass(registry.detector(choice.name), VectorDetector)


def _joins_vectors(member: _Member) -> bool:
    """Return whether a member is `knn-words` on words, with an adapted weight, as next to vectors."""
    choice, _, is_adapted = member
    return is_adapted and choice.name == "knn-words" and choice.configuration().get("characters") is None


def _median_length(texts: Sequence[str]) -> float:
    """Return the median number of words, at least 1."""
    return max(1.0, float(np.median(np.asarray(count_words(texts).counts.sum(axis=1)))))


def _share_of_common(member: Any, texts: Sequence[str]) -> float:
    """Return which share of the words of texts is common in the list of a member.

    Only `llr` on words, with the background ``wordfreq``, has a list. For any other member it is 1.
    """
    if registry.name_of(type(member)) != "llr" or member.background != "wordfreq" or member.characters:
        return 1.0
    counts, words = count_words(texts)
    shares, times = word_shares(member.language), np.asarray(counts.sum(axis=0)).ravel()
    is_common = np.array([shares.get(word, 0.0) >= _COMMON for word in words], dtype=np.bool_)
    return float(times[is_common].sum() / max(times.sum(), 1))


def _scores_of_training(detector: TextDetector, texts: Sequence[str], kept: NDArray[np.bool_]) -> Scores:
    """Return the scores of all training documents by a detector that was fitted on the kept ones."""
    scores = np.empty(len(texts))
    scores[kept] = detector.decision_scores_[: kept.sum()]  # known outliers come after them
    if not kept.all():
        scores[~kept] = detector.decision_function(list(compress(texts, ~kept)))
    return scores
