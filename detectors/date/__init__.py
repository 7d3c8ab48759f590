"""DATE: a transformer trained from scratch to recognise replaced tokens and mask patterns.

One of K fixed mask patterns chooses tokens, and a generator replaces them. A discriminator learns
which tokens were replaced (RTD) and which pattern was used (RMD). A clean document is abnormal
if the discriminator takes its tokens for replaced ones.

With a uniform generator the score is nearly a likelihood ratio of word pieces between training
text and generator. A vocabulary that was trained on the inliers has no foreign words, so a uniform
generator cannot show them to the network. BERT's vocabulary is outside knowledge; it is the default
because it was better on ``pydocs`` (reports/results/date.md). The draws of the generator count as
ordinary text: ``generator="english"`` draws pieces by their frequency in English, and ``prior=True`` gives
the network the likelihood ratio, so that it learns only what context adds. Neither is in the paper.

Differences from the paper (P) or its released code (C); the preset ``paper`` follows the paper, and has the
effect of the code where the paper says nothing:

- Dropout is 0, except for learned generators (0.1). C sets 0.5 in the discriminator, but an
  evaluation after the first step turns it off permanently.
- All K patterns remain as drawn. In C, the same evaluation erases pattern 0.
- Pads get no attention, and RTD is averaged only over the tokens after [CLS]. C has no
  attention mask, and averages over pads (77 % of a batch of AG News), [CLS] and [SEP].
- The first word piece is masked if its pattern masks it. C always masks it.
- As in C, [SEP] of a window that is not full may be masked and counts as a token; in a full
  window it counts only in the RTD loss.
- If masks are drawn for each batch (``n_patterns=0``), every token is drawn independently, as in C.
- All weights have the same decay. C decays biases and LayerNorm weights by 0.01, although it meant 0:
  at a learning rate of 1e-5 neither has an effect.
- The random generator draws from all ids from 5 on (C leaves out the last), and no other generator
  runs. C also runs the learned generator, and discards its output.
- The last window of a long document ends with the document. C adds windows while they begin inside the
  document. So its last window may have only pieces of the window before, and has the same weight as others.
- Batches have windows of similar length. They are computed in bfloat16 if the hardware has it;
  scores are computed in fp32, so that they depend only on the document.
- The result is taken after the last step: after 5,000 steps, where P reports convergence, or after 30 epochs
  if they end earlier. C scores the test set every 500 steps of 20 epochs of AG News, which are 37,500
  steps. P states no rule, and C has no script for 20 Newsgroups, whose smallest class has 577 documents.

References
----------
A. Manolache, F. Brad, E. Burceanu: DATE: Detecting Anomalies in Text via Self-Supervision of Transformers.
NAACL 2021.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar, Final, Literal, Self, Unpack, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from adbench_text.checks import Boolean, Choice, Number, Range, Whole, seed_or_draw
from adbench_text.contract.detector import SharedParams, TextDetector, TokenScore
from adbench_text.contract.scores import FROM_SCRATCH, WORDS
from adbench_text.detectors._devices import (
    DEVICE,
    PRECISION,
    describe,
    device_to_load_on,
    find_device,
    find_dtype,
    load_weights,
    weights_of,
)
from adbench_text.detectors.date import frequencies
from adbench_text.detectors.date.corruption import (
    FrequencyGenerator,
    LearnedGenerator,
    RandomGenerator,
    mask_patterns,
)
from adbench_text.detectors.date.electra import Discriminator, Embeddings, Objective, Shape
from adbench_text.detectors.date.scoring import WindowScore, rmd_scores, token_scores, window_scores
from adbench_text.detectors.date.training import Training, train
from adbench_text.detectors.date.windows import Windows
from adbench_text.devices import Device, Precision
from adbench_text.errors import InvalidValueError
from adbench_text.text import wordpiece
from adbench_text.text.wordpiece import BERT, VOCABULARIES, VocabularyName, WordPiece

Frequencies = NDArray[np.float64]  # of word pieces, (V,)
GeneratorName = Literal["random", "english", "small", "large"]
_DRAWN: dict[GeneratorName, Callable[[WordPiece], Frequencies]] = {
    "random": frequencies.uniform,
    "english": frequencies.english,
}
_LEARNED: dict[GeneratorName, int] = {"small": 16, "large": 64}  # width of the masked language model
ScoreName = Literal[WindowScore, "pl_rmd"]
_PL_RMD: Final = "pl_rmd"
_MOST_PIECES = 30522  # of a trained vocabulary, as in BERT's

# At most a fifth of the default's steps: 11 epochs instead of 30, with batches of twice the size.
_FAST: dict[str, Any] = {
    "steps": 1000,
    "epochs": 11,
    "batch_size": 32,
    "learning_rate": 3e-5,
    "embedding_learning_rate": 1e-4,
}

# The network learns in a few epochs what context adds to the prior; then it memorises.
_PRIOR = {**_FAST, "epochs": 3, "generator": "english", "prior": True, "score": "log_odds"}


class DATE(TextDetector):
    """DATE; see the head of the module.

    The preset ``paper`` is the paper's configuration for 20 Newsgroups and AG News (other datasets have the
    latter); a benchmark uses it for plain ``date``. ``electra`` is the paper's "ELECTRA adapted for anomaly
    detection". ``fast`` needs at most a fifth of the default's steps, and its AUROC on ``pydocs`` is within a
    point. ``english`` is ``paper`` with draws by the frequency of English words. ``prior`` begins with the
    log-odds of each piece and trains for at most three epochs.

    Parameters
    ----------
    vocabulary : {"bert-base-uncased", "trained"}
        BERT's word pieces, or a vocabulary of at most the same size, trained on the training documents.
    max_length : int, default 128
        Word pieces in a window; longer documents are cut into windows that overlap by a fifth.
    n_patterns : int, default 50
        Number of mask patterns; 0 draws the masks for each batch, without RMD.
    mask_share : float, default 0.5
        Share of positions that a pattern masks, in (0, 1); without patterns, the chance that a token is
        masked.
    generator : {"random", "english", "small", "large"}, default "random"
        How to replace masked tokens: uniform draws, draws by the frequency of words in English
        (wordfreq's words, cut into pieces), or a masked language model with one layer of width 16 or 64,
        which learns together with the discriminator.
    prior : bool, default False
        Add the log-odds of each piece, from its counts, to the logit of "replaced". Then the network learns
        only what the other tokens say about it. With ``steps=0`` these counts are the detector; see
        `adbench_text.detectors.date.frequencies.log_odds`. Not for a learned generator.
    rtd_weight, rmd_weight : float, default 50 and 100
        Weights of the losses, at least 0; the loss of a learned generator has weight 1.
    score : {"pl", "mp", "ne", "log_odds", "pl_rmd"}, default "pl"
        Pseudo-label, maximum probability or negative entropy over RTD, the mean log-odds of "replaced"
        over the pieces, or pseudo-label over RMD (one pass per pattern). Log-odds are negative for documents
        that look normal, and 0 for a document without pieces.
    steps : int, default 5000
        Largest number of training batches; the paper converges after about 5,000. With 0 the networks
        remain random.
    epochs : int, default 30
        Largest number of passes over the training windows. A network that has seen a few hundred documents
        a hundred times memorises them and no longer generalises; chosen on ``pydocs``.
    batch_size : int, default 16
        Windows in a batch.
    learning_rate : float, default 1e-5
        Learning rate of AdamW with AMSGrad and a weight decay of 0.1; gradients are clipped to norm 1.
    embedding_learning_rate : float, optional
        Learning rate of the token embeddings; by default `learning_rate`. A step changes only the embeddings
        of the pieces that it reads, so a short training needs a higher rate for them.
    dropout : float, default 0
        Share of the discriminator's activations that training drops, in [0, 1).
    layers, hidden : int
        Depth and width of the discriminator; `hidden` must be a multiple of 4, the number of heads.
    device : {"auto", "cpu", "cuda"}, default "auto"
        ``auto`` takes a GPU if there is one.
    precision : {"auto", "bf16", "fp32"}, default "auto"
        Precision of the training; ``auto`` takes bfloat16 if the hardware multiplies in it.
    contamination, random_state
        See `TextDetector`. The same seed and device give the same scores; bfloat16 on a CPU also needs the
        same number of threads.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> small = {"layers": 1, "hidden": 32, "max_length": 16, "n_patterns": 5, "vocabulary": "trained"}
    >>> detector = DATE(steps=50, epochs=100, learning_rate=1e-3, random_state=0, **small).fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "vocabulary": Choice(VOCABULARIES),
        "max_length": Whole(1),
        "n_patterns": Whole(0),
        "mask_share": Number("(0, 1)"),
        "generator": Choice(get_args(GeneratorName)),
        "prior": Boolean(),
        "rtd_weight": Number("[0, inf)"),
        "rmd_weight": Number("[0, inf)"),
        "score": Choice(get_args(ScoreName)),
        "steps": Whole(0),
        "epochs": Whole(0),
        "batch_size": Whole(1),
        "learning_rate": Number("(0, inf)"),
        "embedding_learning_rate": Number("(0, inf)", nullable=True),
        "dropout": Number("[0, 1)"),
        "layers": Whole(1),
        "hidden": Whole(4),
        "device": DEVICE,
        "precision": PRECISION,
    }
    default_preset = "paper"
    # medians of both corpora: 146 s instead of 780 s on a split of 20 Newsgroups, 98 s instead of 292 s on a
    # split of AG News; an H100 needs 8 s there (reports/results/contamination.csv, date.md)
    faster: ClassVar[Mapping[str, float]] = {"fast": 0.25, "GPU": 0.03}
    computes_with = TextDetector.computes_with | {"tokenizers"}
    trusted_types = frozenset({"adbench_text.text.wordpiece.WordPiece"})
    not_saved: ClassVar[frozenset[str]] = frozenset({"_device"})
    test_settings: ClassVar[Mapping[str, Any]] = {
        "vocabulary": "trained",
        "max_length": 64,
        "n_patterns": 5,
        "steps": 100,
        "epochs": 1000,
        "learning_rate": 1e-3,
        "layers": 1,
        "hidden": 32,
    }

    def __init__(
        self,
        *,
        vocabulary: VocabularyName = BERT,
        max_length: int = 128,
        n_patterns: int = 50,
        mask_share: float = 0.5,
        generator: GeneratorName = "random",
        prior: bool = False,
        rtd_weight: float = 50.0,
        rmd_weight: float = 100.0,
        score: ScoreName = "pl",
        steps: int = 5000,
        epochs: int = 30,
        batch_size: int = 16,
        learning_rate: float = 1e-5,
        embedding_learning_rate: float | None = None,
        dropout: float = 0.0,
        layers: int = 4,
        hidden: int = 256,
        device: Device = "auto",
        precision: Precision = "auto",
        **shared: Unpack[SharedParams],
    ) -> None:
        super().__init__(**shared)
        self.vocabulary = vocabulary
        self.max_length = max_length
        self.n_patterns = n_patterns
        self.mask_share = mask_share
        self.generator = generator
        self.prior = prior
        self.rtd_weight = rtd_weight
        self.rmd_weight = rmd_weight
        self.score = score
        self.steps = steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.embedding_learning_rate = embedding_learning_rate
        self.dropout = dropout
        self.layers = layers
        self.hidden = hidden
        self.device = device
        self.precision = precision

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``paper`` (section 4.2), ``electra`` (section 4.4), ``fast``, ``english`` and ``prior``."""
        paper: dict[str, Any] = {"vocabulary": BERT, "max_length": 128, "n_patterns": 50, "mask_share": 0.5}
        if dataset == "20news":
            paper |= {"max_length": 498, "n_patterns": 25, "mask_share": 0.25}
        return {
            "paper": [paper],
            "english": [{**paper, "generator": "english"}],
            "prior": [_PRIOR],
            # Masks are drawn for each batch, so RMD has no pattern to recognise.
            "electra": [{**paper, "n_patterns": 0, "mask_share": 0.15, "rmd_weight": 0}],
            "fast": [_FAST],
        }

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of range, or two contradict each other."""
        super().check_params()
        if self.hidden % 4:
            raise InvalidValueError(f"hidden must be a multiple of 4, got {self.hidden}.")
        needed = "rmd_weight" if self.score == _PL_RMD else "rtd_weight"
        if not getattr(self, needed):
            raise InvalidValueError(
                f"score={self.score!r} needs a positive {needed}, got 0: nothing else learns this score."
            )
        if self.rmd_weight and not self.n_patterns:
            raise InvalidValueError(
                f"n_patterns=0 leaves RMD no pattern to recognise, got rmd_weight={self.rmd_weight:g}; "
                "set rmd_weight=0 too."
            )
        n_masked = int(self.mask_share * self.max_length)
        possible = math.comb(self.max_length, n_masked) if n_masked else 0
        if self.n_patterns > possible:
            raise InvalidValueError(
                f"n_patterns must be at most {possible}, the number of different patterns that mask "
                f"{n_masked} of {self.max_length} positions (mask_share * max_length), got {self.n_patterns}."
            )
        if self.prior and self.score == _PL_RMD:
            raise InvalidValueError(
                f"prior=true is of RTD, which score={_PL_RMD!r} does not read; use another score."
            )
        if self.prior and self.generator not in _DRAWN:
            raise InvalidValueError(
                f"prior=true needs a generator whose draws have known frequencies, got "
                f"generator={self.generator!r}; use one of {', '.join(_DRAWN)}."
            )

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents."""
        return WORDS if self.generator == "english" else FROM_SCRATCH

    def prepare(self, texts: Sequence[str]) -> None:
        """Cut the words of a corpus into BERT's pieces, once for all its splits."""
        if self.vocabulary == BERT:
            wordpiece.bert().encode(texts)

    def resources(self) -> dict[str, str]:
        """Return the digest of BERT's vocabulary and the version of wordfreq, where used."""
        used = {"vocabulary": wordpiece.bert().digest} if self.vocabulary == BERT else {}
        return used | ({"wordfreq": version("wordfreq")} if self.generator == "english" else {})

    def _fit(self, texts: list[str]) -> None:
        seed = seed_or_draw(self.random_state)
        self._device = find_device(self.device)
        dtype = find_dtype(self.precision, self._device)
        self.ran_on_ = {"device": describe(self._device), "precision": str(dtype).removeprefix("torch.")}
        if self.vocabulary == BERT:
            self._pieces = wordpiece.bert()
        else:
            self._pieces = wordpiece.train(texts, _MOST_PIECES)
        windows = self._windows(texts)
        drawn = _DRAWN[self.generator](self._pieces) if self.generator in _DRAWN else None
        prior = self._prior(texts, drawn) if self.prior and drawn is not None else None
        self._objective = self._build(self._pieces, seed, drawn, prior)
        n_steps = min(self.steps, self.epochs * math.ceil(len(windows) / self.batch_size))
        if n_steps < self.steps:
            self.ran_on_["steps"] = f"{n_steps:,} of {self.steps:,}, the end of epochs={self.epochs}"
        training = Training(
            n_steps,
            self.batch_size,
            self.learning_rate,
            self._objective.patterns,
            self.mask_share,
            seed,
            dtype,
            self.embedding_learning_rate,
        )
        train(self._objective, windows, training, self.observer)

    def _prior(self, texts: list[str], drawn: Frequencies) -> NDArray[np.float64]:
        counts = np.bincount(self._pieces.encode(texts).ids, minlength=self._pieces.size)
        return frequencies.log_odds(counts, drawn, self.mask_share, self._pieces.special)

    def _build(
        self, pieces: WordPiece, seed: int, drawn: Frequencies | None, prior: NDArray[np.float64] | None
    ) -> Objective:
        """Draw the weights, patterns and noise of the networks by a seed; see `_networks`."""
        # The initial weights come from the global generator of torch; the fork restores its state.
        with torch.random.fork_rng([]):
            torch.default_generator.manual_seed(seed)
            objective = self._networks(pieces, drawn, prior)
        # All is drawn on the CPU, so that a seed gives the same networks on every device.
        random = torch.Generator().manual_seed(seed)
        if self.n_patterns:
            objective.patterns = mask_patterns(self.n_patterns, self.max_length, self.mask_share, random)
        objective.noise = torch.rand((max(self.n_patterns, 1), self.max_length + 2), generator=random)
        return objective.to(self._device)

    def _networks(
        self,
        pieces: WordPiece,
        drawn: Frequencies | None = None,
        prior: NDArray[np.float64] | None = None,
    ) -> Objective:
        """Return the networks; `drawn` are the frequencies of pieces that ``"english"`` draws."""
        # Two more positions than pieces: [CLS] and [SEP].
        embeddings = Embeddings(pieces.size, self.max_length + 2)
        shape = Shape(self.hidden, self.layers, feed_forward=4 * self.hidden, dropout=self.dropout)
        log_odds = None if prior is None else torch.from_numpy(prior).float()
        # Without patterns the RMD head has one output, and its loss has weight 0.
        discriminator = Discriminator(embeddings, shape, max(self.n_patterns, 1), log_odds)
        generator: nn.Module
        if self.generator == "random":
            generator = RandomGenerator(wordpiece.FIRST, pieces.size)
        elif drawn is not None:
            generator = FrequencyGenerator(torch.from_numpy(drawn))
        else:
            # The depth, inner width and dropout of the paper's ablation.
            small = Shape(_LEARNED[self.generator], layers=1, feed_forward=1024, dropout=0.1)
            # Masks that are drawn for each batch may have any number of tokens.
            most = int(self.mask_share * self.max_length) if self.n_patterns else None
            generator = LearnedGenerator(embeddings, small, pieces.mask, most)
        return Objective(generator, discriminator, self.rtd_weight, self.rmd_weight)

    def learned(self) -> dict[str, Any]:
        """Return the learned attributes and the weights of the networks, as arrays."""
        return {**super().learned(), "_objective": weights_of(self._objective)}

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that `learned` returned."""
        super().restore(learned)
        self._device = device_to_load_on(self.device)
        # networks of the right shapes, which need any frequencies; then all numbers are replaced
        alike = frequencies.uniform(self._pieces)
        drawn, prior = (alike if given else None for given in (self.generator in _DRAWN, self.prior))
        self._objective = self._build(self._pieces, 0, drawn, prior)
        load_weights(self._objective, learned["_objective"])
        return self

    def _windows(self, texts: Sequence[str]) -> Windows:
        return Windows(self._pieces.encode(texts), self._pieces, self.max_length).to(self._device)

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        windows = self._windows(texts)
        self._objective.eval()
        patterns, noise = self._objective.patterns, self._objective.noise
        if self.score == _PL_RMD:
            assert patterns is not None  # see check_params
            of_window = rmd_scores(self._objective, windows, patterns, noise)
        else:
            of_window = window_scores(self._objective.discriminator, windows, self.score)
        return np.bincount(windows.text, of_window) / np.bincount(windows.text)

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the abnormality of each word of each document: the mean of its word pieces.

        The score of a document is the mean over its pieces and [SEP]; with log-odds, only over its pieces. If
        it has several windows, it is their mean. ``pl_rmd`` judges complete documents, so it has no word
        scores.
        """
        texts = self._check_fitted(texts)
        if self.score == _PL_RMD:
            raise InvalidValueError(
                f"score={_PL_RMD!r} judges complete documents; tokens have no scores. Use another score."
            )
        self._objective.eval()
        of_text = token_scores(self._objective.discriminator, self._windows(texts), self.score)
        return [self._of_words(*pair) for pair in zip(texts, of_text, strict=True)]

    def _of_words(self, text: str, of_piece: NDArray[np.float64]) -> list[TokenScore]:
        scores, end = [], 0
        # Words have the order of their pieces: each takes the next pieces.
        for start, stop, n_pieces in self._pieces.words(text):
            begin, end = end, end + n_pieces
            scores.append(TokenScore(text[start:stop], start, stop, float(of_piece[begin:end].mean())))
        return scores
