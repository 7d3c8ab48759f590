import copy

import pytest
import torch
from torch import nn

from adbench_text.detectors.date.adamw import BETAS, EPS, FlatAdamW, LazyRows

N_STEPS, N_ROWS, SIZE = 300, 40, 6
RATE, DECAY = 1e-4, 0.1
OFTEN, NEVER = slice(10), slice(30, N_ROWS)  # rows that nearly every batch reads, and none


class Net(nn.Module):
    def __init__(self, sparse, seed=0):
        super().__init__()
        self.token = nn.Embedding(N_ROWS, SIZE, sparse=sparse)
        self.hidden, self.out = nn.Linear(SIZE, 5), nn.Linear(5, 1)
        random = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in self.parameters():
                p.normal_(std=0.02, generator=random)

    def forward(self, ids):
        x = self.token(ids).to(self.out.weight.dtype).mean(1)
        return self.out(self.hidden(x).tanh()).squeeze(-1)


def backward(net, step):
    """Put a gradient in place; each of the rows 10-29 is read in two steps of a hundred."""
    random = torch.Generator().manual_seed(step)
    ids = torch.randint(10, (8, 3), generator=random)
    if step % 100 < 40:
        ids[0, 0] = 10 + step % 100 // 2
    to = 1 + torch.randn(8, generator=random)
    weight = 10 ** float(torch.empty(1).uniform_(-1.5, 2, generator=random))  # about half are clipped
    out = net(ids)
    (weight * (out - to.to(out.dtype)) ** 2).mean().backward()


def optimized(net, working=None, dtype=torch.float32, n_steps=N_STEPS, rate=RATE, token_rate=None):
    working = working or net
    optimizer = FlatAdamW(net, working, net.token, dtype, n_steps, rate, DECAY, token_rate)
    working.token.register_forward_pre_hook(lambda _, ids: optimizer.read(ids[0]))
    return optimizer


def run(net, optimizer, steps):
    for step in steps:
        backward(net, step)
        optimizer.step()


def weights(net):
    return {name: p.detach().clone() for name, p in net.named_parameters()}


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value), name


@pytest.fixture(scope="module", params=[RATE, 7 * RATE], ids=["one rate", "two rates"])
def by_torch(request):
    """Rate of the embedding, weights before and after, by torch.optim.AdamW in float64."""
    net = Net(sparse=False).double()
    before = weights(net)
    table, *others = net.parameters()
    groups = [{"params": [table], "lr": request.param}, {"params": others}]
    optimizer = torch.optim.AdamW(groups, RATE, BETAS, EPS, DECAY, amsgrad=True)
    norms = []
    for step in range(N_STEPS):
        optimizer.zero_grad()
        backward(net, step)
        norms.append(float(nn.utils.clip_grad_norm_(net.parameters(), 1.0)))
        optimizer.step()
    assert 0.2 < sum(norm > 1 for norm in norms) / N_STEPS < 0.8
    return request.param, before, weights(net)


@pytest.mark.parametrize("sparse", [True, False])
def test_training_ends_where_torchs_adamw_ends(by_torch, sparse):
    rate, before, after = by_torch
    net = Net(sparse)
    optimizer = optimized(net, token_rate=rate)
    run(net, optimizer, range(N_STEPS))
    optimizer.finish()
    for name, found in weights(net).items():
        way = (after[name] - before[name]).abs().max()
        assert way > 5e-3, name
        assert (found - after[name]).abs().max() < 1e-3 * way, name


def test_each_row_ends_where_torchs_adamw_ends(by_torch):
    rate, *both = by_torch
    before, after = (weight["token.weight"] for weight in both)
    net = Net(sparse=True)
    optimizer = optimized(net, token_rate=rate)
    run(net, optimizer, range(N_STEPS))
    assert (net.token.weight - after)[NEVER].abs().max() > 1e-6  # until they are caught up with
    optimizer.finish()
    way = (after - before).abs().amax(1)
    error = (net.token.weight.detach() - after).abs().amax(1) / way
    assert way[NEVER].max() < 2 * rate < 5 * rate < way[: NEVER.start].min()
    assert error[OFTEN].max() < 1e-4
    assert error[NEVER].max() < 1e-4
    assert error.max() < 1e-2  # eps, which matters where a gradient is as small, is frozen in a rest


def rows_of_torch_and_ours(weight_decay, n_steps=200):
    """Rows by torch.optim.AdamW and by LazyRows, both in float64, and how far they went at most."""
    random = torch.Generator().manual_seed(0)
    start = torch.randn(12, 4, dtype=torch.float64, generator=random) * 0.02
    dense, ours = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW([dense], RATE, BETAS, EPS, weight_decay, amsgrad=True)
    lazy = LazyRows(ours, n_steps, RATE, weight_decay)
    for _ in range(n_steps):
        read = torch.rand(12, generator=random).lt(torch.logspace(0, -3, 12)).nonzero()[:, 0]
        gradient = torch.randn(len(read), 4, dtype=torch.float64, generator=random)
        dense.grad = torch.zeros_like(dense).index_copy(0, read, gradient)
        optimizer.step()
        lazy.catch_up(read)
        lazy.step(read, gradient)
    lazy.finish()
    return dense.detach(), ours.detach(), (dense.detach() - start).abs().max()


@pytest.mark.parametrize(("weight_decay", "tolerance"), [(0.0, 1e-6), (0.1, 1e-6)])
def test_rows_that_rest_go_the_way_of_adamw(weight_decay, tolerance):
    expected, found, way = rows_of_torch_and_ours(weight_decay)
    assert (found - expected).abs().max() < tolerance * way


