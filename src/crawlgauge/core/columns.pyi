from typing import Protocol

from crawlgauge.core.captures import Collector

class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def add_columns(
    collector: Collector, table: ArrowStream, fields: list[int]
) -> list[tuple[int, str, bytes]]: ...
