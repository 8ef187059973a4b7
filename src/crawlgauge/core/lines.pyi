from typing import Final

from crawlgauge.core.captures import Collector

FIELDS: Final[tuple[str, ...]]

class LineScanner:
    def __init__(self, collector: Collector) -> None: ...
    def scan(
        self, data: bytes | memoryview, start: int, end: int
    ) -> tuple[int, int, list[tuple[int, int, int]]]: ...

class UrlScanner(LineScanner):
    def __init__(self, collector: Collector) -> None: ...

class CdxScanner(LineScanner):
    def __init__(self, collector: Collector) -> None: ...
    def arrange(self, delimiter: bytes, layouts: list[tuple[int, list[int]]]) -> None: ...

class CrawlLogScanner(LineScanner):
    def __init__(
        self, collector: Collector, group: int = -1, *, by_file: bool = False
    ) -> None: ...

class ObjectScanner(LineScanner):
    def __init__(self, collector: Collector, members: list[tuple[bytes, int]]) -> None: ...

class CdxjScanner(ObjectScanner): ...
