"""All checks that capture histories allow, in the order in which they should be read."""

from crawlgauge.model.checks import Diagnosis
from crawlgauge.model.decay_shapes import find_bend
from crawlgauge.model.estimates import Check
from crawlgauge.model.history_checks.capture_dependence import measure_dependence
from crawlgauge.model.history_checks.heterogeneous_capture import check_heterogeneous_capture
from crawlgauge.model.history_checks.novelty import check_novelty
from crawlgauge.model.history_checks.overdispersion import check_overdispersion
from crawlgauge.model.history_checks.past_future import check_past_future
from crawlgauge.model.history_checks.short_lag_cause import find_cause
from crawlgauge.model.history_data import HistoryData

__all__ = ["run_history_checks"]

_SPEAKS = {"info", "warn", "fail"}


def run_history_checks(data: HistoryData, diagnosis: Diagnosis) -> tuple[Check, ...]:
    """Grade every assumption that capture histories can test, and say what to do.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.

    Returns
    -------
    tuple
        ``heterogeneous-capture``, ``past-future``, ``novelty``, ``overdispersion``.
    """
    level = diagnosis.table.level
    dependence = measure_dependence(data)
    scatter = None if dependence is None else dependence.scatter
    capture = check_heterogeneous_capture(data, dependence, level)
    past_future = check_past_future(
        data,
        scatter,
        level,
        is_uneven=capture.status in _SPEAKS,
        is_bent=_is_bent(diagnosis),
    )
    cause = find_cause(dependence, diagnosis.short_lag)
    found = [check.id for check in (capture, past_future) if check.status in _SPEAKS]
    if diagnosis.short_lag is not None or cause is not None:
        found.append("short-lag")
    return (
        capture,
        past_future,
        check_novelty(data, diagnosis, scatter, level),
        check_overdispersion(data, tuple(found), level),
    )


def _is_bent(diagnosis: Diagnosis) -> bool:
    """Tell whether overlaps shrink ever more slowly, and no policy of the crawler makes them."""
    bend = find_bend(diagnosis.pairs, diagnosis.fit)
    return bend is not None and bend.is_certain and diagnosis.short_lag is None
