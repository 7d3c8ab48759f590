"""AdamW with AMSGrad for a network trained in half precision, most of whose embeddings have no gradient.

Two things that torch's own optimiser does not do:

- all weights, and all gradients, are views of one vector each: one kernel instead of hundreds;
- the rows of an embedding that a batch does not read still move (their momentum fades, their
  weights decay). That motion has a closed form, so it is made up for when a row is next read.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

BETAS, EPS = (0.9, 0.999), 1e-8
_MOMENTS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")  # of torch's AdamW with AMSGrad


class FlatAdamW:
    """AdamW (amsgrad) with gradient clipping (Loshchilov and Hutter, 2019; Reddi et al., 2018).

    Parameters
    ----------
    module : nn.Module
        Holds the weights in fp32, all on one device; they become views of one vector.
    working : nn.Module
        Computes the gradients: `module` itself, or a copy of it of another type whose weights
        follow those of `module`.
    token : nn.Embedding
        The token embedding of `module`. If its gradients are sparse, `working` shares its weights, and
        they are updated row by row.
    dtype : torch.dtype
        What `working` computes in.
    n_steps : int
        How many steps there will be.
    learning_rate, weight_decay : float
    embedding_learning_rate : float, optional
        Learning rate of the token embedding, if it is not `learning_rate`.
    max_norm : float
        Maximum norm of all gradients together; larger ones are scaled down to it.
    """

    def __init__(
        self,
        module: nn.Module,
        working: nn.Module,
        token: nn.Embedding,
        dtype: torch.dtype,
        n_steps: int,
        learning_rate: float,
        weight_decay: float,
        embedding_learning_rate: float | None = None,
        max_norm: float = 1.0,
    ) -> None:
        self.max_norm, self._module = max_norm, module
        token_rate = learning_rate if embedding_learning_rate is None else embedding_learning_rate
        table = token.weight if token.sparse else None
        self._rows = None if table is None else LazyRows(table, n_steps, token_rate, weight_decay)
        self._master = _flatten(module, table, torch.float32)
        # In fp32 both are the same vector, and a step of the optimiser is all that is needed.
        self._working = self._master
        if working is not module:
            self._working = _flatten(working, table, dtype)
        # backward() adds to a gradient that exists in place, and so fills the vector through its views.
        self._gradient = torch.zeros_like(self._working)
        _spread(self._gradient, working, table, "grad")
        # The optimiser has a gradient of its own, in fp32: small updates would vanish in bfloat16.
        self._full_gradient = torch.zeros_like(self._master)
        rates = [(len(self._master), learning_rate)]
        if table is None and token_rate != learning_rate:
            rates = _rates(module, token.weight, learning_rate, token_rate)
        self._sizes = [size for size, _ in rates]
        self._stretches = [nn.Parameter(part) for part in torch.split(self._master, self._sizes)]
        for p, part in zip(self._stretches, torch.split(self._full_gradient, self._sizes), strict=True):
            p.grad = part
        groups = [{"params": [p], "lr": rate} for p, (_, rate) in zip(self._stretches, rates, strict=True)]
        self._adamw = torch.optim.AdamW(
            groups, learning_rate, BETAS, EPS, weight_decay, amsgrad=True, fused=True
        )
        self._table = table

    def read(self, ids: Tensor) -> None:
        """Bring the rows of the table that are about to be read up to date."""
        if self._rows is not None:
            self._rows.catch_up(torch.unique(ids))

    @torch.no_grad()
    def step(self) -> None:
        """Update all weights from their gradients, and clear these."""
        gradient = self._full_gradient
        gradient.copy_(self._gradient)  # from bfloat16 to fp32, where they differ
        norms = [torch.linalg.vector_norm(gradient)]
        if self._rows is not None:
            rows, values = self._rows.gradient()
            norms.append(torch.linalg.vector_norm(values))
        # The norm of norms is that of all gradients together: one clipping for weights and rows.
        norm = torch.linalg.vector_norm(torch.stack(norms))
        # Computed without an `if`, which would wait for the device; 1e-6 as in clip_grad_norm_.
        scale = (self.max_norm / (norm + 1e-6)).clamp(max=1.0)
        gradient.mul_(scale)
        self._adamw.step()
        if self._working.dtype != self._master.dtype:
            self._working.copy_(self._master)
        if self._rows is not None:
            # After the weights, in the same step: rows count their own steps and must not fall behind.
            self._rows.step(rows, values.mul_(scale))
        self._gradient.zero_()

    def forget(self) -> None:
        """Clear the gradients without a step."""
        self._gradient.zero_()
        if self._table is not None:
            self._table.grad = None

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Bring all rows of the table up to date for a look at the network, and put them back."""
        if self._rows is None:
            yield
            return
        # Catching up in two stages rounds otherwise than in one; putting the rows back keeps the training
        # the same to the last bit, whether it is looked at or not.
        before = {name: value.clone() for name, value in self._rows.state().items()}
        self._rows.finish()
        try:
            yield
        finally:
            self._rows.load(before)

    def finish(self) -> None:
        """Bring all rows of the table up to date, for good, and give each weight its own memory."""
        if self._rows is not None:
            self._rows.finish()
        for p in _own(self._module, self._table):  # a pickled view takes all of its vector along
            p.data = p.data.clone()
            p.grad = None

    def state(self) -> dict[str, Tensor]:
        """Return everything that a training continues from, by name."""
        moments = [self._adamw.state[p] for p in self._stretches]
        state = {f"flat.{name}": torch.cat([moment[name] for moment in moments]) for name in _MOMENTS}
        state |= {"flat.step": moments[0]["step"], "flat.weight": self._master}
        return state | (self._rows.state() if self._rows is not None else {})

    @torch.no_grad()
    def load(self, state: dict[str, Tensor]) -> None:
        """Continue from a `state`."""
        # The moments are set by hand: the optimiser makes them only in its first step.
        for i, p in enumerate(self._stretches):
            parts = {name: torch.split(state[f"flat.{name}"], self._sizes)[i] for name in _MOMENTS}
            # Each stretch counts its own steps, hence a copy.
            state_of_p = {"step": state["flat.step"], **parts}
            self._adamw.state[p] = {name: value.clone() for name, value in state_of_p.items()}
        self._master.copy_(state["flat.weight"])
        self._working.copy_(self._master)
        if self._rows is not None:
            self._rows.load(state)


