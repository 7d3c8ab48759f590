"""The GPUs of this machine."""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

VISIBLE = "CUDA_VISIBLE_DEVICES"


@cache
def visible() -> list[str]:
    """Return the GPUs that torch may use, as values of `VISIBLE`.

    Another process looks: torch takes seconds to import.
    """
    code = "import torch; print(torch.cuda.device_count())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    count = int(done.stdout) if done.returncode == 0 else 0
    chosen = [each for each in os.environ.get(VISIBLE, "").split(",") if each]
    return chosen[:count] or [str(index) for index in range(count)]


_DESCRIBE = """
import json, torch
count = torch.cuda.device_count()
gpus = [torch.cuda.get_device_properties(index) for index in range(count)]
print(json.dumps({
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "threads": torch.get_num_threads(),
    "gpus": [{"name": gpu.name, "gigabytes": round(gpu.total_memory / 2**30, 1)} for gpu in gpus],
}))
"""


def described() -> dict[str, Any]:
    """Return the devices that torch sees, in another process; ``problem`` if torch cannot be imported."""
    done = subprocess.run([sys.executable, "-c", _DESCRIBE], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"gpus": [], "problem": lines[-1]}
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts
