"""Benchmark of CVDD: an epoch, compared with a simple one (padded, in random order, with repeated words).

The texts are made up, because only their lengths and the repetition of words matter. Their number and lengths
are as in the largest class of 20 Newsgroups (comp: 2,857).
"""

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_array
from timing import compare

from adbench_text.detectors.cvdd.contexts import (
    Bags,
    ContextNetwork,
    Phase,
    Training,
    losses_of,
    train,
)

N_TEXTS, N_WORDS, DIMENSIONS, HEADS, BATCH = 2857, 8000, 50, 3, 64
DEVICES = ["cpu", "cuda"][: 1 + torch.cuda.is_available()]


def made_up():
    """Return the word numbers of each text, in order."""
    rng = np.random.default_rng(0)
    zipf = 1 / (np.arange(N_WORDS) + 2.7)
    lengths = np.clip(rng.lognormal(4, 1, N_TEXTS), 3, 4000).astype(int)
    return [rng.choice(N_WORDS, n, p=zipf / zipf.sum()) for n in lengths]


def network(device="cpu"):
    random = torch.Generator().manual_seed(0)
    contexts = F.normalize(torch.randn(HEADS, DIMENSIONS, generator=random))
    return ContextNetwork(contexts, random).to(device)


def vectors_of_words():
    return np.random.default_rng(1).normal(size=(N_WORDS, DIMENSIONS)).astype(np.float32)


def epoch_on(device, texts):
    """Return a function that trains for an epoch."""
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    counts = csr_array((np.ones(len(rows)), (rows, np.concatenate(texts))), shape=(len(texts), N_WORDS))
    vocabulary = np.arange(N_WORDS).astype(str).astype(object)
    bags = Bags(counts, vocabulary, vectors_of_words(), torch.device(device))
    of, training = network(device), Training([Phase(0.0, 0.01)], BATCH, 1.0, 0.0, 0)
    return lambda: train(of, bags, np.arange(len(texts)), training)


def padded_epoch(texts):
    """Return a function that trains for an epoch in the simplest way."""
    table, of = torch.from_numpy(vectors_of_words()), network()
    optimizer = torch.optim.Adam(of.parameters(), 0.01, weight_decay=5e-7)

    def epoch():
        order = np.random.default_rng(0).permutation(len(texts))
        for begin in range(0, len(order), BATCH):
            ids = [torch.from_numpy(texts[row]) for row in order[begin : begin + BATCH]]
            log_counts = [torch.zeros(len(text)) for text in ids]
            vectors = table[torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)]
            pads = torch.nn.utils.rnn.pad_sequence(log_counts, batch_first=True, padding_value=-torch.inf)
            optimizer.zero_grad()
            losses = losses_of(of(vectors, pads).distances, of.contexts, 0.0, 1.0)
            torch.autograd.backward(losses.total)
            torch.nn.utils.clip_grad_norm_(of.parameters(), 0.5)
            optimizer.step()

    return epoch


if __name__ == "__main__":
    texts = made_up()
    epochs = {f"on {device}": epoch_on(device, texts) for device in DEVICES}
    epochs["padded, in random order, on cpu"] = padded_epoch(texts)
    compare("An epoch of CVDD, comp of 20 Newsgroups", epochs)
