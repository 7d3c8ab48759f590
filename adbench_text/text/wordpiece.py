"""WordPiece: cut documents into numbered pieces of words, with BERT's vocabulary or a trained one."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import without_surrogates
from adbench_text.memo import remember
from adbench_text.storage import RemoteFile
from adbench_text.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VocabularyName = Literal["trained", "bert-base-uncased"]
VOCABULARIES: tuple[VocabularyName, ...] = get_args(VocabularyName)
TRAINED, BERT = VOCABULARIES
FETCHED = f"{BERT}-vocab"  # its name for ``adbench-text fetch``

#: The vocabulary of BERT base, uncased: 30,522 pieces, nearly in order of frequency.
BERT_FILE = RemoteFile(
    "vocab/bert-base-uncased-vocab.txt",
    "https://huggingface.co/bert-base-uncased/resolve/main/vocab.txt",
    md5="64800d5d8528ce344256daf115d4965e",
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FIRST = 5  # the first id that may replace a token; BERT's vocabulary then includes unused ids

_CHUNK = re.compile(r"\S+")


class Pieces(NamedTuple):
    """Word pieces of documents: document i has ``ids[ends[i]:ends[i + 1]]``; ends begins with 0."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]


class WordPiece:
    """A vocabulary of lower-case word pieces; `bert` and `train` make one."""

    def __init__(self, tokenizer: "Tokenizer", digest: str = "") -> None:
        self._tokenizer, self.digest = tokenizer, digest  # of its file, if it has one
        self._lexicon: dict[str, list[int]] = {}  # the pieces of every word met so far
        self.size = tokenizer.get_vocab_size()
        number_of = tokenizer.get_vocab()
        self.special = [number_of[token] for token in SPECIAL]
        self.pad, self.unknown, self.cls, self.sep, self.mask = self.special

    def __getstate__(self) -> dict[str, Any]:
        return {"pieces": Vocabulary(self.pieces), "digest": self.digest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(_tokenizer(state["pieces"].words), state["digest"])  # type: ignore[misc]

    @property
    def pieces(self) -> list[str]:
        """All pieces, in order of their ids."""
        number_of = self._tokenizer.get_vocab()
        return sorted(number_of, key=number_of.__getitem__)

    def encode(self, texts: Sequence[str]) -> Pieces:
        """Cut documents into pieces, without [CLS] and [SEP]; every word is cut only once."""
        chunks = [text.split() for text in texts]
        new = sorted({word for words in chunks for word in words}.difference(self._lexicon))
        sound = [without_surrogates(word) for word in new]
        encoded = self._tokenizer.encode_batch(sound, add_special_tokens=False)
        self._lexicon |= {word: encoding.ids for word, encoding in zip(new, encoded, strict=True)}
        ids, ends, lexicon = list[int](), [0], self._lexicon
        for words in chunks:
            for word in words:
                ids += lexicon[word]
            ends.append(len(ids))
        return Pieces(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int64))

    def words(self, text: str) -> list[tuple[int, int, int]]:
        """Return the start, the end and the number of pieces of each word of a document, in order."""
        words = []
        for chunk in _CHUNK.finditer(text):
            encoding = self._tokenizer.encode(without_surrogates(chunk.group()), add_special_tokens=False)
            numbered = zip(encoding.word_ids, encoding.offsets, strict=True)
            for _, pieces in groupby(numbered, key=itemgetter(0)):
                offsets = [offset for _, offset in pieces]
                start, end = chunk.start() + offsets[0][0], chunk.start() + offsets[-1][1]
                words.append((start, end, len(offsets)))
        return words


def _tokenizer(pieces: Iterable[str]) -> "Tokenizer":
    """Return a tokenizer for these pieces, numbered in order."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def bert() -> WordPiece:
    """Return BERT's vocabulary from its file in the data directory; nothing is downloaded."""
    if not BERT_FILE.is_here:
        raise DataError(
            f"The vocabulary {BERT} is not at {BERT_FILE.local}. Run: adbench-text fetch {FETCHED}; "
            f"or use --set vocabulary={TRAINED}."
        )
    return _bert(storage.file_digest(BERT_FILE.fetch()))


@remember(1)
def _bert(digest: str) -> WordPiece:
    lines = BERT_FILE.local.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return WordPiece(_tokenizer(lines), digest[:16])


def train(texts: Iterable[str], size: int) -> WordPiece:
    """Train a vocabulary of at most `size` pieces on documents; equal documents give an equal vocabulary."""
    return _train((tuple(texts), size))


@remember(2)
def _train(corpus_and_size: tuple[tuple[str, ...], int]) -> WordPiece:
    from tokenizers import trainers

    texts, size = corpus_and_size
    counts = Counter(without_surrogates(word) for text in texts for word in text.split())
    tokenizer = _tokenizer([])
    forms: Counter[str] = Counter()  # of characters at the beginning of a word, and within a word
    for word, count in counts.items():
        for part, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(word)):
            for letter in part:
                forms[letter] += count
                if len(part) > 1:  # punctuation and Chinese characters are words of one character
                    forms[f"##{letter}"] += count
    if not forms:
        raise InvalidValueError(
            "The training texts have no words to train a vocabulary on; they need at least one."
        )
    # The trainer numbers letters in the order of a hash map, and the numbers decide between equally frequent
    # pairs. Letters that are named beforehand always have the same numbers.
    alphabet = sorted(forms)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=[*SPECIAL, *alphabet], show_progress=False, min_frequency=2
    )
    words = (word for word, count in sorted(counts.items()) for _ in range(count))
    tokenizer.train_from_iterator(words, trainer)
    merged = set(tokenizer.get_vocab()) - set(SPECIAL) - set(alphabet)
    # without room for all letters nothing is merged, and only the frequent letters are kept
    kept = sorted(forms, key=lambda form: (-forms[form], form))[: size - len(SPECIAL)]
    return WordPiece(_tokenizer([*SPECIAL, *sorted(merged | set(kept))]))
