"""Benchmark of the start of commands, in CPU time of fresh interpreters."""

import resource
import subprocess
import sys
import tempfile

COMMAND = """if True:
    from adbench_text.cli.main import main
    try:
        main({})
    except SystemExit:
        pass
"""


def cpu_seconds(code: str) -> float:
    """Return the least CPU time of seven fresh interpreters."""
    seconds = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


if __name__ == "__main__":
    click, help_ = cpu_seconds("import click"), cpu_seconds(COMMAND.format(["--help"]))
    print(f"\nadbench-text --help: {help_:.3f} s of CPU, {help_ / click:.2f} times import click")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("report", "ui"):
            words = [name, "--tracking-uri", f"sqlite:///{folder}/mlflow.db"]
            seconds = cpu_seconds(COMMAND.format(words))
            print(f"{name} on a missing store: {seconds:.3f} s of CPU, {seconds / help_:.2f} times --help")
