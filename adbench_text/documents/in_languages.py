"""Scores each document among the documents of its language, by words and by form."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.documents import OnProgress
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.left_out import LeftOut, LeftOutPart, PartedForm, PartedWords
from adbench_text.documents.scoring import DocumentScores, score_documents
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import survey


def score_in_languages(
    source: TextSource,
    languages: NDArray[np.object_],
    pair_for: Callable[[str], DetectorPair],
    *,
    keep_copies: bool,
    sample: int,
    jobs: int | str,
    progress: OnProgress,
) -> DocumentScores:
    """Score documents among the documents of their language, with its detectors and its cleaning.

    `languages` has one for each document. Scores by words are on the robust scale of the language.
    """
    tables, parts = [], []
    for language in sorted(set(languages)):
        pair, rows = pair_for(language), np.flatnonzero(languages == language)
        texts = TextSource(partial(source.at, rows))
        found = survey(texts, pair.surveyor(keep_copies=keep_copies), sample, jobs, progress)
        scores = score_documents(texts, found, pair, {}, keep_marked=False, jobs=jobs, progress=progress)
        assert isinstance(scores.words, LeftOut)
        assert not isinstance(scores.form, PartedForm)
        parts.append(LeftOutPart(rows, scores.words, scores.form, pair.cleaner))
        of_file = {name: rows[scores.table[name]] for name in ("row", "words_of", "form_of")}
        tables.append(scores.table.assign(**of_file, score=scores.words.robust(scores.table["score"])))
    table = pd.concat(tables).sort_values("row").reset_index(drop=True)
    form = PartedForm(parts) if parts[0].form else None
    return replace(scores, table=table, words=PartedWords(parts), form=form)
