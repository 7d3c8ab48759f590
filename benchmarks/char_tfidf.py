"""A plain baseline for languages: the mean cosine distance to five neighbours by TF-IDF of characters.

    adbench-text run -d benchmarks/char_tfidf.py:CharTFIDF -s 'sib-200:*' --contamination 0,0.1

It follows the documentation of scikit-learn, and reads raw documents.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

_NEIGHBOURS = 5


class CharTFIDF:
    """The mean cosine distance to the five nearest training documents."""

    reads_raw = True

    def fit(self, texts: list[str]) -> "CharTFIDF":
        """Learn the weights of n-grams, and keep the training documents."""
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
        self._training = self._vectorizer.fit_transform(texts)
        return self

    def decision_function(self, texts: list[str]) -> np.ndarray:
        """Return the distance of each document; a training document is one of its neighbours."""
        similarity = (self._vectorizer.transform(texts) @ self._training.T).toarray()
        return np.asarray(1 - np.sort(similarity, axis=1)[:, -_NEIGHBOURS:].mean(axis=1))
