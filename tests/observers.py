"""An observer of trainings."""


class Watching:
    """Keeps what it receives, in `calls` the order of it, and does something at a step."""

    def __init__(self, trace_every: int = 0, at: int = 0, action=lambda: None) -> None:
        self.trace_every, self.at, self.action = trace_every, at, action
        self.told: list[tuple[int, int, dict[str, float]]] = []
        self.traced: list[int] = []
        self.calls: list[str] = []

    def begin(self) -> None:
        self.calls.append("begin")
        if self.trace_every:
            self.trace(0)

    def losses(self, step: int, steps: int, losses: dict[str, float]) -> None:
        self.calls.append(f"losses {step}")
        self.told.append((step, steps, dict(losses)))
        if step == self.at:
            self.action()

    def trace(self, step: int) -> None:
        self.calls.append(f"trace {step}")
        self.traced.append(step)
        self.action()

    @property
    def steps(self) -> list[int]:
        return [step for step, *_ in self.told]

    @property
    def seen(self) -> dict[str, list[float]]:
        return {name: [losses[name] for *_, losses in self.told] for name in self.told[0][2]}
