"""JSON files of the store: objects that name their format."""

import json
from typing import Any

from crawlgauge.errors import StoreError
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.files import explain_os_error
from crawlgauge.store.stored_files import read_content

__all__ = ["ADD_AGAIN", "read_document"]

ADD_AGAIN = "add the crawl again from its files with --replace"


def read_document(path: AnyPath, schema: str) -> dict[str, Any]:
    """Read a JSON object of a known format.

    Parameters
    ----------
    path
        The file.
    schema
        What its member of that name must be.

    Raises
    ------
    StoreError
        If the file cannot be read, is damaged, or is of another format.
    """
    with explain_os_error("read", path):
        text = read_content(path)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}); {ADD_AGAIN}") from error
    if not isinstance(document, dict):
        raise StoreError(f"{path} is damaged; {ADD_AGAIN}")
    found = document.get("schema")
    if found != schema:
        raise StoreError(
            f"{path} is of format {found!r}; this version of crawlgauge reads {schema!r}. "
            "Use the version that wrote it, or a newer one"
        )
    return document
