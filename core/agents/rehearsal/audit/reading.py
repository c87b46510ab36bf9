"""How a file is opened and read: never a pipe, never beyond its size, never whole in memory."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

CHUNK = 1 << 20
HEAD = 8192

# A path that became a pipe or a link since it was listed must neither block nor lead elsewhere.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class OpenFile:
    """An open regular file: its size in bytes when opened and its first chunk."""

    descriptor: int
    size: int
    first: bytes

    @property
    def head(self) -> bytes:
        """The first 8 KiB."""
        return self.first[:HEAD]

    @property
    def binary(self) -> bool:
        """Whether the first 8 KiB hold a NUL byte."""
        return b"\0" in self.head

    def chunks(self) -> Iterator[bytes]:
        """The bytes in chunks of 1 MiB or less, as many as the file had when it was opened."""
        chunk, left = self.first, self.size
        while chunk:
            yield chunk
            left -= len(chunk)
            chunk = os.read(self.descriptor, min(CHUNK, left)) if left > 0 else b""

    def text_chunks(self) -> Iterator[bytes]:
        """The chunks of a text file; none of a binary one."""
        return iter(()) if self.binary else self.chunks()


@contextmanager
def opened(place: bytes) -> Iterator[OpenFile]:
    """The regular file at this place; raises OSError when it cannot be read or is something else."""
    descriptor = os.open(place, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        yield OpenFile(descriptor, status.st_size, os.read(descriptor, min(CHUNK, status.st_size)))
    finally:
        os.close(descriptor)


def count_lines(chunks: Iterator[bytes]) -> tuple[int, int]:
    """Lines and bytes; a line ends at a newline byte, and a last one without it counts."""
    lines, size, last = 0, 0, b"\n"
    for chunk in chunks:
        lines += chunk.count(b"\n")
        size += len(chunk)
        last = chunk[-1:]
    return lines + (last != b"\n"), size
