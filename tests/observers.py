"""An observer of trainings."""


class Watching:
    """Keeps what it receives, and does something at a step."""

    def __init__(self, at: int = 0, action=lambda: None) -> None:
        self.at, self.action = at, action
        self.told: list[tuple[int, int, dict[str, float]]] = []

    def losses(self, step: int, steps: int, losses: dict[str, float]) -> None:
        self.told.append((step, steps, dict(losses)))
        if step == self.at:
            self.action()

    @property
    def steps(self) -> list[int]:
        return [step for step, *_ in self.told]

    @property
    def seen(self) -> dict[str, list[float]]:
        return {name: [losses[name] for *_, losses in self.told] for name in self.told[0][2]}
