"""Find the document that each odd document is most similar to, and the subject of its neighbourhood.

The similarity of two documents is the cosine of their TF-IDF vectors, with scikit-learn's weights and the
logarithm of counts. Compared are the documents that the detector learned from, and the odd documents. Copies
and near-copies of a document are left out.

A similar document shares at least two different words with the odd one. On five corpora, documents with one
common word have the same class in 20 to 46 % of the pairs, and documents with two common words in 46 to 70 %.
So a document that shares only single words with others has neither a most similar document nor a subject.

The subject consists of the words with the largest mean weight in the most similar documents. Several of these
documents must have the word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sparse_dot_topn import sp_matmul_topn

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents.chunks import Rows
from adbench_text.documents.lists import words_at
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Survey
from adbench_text.text.words import count_words

_N_NEAREST = 10
_N_COMMON = 2  # least number of common words of similar documents
_N_SHARING = 3  # least number of the most similar documents that have a word of the subject
_N_WORDS = 3  # words of a subject
_AT_A_TIME = 1_000  # documents


@dataclass(frozen=True)
class Neighbours:
    """The most similar document of odd documents, and the subject of their neighbourhood."""

    representative: Rows  # for each document
    nearest: "pd.Series[int]"  # row of the most similar document, by representative; -1 without one
    subject: "pd.Series[Any]"  # a list of words, by representative

    @classmethod
    def of(cls, source: TextSource, survey: Survey, cleaners: Sequence[Cleaner], rows: Rows) -> Self:
        """Find the neighbours of the odd documents in `rows`, by the words that the cleaners leave.

        The parts of the survey are languages, and there is a cleaner for each of them, in the same order.
        """
        representatives = np.unique(survey.representative[rows])
        representatives = representatives[(representatives >= 0) & survey.facts.has_words[representatives]]
        nearest = pd.Series(-1, representatives)
        subject = pd.Series([()] * len(representatives), representatives, dtype=object)
        for language, cleaner in enumerate(cleaners):
            of_language = representatives[survey.part[representatives] == language]
            if not len(of_language):
                continue
            sample = survey.sample(np.flatnonzero(survey.part == language))
            compared = np.union1d(sample[survey.facts.has_words[sample]], of_language)
            counts, words = count_words(cleaner.cleaned([*source.at(compared)]))
            if not len(words):  # they are all stop words, which the cleaner of the detector may keep
                continue
            weights = csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
            for begin in range(0, len(of_language), _AT_A_TIME):
                block = of_language[begin : begin + _AT_A_TIME]
                similar = _most_similar(weights, np.searchsorted(compared, block))
                has_one = np.diff(similar.indptr) > 0
                first = similar.indptr[:-1][has_one]  # the most similar document comes first
                nearest[block[has_one]] = compared[similar.indices[first]]
                subject[block] = [words[numbers].tolist() for numbers in _shared_words(similar, weights)]
        return cls(survey.representative, nearest, subject)

    def with_columns(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return documents with the columns ``nearest`` and ``subject``, empty for the other documents."""
        places = pd.Series(self.representative[table["row"]], table.index)
        nearest = places.map(self.nearest).astype("Int64")
        subjects = dict(zip(self.subject.index, self.subject, strict=True))
        return table.assign(nearest=nearest.where(nearest >= 0), subject=words_at(places, subjects))


def _most_similar(weights: "csr_matrix[Any]", places: Rows) -> "csr_matrix[Any]":
    """Return the similarities of some documents to the most similar other documents, the largest first."""
    similar: csr_matrix[Any] = sp_matmul_topn(
        weights[places], weights.T.tocsr(), top_n=_N_NEAREST + 1, sort=True, n_threads=1
    )
    own, others = np.repeat(places, np.diff(similar.indptr)), similar.indices
    is_in = weights.sign()
    n_common = np.asarray(is_in[own].multiply(is_in[others]).sum(axis=1)).ravel()
    similar.data[(own == others) | (n_common < _N_COMMON)] = 0
    similar.eliminate_zeros()
    return similar


def _shared_words(similar: "csr_matrix[Any]", weights: "csr_matrix[Any]") -> list[NDArray[np.int32]]:
    """Return the numbers of the words of each subject, the largest weight first."""
    is_similar = similar.sign()
    is_shared = (is_similar @ weights.sign()) >= _N_SHARING
    of_words = csr_matrix((is_similar @ weights).multiply(is_shared))
    entries = zip(of_words.indptr[:-1], of_words.indptr[1:], strict=True)
    return [
        of_words.indices[begin:end][np.argsort(-of_words.data[begin:end], kind="stable")[:_N_WORDS]]
        for begin, end in entries
    ]