@pytest.mark.parametrize("weight", [1e3, 1e-3])
def test_gradients_are_clipped_together(weight):
    net = Net(sparse=True)
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(30)  # so that the gradient of the table is no small part
    optimizer = optimized(net)
    (weight * net(torch.tensor([[3, 3, 5], [5, 5, 7]])).sum()).backward()
    table, *others = (p.grad for p in net.parameters())
    raw = torch.cat([table.to_dense().flatten(), *(g.flatten() for g in others)])
    norm = float(torch.linalg.vector_norm(raw))
    assert (norm > 1) == (weight > 1)
    optimizer.step()
    state = optimizer.state()
    first_moment = torch.cat([state["rows.moments"][0].flatten(), state["flat.exp_avg"]])
    torch.testing.assert_close(first_moment / (1 - BETAS[0]), raw / max(norm, 1), atol=0, rtol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_forget_drops_gradients(sparse):
    nets = [Net(sparse), Net(sparse)]
    optimizers = [optimized(net) for net in nets]
    for net, optimizer in zip(nets, optimizers, strict=True):
        run(net, optimizer, range(3))
    backward(nets[0], 100)  # reads row 10 for the first time since step 1
    optimizers[0].forget()
    for net, optimizer in zip(nets, optimizers, strict=True):
        run(net, optimizer, range(3, 6))
        optimizer.finish()
    first, second = (weights(net) for net in nets)
    torch.testing.assert_close(first, second, atol=1e-6, rtol=0)


def test_gradients_of_parts_add_up():
    nets = [Net(sparse=True), Net(sparse=True)]
    ids = torch.tensor([[1, 2, 3], [3, 4, 5]])
    for net, parts in zip(nets, ([ids], [ids[:1], ids[1:]]), strict=True):
        optimizer = optimized(net)
        for _ in range(3):
            for part in parts:
                net(part).sum().backward()
            optimizer.step()
    first, second = (weights(net) for net in nets)
    torch.testing.assert_close(first, second, atol=1e-8, rtol=0)


def half_copy(net):
    table = net.token.weight
    return copy.deepcopy(net, {id(table): table})


def test_a_working_copy_in_half_precision_follows_the_weights():
    net = Net(sparse=True)
    working = half_copy(net)
    optimizer = optimized(net, working, torch.bfloat16)
    assert working.token.weight is net.token.weight
    for step in range(20):
        run(working, optimizer, [step])
        for name in ("hidden.weight", "hidden.bias", "out.weight", "out.bias"):
            p, q = net.get_parameter(name), working.get_parameter(name)
            assert (p.dtype, q.dtype) == (torch.float32, torch.bfloat16)
            assert torch.equal(p.bfloat16(), q), name


def test_steps_below_half_precision_are_not_lost():
    net = Net(sparse=True)
    working = half_copy(net)
    optimizer = optimized(net, working, torch.bfloat16, rate=1e-6)
    half, full = working.hidden.weight.detach().clone(), net.hidden.weight.detach().clone()
    run(working, optimizer, range(1))
    assert (net.hidden.weight != full).all()
    n_changed = int((working.hidden.weight != half).sum())
    assert n_changed < half.numel() / 2
    run(working, optimizer, range(1, N_STEPS))
    assert int((working.hidden.weight != half).sum()) > max(n_changed, half.numel() / 2)


@pytest.mark.parametrize("token_rate", [None, 7 * RATE])
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("sparse", [True, False])
def test_a_training_that_is_taken_up_ends_at_the_same_bits(sparse, precision, token_rate):
    def begin(seed):
        net = Net(sparse, seed)
        working = net if precision == torch.float32 else half_copy(net) if sparse else copy.deepcopy(net)
        return net, working, optimized(net, working, precision, token_rate=token_rate)

    net, working, optimizer = begin(seed=0)
    run(working, optimizer, range(20))
    state = {name: value.clone() for name, value in optimizer.state().items()}
    run(working, optimizer, range(20, 60))
    optimizer.finish()
    other, working, optimizer = begin(seed=1)
    run(working, optimizer, range(3))
    optimizer.load(state)
    run(working, optimizer, range(20, 60))
    optimizer.finish()
    assert_equal(weights(other), weights(net))


def test_a_look_sees_all_rows_caught_up_with_and_leaves_no_trace():
    nets = [Net(sparse=True), Net(sparse=True)]
    looked, other = (optimized(net) for net in nets)
    for net, optimizer in zip(nets, (looked, other), strict=True):
        run(net, optimizer, range(90))
    before = {name: value.clone() for name, value in looked.state().items()}
    twin = copy.deepcopy(other)
    twin.finish()
    caught_up = twin.state()["rows.weight"]
    assert not torch.equal(before["rows.weight"], caught_up)
    with looked.whole():
        assert torch.equal(nets[0].token.weight, caught_up)
    assert_equal(looked.state(), before)
    with pytest.raises(KeyboardInterrupt), looked.whole():
        raise KeyboardInterrupt
    assert_equal(looked.state(), before)
    for net, optimizer in zip(nets, (looked, other), strict=True):
        run(net, optimizer, range(90, 120))
    assert_equal(weights(nets[0]), weights(nets[1]))


def test_without_a_table_a_look_is_free():
    net = Net(sparse=False)
    optimizer = optimized(net)
    run(net, optimizer, range(5))
    before = weights(net)
    with optimizer.whole():
        assert_equal(weights(net), before)
    optimizer.finish()
    assert_equal(weights(net), before)
