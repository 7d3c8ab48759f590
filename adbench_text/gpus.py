"""The GPUs of this machine."""

import os
import subprocess
import sys
from functools import cache

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
