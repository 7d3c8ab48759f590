"""Opens pages in a browser."""

import subprocess
from pathlib import Path

import pytest


def opened(browser: str, markup: str, folder: Path, *options: str) -> tuple[str, str]:
    """Return a page after a browser has opened it, and the log of the browser."""
    (folder / "page.html").write_text(markup, encoding="utf-8")
    always = "--headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 --virtual-time-budget=4000"
    profile, address = f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()
    command = [browser, *always.split(), *options, "--dump-dom", profile, address]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "</html>" not in ran.stdout:
        pytest.skip("chromium does not run here")
    return ran.stdout, ran.stderr
