"""Archives of made-up files, and a pickle that would do harm."""

import io
import os
import tarfile
from collections.abc import Mapping


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a compressed tar archive of some files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> object:
        return os.system, (self.command,)
