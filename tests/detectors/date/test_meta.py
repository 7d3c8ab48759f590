"""A training step of DATE on the device "meta", where tensors have shapes and devices and no values.

Whatever waits for a value raises there, and so does an operation on two devices. So a step that passes
keeps a GPU busy: its host never waits. Only the optimizer is left out, whose fused kernel has no such form.
"""

import numpy as np
import pytest
import torch

from adbench_text.detectors.date import DATE, corruption, frequencies
from adbench_text.detectors.date.corruption import mask_patterns
from adbench_text.detectors.date.electra import Embeddings, Losses, Shape, is_real
from adbench_text.detectors.date.training import Training
from adbench_text.detectors.date.windows import Windows
from adbench_text.text import wordpiece

META = torch.device("meta")
CPU_GENERATOR = torch.Generator()
TEXTS = ["the ship left the harbour", "a storm hit the crew of the ship", "", "sail " * 60] * 4


class Draws:
    """The generator of random numbers of the device, which has no seed."""

    def __init__(self, device: torch.device) -> None:
        assert device == META

    def manual_seed(self, seed: int) -> None:
        return None


def losses_of_a_step(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, **settings: object) -> Losses:
    """Do what a step does before its optimizer, and return the losses; each weight must have a gradient."""
    monkeypatch.setattr(torch, "Generator", Draws)
    pieces = wordpiece.train(TEXTS, 60)
    detector = DATE(layers=2, hidden=32, max_length=32, **settings)
    drawn = frequencies.english(pieces) if detector.generator == "english" else None
    prior = np.zeros(pieces.size) if detector.prior else None
    objective = detector._networks(pieces, drawn, prior).to(META).to(dtype).train()
    windows = Windows(pieces.encode(TEXTS), pieces, 32).to(META)
    patterns = None
    if detector.n_patterns:
        patterns = mask_patterns(detector.n_patterns, 32, 0.5, CPU_GENERATOR).to(META)
    training = Training(10, 8, 1e-3, patterns, 0.5, 0, dtype)
    ids, lengths = windows.batch(np.arange(8))
    # torch has no autocast for this device: the weights themselves have the type
    losses = objective(ids, lengths, training.corruption(1, ids, lengths))
    losses.total.backward()
    losses = Losses(*(loss.detach() for loss in losses))
    sums = torch.zeros(len(losses), device=META)
    sums += torch.stack(losses)  # as `train` adds them up
    without = [name for name, weight in objective.named_parameters() if weight.grad is None]
    assert without == ([] if detector.rmd_weight else [n for n in without if ".rmd_head." in n])
    return losses


PATTERNS = pytest.mark.parametrize(
    "settings",
    [{"n_patterns": 5}, {"n_patterns": 0, "rmd_weight": 0.0}, {"n_patterns": 5, "dropout": 0.1}],
    ids=["patterns", "no patterns", "dropout"],
)


@PATTERNS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_step_waits_for_no_value_and_mixes_no_devices(monkeypatch, dtype, settings):
    losses = losses_of_a_step(monkeypatch, dtype, **settings)
    assert {(loss.device, loss.shape) for loss in losses} == {(META, ())}


@PATTERNS
@pytest.mark.parametrize("generator", ["small", "large"])
def test_a_step_with_a_learned_generator_waits_for_no_value(monkeypatch, generator, settings):
    losses = losses_of_a_step(monkeypatch, torch.float32, generator=generator, **settings)
    assert {(loss.device, loss.shape) for loss in losses} == {(META, ())}


@pytest.mark.slow
@PATTERNS
def test_a_step_with_a_prior_waits_for_no_value(monkeypatch, settings):
    losses = losses_of_a_step(monkeypatch, torch.float32, generator="english", prior=True, **settings)
    assert {(loss.device, loss.shape) for loss in losses} == {(META, ())}


def test_a_step_that_waits_is_noticed(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "masked_fill_", lambda self, mask, value: self * mask.sum().item())
    with pytest.raises(RuntimeError, match="meta"):
        losses_of_a_step(monkeypatch, torch.float32, n_patterns=5)


def test_a_learned_generator_replaces_the_same_tokens_on_every_device(monkeypatch):
    def elsewhere(masked: torch.Tensor, most: int | None) -> tuple[torch.Tensor, torch.Tensor]:
        class Masked:  # reports another device
            device, shape, flatten = META, masked.shape, masked.flatten

        return places(Masked, most)

    places = corruption._places
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        generator = corruption.LearnedGenerator(Embeddings(50, 12, size=16), Shape(16, 1, 4, 32), 3, most=5)
        ids, noise = torch.randint(5, 50, (4, 12)), torch.rand(4, 12)
    lengths = torch.tensor([12, 7, 2, 12])
    masked = mask_patterns(4, 10, 0.5, CPU_GENERATOR) & is_real(ids, lengths)
    here, loss = generator(ids, lengths, masked, noise)
    monkeypatch.setattr(corruption, "_places", elsewhere)
    there, other = generator(ids, lengths, masked, noise)
    assert (here != ids).any()
    torch.testing.assert_close(there, here, rtol=0, atol=0)
    torch.testing.assert_close(other, loss)
