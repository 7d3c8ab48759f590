"""Rank the user's own documents: a detector scores each by what it learned from the others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from adbench_text.checks import Number
from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import SAMPLE, OnProgress, Texts, no_progress
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.found_languages import InLanguages, other_languages
from adbench_text.documents.groups import Groups
from adbench_text.documents.left_out import N_FOLDS
from adbench_text.documents.lists import odd_lists
from adbench_text.documents.marks import Mark
from adbench_text.documents.misfiled import InGroups
from adbench_text.documents.neighbours import Neighbours
from adbench_text.documents.own_detector import own_detector
from adbench_text.documents.parts import Parts
from adbench_text.documents.rule import ListRule
from adbench_text.documents.scoring import score_documents
from adbench_text.documents.source import TextSource
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import one_line
from adbench_text.orders import Order
from adbench_text.plugins.configure import DEFAULT_DETECTOR
from adbench_text.plugins.foreign import Detector

_N_IN_LINE, _N_IN_NOTEBOOK = 3, 10  # documents of a list that are shown in a repr, in a notebook


@dataclass(frozen=True, repr=False)
class OddDocuments:
    """Documents ranked against each other, the most abnormal first.

    A notebook shows the first documents of each list with coloured words. A terminal shows one line.

    Attributes
    ----------
    table : DataFrame
        All documents, sorted by rank; documents without a rank come last.

        - ``row``: row in the input, from 0 on
        - ``rank``: 1 for the most abnormal document; copies have the rank of their representative
        - ``score``: abnormality of its words, by a detector that was fitted without the document
        - ``p``: share of the different documents that score at least as high by words; missing without words
        - ``p_form``, ``p_both``: the same by form (length, characters and kinds of words of the document as
          written), and by both, joined as in `adbench_text.calibration.joined`; missing if not asked for
        - ``odd``: whether the p of the order is at most alpha
        - ``why``, ``why_form``: the words, and the facts about form, that make the document odd, the
          strongest first; empty for documents that are in no list
        - ``copy_of``: row of the document with the same words, or most of them, that is scored instead
        - ``n_copies``: number of copies of this document
        - ``nearest``, ``subject``: for documents in a list, the row of the most similar other document, and
          words that several of the ten most similar documents have; see `adbench_text.documents.neighbours`
        - ``representative``, ``form_representative``: rows of the documents whose words and whose form are
          scored instead; with `keep_copies`, the first document with the same raw text is scored by form
        - ``mark``: odd or fine if the document or a copy is marked; without `keep_marked` it has no rank
        - ``group``, ``fits``, ``misfit``: with groups, the group of the document, a group that it fits
          better, and by how much (see `adbench_text.documents.misfiled`); missing if no group fits better
        - ``language``: only with the language ``"auto"``; missing for a document without enough text
    lists : mapping of str to DataFrame
        By order (``"words"``, ``"form"``, ``"both"``): the different documents that are odd, or among the
        first. They have the columns of the table, with the ranks of this order. They also have ``text``, the
        document as written, and ``words``, the scores of its words (`TokenScore`, or empty).
    families : DataFrame
        The documents with the most copies, if some are near-copies: ``row``, ``n_copies`` and ``text``.
    detector : str
        Name and configuration: ``"llr:robust"``.
    method : str
        How the detector leaves out the document that it scores: ``"leave-one-out"``.
    centre : float
        A word with a higher score is a sign that its document is odd.
    alpha : float
        Largest p of an odd document.
    language : str
        Language of the cleaning and the detector. With ``"auto"`` it is the language of most documents, or
        English if no document has enough text.
    languages : mapping of str to float
        With ``"auto"``: the shares of the frequent languages, the largest first.
    other_language : str or None
        The language of most documents, if it is not the given one.
    second_language : tuple of str and float, or None
        A second frequent language, and its share of the different documents. ``"auto"`` would rank its
        documents separately.
    n_learned : int
        Number of different documents that the detector learned from.
    n_near_copies : int
        Number of documents that share most of their words with another one. With groups or several
        languages, both documents are in the same part.
    n_duplicates : int
        Number of documents with the same raw text as an earlier one. Only documents with a rank or a mark
        count.
    n_same_words : int
        Number of documents with the words of another one but a different raw text, such as other digits.
    marked : Series
        The marks by row, ``"odd"`` or ``"fine"``, of documents that are scored; one mark for each family.
    form_weight : float
        Weight of form relative to words, in (0, 1]; 1 without marks.
    groups : InGroups or None
        With groups: the group of each document, misfiled documents, and contradictions.
    in_languages : tuple of str
        The languages that are ranked separately; empty if all documents are read as one language.
    learns_from_marks : bool
        Whether the detector `takes_labels`. If not, it only leaves out documents marked odd.
    """

    table: pd.DataFrame
    lists: Mapping[str, pd.DataFrame]
    families: pd.DataFrame
    detector: str
    method: str
    centre: float
    alpha: float
    language: str
    languages: Mapping[str, float]
    other_language: str | None
    second_language: tuple[str, float] | None
    n_learned: int
    n_near_copies: int
    n_duplicates: int
    n_same_words: int
    marked: "pd.Series[str]"
    form_weight: float
    learns_from_marks: bool
    groups: InGroups | None
    in_languages: tuple[str, ...]

    def is_copy(self, order: str) -> "pd.Series[bool]":
        """Return which documents of the table have another document as representative in an order."""
        name = "representative" if order == "words" else "form_representative"
        return self.table[name] != self.table["row"]

    def __repr__(self) -> str:
        parts = [f"{len(self.table):,} documents by {one_line(self.detector)}"]
        for order, listed in self.lists.items():
            rows = listed["row"].head(_N_IN_LINE).astype(str).tolist()
            rows += ["…"] if len(listed) > _N_IN_LINE else []
            parts.append(f"{listed['odd'].sum():,} odd by {order}, first rows {', '.join(rows)}")
        return f"<OddDocuments: {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        from adbench_text.documents.page import documents_of_list, notebook_of_documents

        sections = {}
        for order, listed in self.lists.items():
            first = listed.head(_N_IN_NOTEBOOK)
            shown = documents_of_list(first.assign(id=first["row"].astype(str)), order, self.alpha)
            sections[f"Odd by {order}"] = shown
        return notebook_of_documents(repr(self).strip("<>"), sections, self.centre)


def odd_documents(
    texts: Texts,
    detector: str | Detector | type[Detector] = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    alpha: float = 0.01,
    by: Order | None = None,
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
    sample: int = SAMPLE,
    keep_copies: bool = False,
    top: int = 10,
    max_copies: int | None = None,
    marks: Mapping[int, Mark] | None = None,
    keep_marked: bool = False,
    groups: Iterable[Any] | None = None,
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> OddDocuments:
    """Rank documents against each other; a detector scores each by what it learned from the others.

    Marks of some documents change the ranks of the others. A detector that `takes_labels` learns from
    documents marked odd. Other detectors never see documents marked odd. With marks, the only list joins
    words and form, and the marks decide the weight of form (see `adbench_text.calibration.form_weight`).

    Each keyword parameter is an option of the command ``odd``.

    Parameters
    ----------
    texts : iterable of str, or callable
        At least two different documents with words, or a function that yields them. The documents of a
        function are kept in memory, or above 64 MB in temporary files.
    detector : str or detector
        The name of a detector, or an object with ``fit(texts)`` and ``decision_function(texts)``, such as
        ``LLR(topics=4)`` or a pipeline of scikit-learn. A copy of the object is fitted. A class is used with
        its default values.
    preset : str, optional
        Configuration of the named detector. By default the detector chooses one for the language.
    settings : mapping, optional
        Hyper-parameters that override the configuration.
    language : str
        Language of the documents, for the cleaning and the detector. With ``"auto"`` the language of each
        document is detected. A language with at least 10 % and at least 20 of the different documents is
        ranked separately. Other documents are read as the language of most documents.
    alpha : float
        Share of the different documents that is called odd, in (0, 1), with or without outliers among them.
    by : {"words", "form", "both"}, optional
        The p that ranks the documents and says which are odd. With ``"words"``, form is not scored. By
        default both rank the documents, and there are lists by words and by form, too. With groups, words
        rank the documents, and there is a second list by form. A detector that reads raw documents, such as
        ``form``, has only one order.
    clean : bool
        Whether to remove stop words, punctuation and digits first. Form, and detectors that read raw
        documents, are never cleaned.
    n_folds : int
        Number of folds for a detector that has no leave-one-out scores.
    seed : int
        Seed of the sample, of the folds, and of a detector whose `random_state` is None.
    sample : int
        Number of different documents that the detector learns from, drawn by the seed. The others are scored
        by the fitted detector.
    keep_copies : bool
        Whether near-copies are ranked separately, and each different raw text is scored by form. By default
        documents that share about 80 % of their different words are a family: one of them is ranked, the
        others are its copies. A detector that reads raw documents always keeps near-copies.
    top : int
        Explain at least this many documents of each list.
    max_copies : int, optional
        Documents with more copies are in no list.
    marks : mapping of int to str, optional
        ``"odd"`` or ``"fine"`` by row. A mark counts for all copies of a document.
    keep_marked : bool
        Whether marked documents are ranked, too. By default they have no rank, and p is a share of the
        other documents.
    groups : iterable of str, optional
        The group of each document by position, such as its queue or its month. Documents without a group are
        a group, too. By words, a document is ranked within its group: the detector learns from the group, p
        is a share of the group, and scores are on the robust scale of the group. By form, it is ranked within
        the whole file. Groups of fewer than 20 different documents are ranked together.
    jobs : int or str
        Number of processes that read and score documents, or the address of a Dask scheduler.
    progress : callable
        Receives the name of the step, the number of documents done, and the total.

    Returns
    -------
    OddDocuments

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, or an argument is out of range.
    DetectorError
        If the detector fails.

    Examples
    --------
    >>> reasons = ["password", "token", "code", "card", "key", "certificate", "address"]
    >>> tickets = [f"cannot log in to my account, the {reason} was rejected" for reason in reasons]
    >>> result = odd_documents([*tickets, "preheat the oven, then beat the eggs"], alpha=0.2)
    >>> result.table.loc[result.table["odd"], ["row", "p"]].values.tolist()
    [[7.0, 0.125]]
    >>> sorted(result.table["why"][0])
    ['beat', 'eggs', 'oven', 'preheat']
    """
    Number("(0, 1)").check("alpha", alpha)
    if groups is not None and by not in (None, "words"):
        raise InvalidValueError(
            f"Documents have groups by their words; by form they are judged by the whole file. Leave out "
            f"by={by!r} (--by) or the groups (--group)."
        )

    def pair_for(language: str) -> DetectorPair:
        own = own_detector(detector, preset, settings, language, seed)
        return DetectorPair.of(own, by, language=language, clean=clean, n_folds=n_folds, seed=seed)

    rule = ListRule(by, alpha, top, max_copies, has_groups=groups is not None)
    work: dict[str, Any] = {"jobs": jobs, "progress": progress}
    source = TextSource.of(texts)
    read, families = InLanguages.of(source, language, pair_for, keep_copies=keep_copies, **work)
    labelled = None if groups is None else Groups.of(groups, families)
    parts = Parts.of(source, read, families, labelled, sample)
    del families  # of millions of documents, they take hundreds of megabytes
    scores = score_documents(
        source, parts, {} if marks is None else marks, rule, keep_marked=keep_marked, **work
    )
    progress("explaining", 0, None)
    main = read.pairs[0]  # the detectors for the language of most documents
    lists = odd_lists(source, scores, rule, reads_raw=main.words.detector.reads_raw)
    table, by_order = lists.table, lists.by_order
    cleaners = [*map(Cleaner, read.languages)]  # stop words are in most documents, and say nothing
    listed_rows = pd.concat([listed["row"] for listed in by_order.values()]).to_numpy()
    near = Neighbours.of(source, parts.in_languages, cleaners, listed_rows)
    table = near.with_columns(table)
    by_order = {order: near.with_columns(listed) for order, listed in by_order.items()}
    in_groups = None
    if labelled is not None:
        in_groups = InGroups.of(source, parts, table, labelled, rule, **work)
        table = in_groups.with_columns(table)
        by_order = {order: in_groups.with_group(listed) for order, listed in by_order.items()}
    other = second = None
    if read.found is not None:
        table = table.assign(language=read.found.of_rows[table["row"].to_numpy()])
    else:
        other, second = other_languages([*source.at(parts.with_words())], read.languages[0], pair_for)
    # Duplicates count if they have a rank or a mark. Without form, a document without words has no rank.
    counted = table["row"][table["rank"].notna() | (table["mark"] != "")]
    return OddDocuments(
        table=table,
        lists=by_order,
        families=lists.families,
        detector=main.words.label,
        method=scores.of_words[0].method,
        centre=scores.centre,
        alpha=alpha,
        language=read.languages[0],
        languages=read.found.shares(read.languages[0]) if read.found else {},
        other_language=other,
        second_language=second,
        n_learned=sum(each.n_learned for each in scores.of_words),
        n_near_copies=int(parts.by_words.is_near.sum()),
        n_duplicates=int(parts.by_words.is_duplicate[counted].sum()),
        n_same_words=parts.by_words.n_same_words,
        marked=scores.marked,
        form_weight=scores.form_weight,
        learns_from_marks=main.words.detector.takes_labels,
        groups=in_groups,
        in_languages=tuple(sorted(read.languages)) if len(read.languages) > 1 else (),
    )