def _own(module: nn.Module, table: Tensor | None) -> list[nn.Parameter]:
    return [p for p in module.parameters() if p is not table]


def _flatten(module: nn.Module, table: Tensor | None, dtype: torch.dtype) -> Tensor:
    """Put the weights of a module into one vector and make them views of it."""
    flat = torch.cat([p.detach().flatten() for p in _own(module, table)]).to(dtype)
    _spread(flat, module, table, "data")
    return flat


def _spread(flat: Tensor, module: nn.Module, table: Tensor | None, name: str) -> None:
    parameters = _own(module, table)
    for p, part in zip(parameters, torch.split(flat, [p.numel() for p in parameters]), strict=True):
        setattr(p, name, part.view(p.shape))


def _rates(module: nn.Module, weight: Tensor, rate: float, its_rate: float) -> list[tuple[int, float]]:
    """Return the stretches of a flat vector, (size, learning rate): one parameter has a rate of its own."""
    sizes = [p.numel() for p in module.parameters()]
    (place,) = (i for i, p in enumerate(module.parameters()) if p is weight)
    before, after = sum(sizes[:place]), sum(sizes[place + 1 :])
    stretches = [(before, rate), (sizes[place], its_rate), (after, rate)]
    return [(size, rate) for size, rate in stretches if size]


