"""A study between organisations, as one party sees it (docs/operate/study.md)."""
from __future__ import annotations

import logging
import os
from typing import Any, Callable, Optional, Union

from . import _parley
from ._fit import settings_of

Path = Union[str, os.PathLike[str]]


def _log(line: str, warning: bool) -> None:
    logging.getLogger("parley").log(logging.WARNING if warning else logging.INFO, line)


class Study:
    """The public file that all parties hold a copy of."""

    def __init__(self, path: Path):
        self.path = os.fspath(path)

    def join(
        self, party: str, ledger: Path, data: Optional[Path] = None, progress: Optional[Callable[..., None]] = None,
        **options: Any
    ) -> Any:
        """Takes part until the run ends, as ``parley join`` does; Ctrl-C interrupts it, and calling again goes on.

        ``progress(round, rounds, answering, peers)`` is told how far the run is; what is to be known besides goes to the
        logger "parley"."""
        settings = settings_of(ledger=os.fspath(ledger), data=None if data is None else os.fspath(data), **options)
        settings["as"] = party
        return _parley.join(self.path, settings, progress, _log)

    def __repr__(self) -> str:
        return f"Study({self.path!r})"
