"""What adds crawls for the command ``add``: this machine, or Spark, with their progress."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from crawlgauge.cli.reading_progress import show_reading
from crawlgauge.cli.spark_session import run_spark
from crawlgauge.ingest.adding import Addition
from crawlgauge.ingest.splitting import SplitResult

__all__ = ["Adders", "open_engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adders:
    """The ways of adding, whatever does it.

    Parameters
    ----------
    one
        Takes a label and inputs.
    many
        Takes a list of crawls.
    cut
        Takes the inputs of a collection.
    clear
        Takes the line of progress away before something is printed.
    """

    one: Callable[..., Addition]
    many: Callable[..., tuple[Addition, ...]]
    cut: Callable[..., SplitResult]
    clear: Callable[[], object]


@contextmanager
def open_engine(
    engine: str, store: str | None, master: str | None, spark_conf: Sequence[str]
) -> Iterator[Adders]:
    """Give the functions of an engine; Spark is started, and stopped in the end.

    Parameters
    ----------
    engine
        ``local`` or ``spark``.
    store
        As the user named it.
    master, spark_conf
        Options of Spark.
    """
    if engine == "spark":
        from crawlgauge.spark import adding

        with run_spark("adding", master, spark_conf) as (spark, line):
            progress = None if line is None else line.show_tasks

            def one(label: str, inputs: Sequence[str], **options: Any) -> Addition:  # noqa: ANN401
                return adding.add(
                    spark, inputs, store=store, label=label, progress=progress, **options
                )

            yield Adders(
                one=one,
                many=partial(adding.add_list, spark, store=store, progress=progress),
                cut=partial(adding.split, spark, store=store, progress=progress),
                clear=(lambda: None) if line is None else line.clear,
            )
        return
    from crawlgauge.ingest.adding import add_crawl
    from crawlgauge.ingest.many import add_crawls
    from crawlgauge.ingest.splitting import split_collection

    with show_reading() as listener:
        yield Adders(
            one=partial(add_crawl, store, progress=listener),
            many=partial(add_crawls, store, progress=listener),
            cut=partial(split_collection, store, progress=listener),
            clear=(lambda: None) if listener is None else listener.clear,
        )