class LazyRows:
    """AdamW (amsgrad) of an embedding's rows, each caught up with only when it is read.

    A row without gradients has at step s + k the first moment b1^k m_s, while its greatest second
    moment stays. With d = 1 - lr * decay it is after j steps

        d^j [ w_s - lr m_s / (sqrt(v_max) + eps(s)) sum over k = 1 .. j of (b1 / d)^k c(s + k) ],

    with c(t) = sqrt(1 - b2^t) / (1 - b1^t) the bias corrections and eps(t) = eps sqrt(1 - b2^t), taken
    at s. That sum is G(s) - (b1 / d)^j G(s + j), with G(s) the sum to infinity, tabulated once.

    Parameters
    ----------
    weight : Tensor of shape (n_rows, size)
        On the CPU.
    n_steps, learning_rate, weight_decay
        See `FlatAdamW`.
    """

    def __init__(self, weight: Tensor, n_steps: int, learning_rate: float, weight_decay: float) -> None:
        self.weight = weight
        self.learning_rate, self.keep = learning_rate, 1 - learning_rate * weight_decay
        self.moments = weight.new_zeros(3, *weight.shape)  # first, second, greatest second
        self.last = torch.zeros(len(weight), dtype=torch.int64)  # the step up to which a row has come
        self.now = 0
        b1, b2 = BETAS
        tail = 400  # b1^400 is below 1e-18
        # max: a row that was never updated has s = 0, and 0 / (0 + 0) would be NaN.
        self.eps = weight.new_tensor([EPS * math.sqrt(1 - b2 ** max(t, 1)) for t in range(n_steps + 1)])
        self.correction = [math.sqrt(1 - b2**t) / (1 - b1**t) for t in range(1, n_steps + tail + 1)]
        # Backwards, since G(s) = b1 / d (c(s + 1) + G(s + 1)); in float64, since differences of G are taken.
        sums = [0.0] * (n_steps + tail + 1)
        for s in range(n_steps + tail - 1, -1, -1):
            sums[s] = (
                b1 / self.keep * (self.correction[s] + sums[s + 1])
            )  # correction[s] is that of step s + 1
        self.sums = torch.tensor(sums[: n_steps + 1], dtype=torch.float64)

    @torch.no_grad()
    def catch_up(self, rows: Tensor) -> None:
        """Let rows (n,), each once, make the steps they have missed."""
        # Rows that are up to date would only be rounded once more.
        rows = rows[self.last[rows] < self.now]
        last = self.last[rows]
        missed = (self.now - last).double()
        first, second, greatest = self.moments[:, rows]
        # The closed form of the class docstring, row by row.
        rest = self.sums[last] - (BETAS[0] / self.keep) ** missed * self.sums[self.now]
        step = _column(self.learning_rate * rest, first) * first
        step /= greatest.sqrt() + self.eps[last][:, None]
        self.weight[rows] = (self.weight[rows] - step) * _column(self.keep**missed, first)
        self.moments[0, rows] = first * _column(BETAS[0] ** missed, first)
        self.moments[1, rows] = second * _column(BETAS[1] ** missed, first)
        self.last[rows] = self.now

    def gradient(self) -> tuple[Tensor, Tensor]:
        """Return the rows that have a gradient, each once, and the gradients; forget them."""
        assert self.weight.grad is not None
        # A piece that occurs several times has several entries; coalescing adds them up.
        gradient = self.weight.grad.coalesce()
        self.weight.grad = None
        return gradient.indices()[0], gradient.values()

    @torch.no_grad()
    def step(self, rows: Tensor, gradient: Tensor) -> None:
        """Update rows (n,), caught up with, from their gradients (n, size)."""
        self.now += 1
        first, second, greatest = self.moments[:, rows]
        # Indexing by rows has copied the moments: they are changed in place and written back below.
        first.lerp_(gradient, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        greatest = torch.maximum(greatest, second)
        # Bias corrections as in torch: c(t) in the rate, eps scaled by the same square root.
        rate = self.learning_rate * self.correction[self.now - 1]
        divisor = greatest.sqrt() + self.eps[self.now]
        self.weight[rows] = (self.weight[rows] * self.keep).addcdiv_(first, divisor, value=-rate)
        self.moments[:, rows] = torch.stack([first, second, greatest])
        self.last[rows] = self.now

    def finish(self) -> None:
        """Let all rows come up to the last step."""
        self.catch_up(torch.arange(len(self.weight)))

    def state(self) -> dict[str, Tensor]:
        """Return what `load` needs, by name."""
        state = {"weight": self.weight.detach(), "moments": self.moments, "last": self.last}
        return {f"rows.{name}": value for name, value in state.items()} | {"rows.now": torch.tensor(self.now)}

    @torch.no_grad()
    def load(self, state: dict[str, Tensor]) -> None:
        """Continue from a `state`."""
        self.weight.copy_(state["rows.weight"])
        self.moments.copy_(state["rows.moments"])
        self.last.copy_(state["rows.last"])
        self.now = int(state["rows.now"])


def _column(values: Tensor, like: Tensor) -> Tensor:
    return values.to(like.dtype)[:, None]
