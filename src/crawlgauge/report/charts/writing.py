"""Files of figures, written whole or not at all."""

import secrets
from pathlib import Path

from crawlgauge.errors import CrawlgaugeError

__all__ = ["make_folder", "write_file"]


def write_file(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it, so that it is never seen unfinished.

    Parameters
    ----------
    path
        Where; a file of the same name is replaced.
    content
        What.

    Raises
    ------
    CrawlgaugeError
        If it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise CrawlgaugeError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder if it is missing.

    Parameters
    ----------
    path
        Of the folder.

    Raises
    ------
    CrawlgaugeError
        If it cannot be made, or something else has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrawlgaugeError(
            f"the folder {path} cannot be made: {error.strerror}; name another one"
        ) from error
