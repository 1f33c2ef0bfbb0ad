"""A session of Spark: started quietly or joined, and pinned before anything is asked of it.

``local[N]``, ``local-cluster[…]`` and ``spark://…`` are masters of a driver in a process beside
this one; its output goes nowhere, for it would quote rows. ``sc://…`` is a server of Spark Connect.
What else a site configures (the catalog, its metastore, memory) stands in its spark-defaults.conf.
"""

from __future__ import annotations

import logging
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from policy_engine.errors import WarehouseError

_PINNED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    # It would replace ${x} inside the quotes of a text.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.runSQLOnFiles": "false",
    # A file that cannot be read is an error, and a day before 1900 is none.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    # CREATE TABLE makes a table of the default format, not one of Hive's texts.
    "spark.sql.legacy.createHiveTableByDefault": "false",
}
_LEAST = (4, 0)
# PySpark writes every error to it as JSON, with the values that it quotes.
_LOGGER = "SQLQueryContextLogger"
_MASTERS = ("local", "spark://", "yarn", "k8s://")


@dataclass(frozen=True)
class Session:
    """A session of its own, with what ends it and what cancels its jobs."""

    spark: Any
    is_remote: bool
    end: Callable[[], None]
    cancel: Callable[[], object]


def opened(name: str, url: str) -> Session:
    """A session at ``url``, pinned.

    Raises:
        WarehouseError: Spark does not start or answer there, is too old, or cannot be pinned.
    """
    if not url.startswith((*_MASTERS, "sc://")):
        raise WarehouseError(
            f"warehouse {name}: the url must be a master of Spark, as in local[2] or"
            " spark://host:7077, or sc://host of Spark Connect"
        )
    with quiet():
        session = _remote(name, url) if url.startswith("sc://") else _driver(name, url)
        try:
            _pin(name, session.spark)
        except BaseException:
            session.end()
            raise
    return session


@contextmanager
def quiet() -> Iterator[None]:
    """No word from PySpark: neither its errors' log, nor its warnings about other packages."""
    logger = logging.getLogger(_LOGGER)
    before, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before


def _driver(name: str, url: str) -> Session:
    """The driver of this process: Spark has one."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkContext._active_spark_context
    if active is not None and active.master != url:
        raise WarehouseError(
            f"warehouse {name}: this process runs Spark at {active.master}, and has one at a time;"
            " stop it first"
        )
    try:
        context = active or _started(url)
        spark = SparkSession(context).newSession()
    except Exception:
        raise WarehouseError(
            f"warehouse {name}: Spark does not start at {url}; it needs Java 17 or later, and a"
            " cluster that answers"
        ) from None
    # A driver that this program has not started goes on.
    end = context.stop if active is None else lambda: None
    return Session(spark, False, end, context.cancelAllJobs)


def _started(url: str) -> Any:
    from pyspark import SparkConf, SparkContext, java_gateway

    null = subprocess.DEVNULL
    quietly = {"stdout": null, "stderr": null}
    launch: Any = java_gateway.launch_gateway
    gateway = SparkContext._gateway or launch(popen_kwargs=quietly)
    conf = SparkConf(_jvm=gateway.jvm).setMaster(url)
    conf.setIfMissing("spark.app.name", "policy-engine")
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.log.level", "OFF")
    return SparkContext(gateway=gateway, conf=conf)


def _remote(name: str, url: str) -> Session:
    try:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.remote(url).create()
        spark.version  # noqa: B018  # the first call tells whether the server answers
    except ImportError:
        raise WarehouseError(
            f"warehouse {name}: Spark Connect needs more packages; run"
            " pip install 'pyspark[connect]'"
        ) from None
    except Exception:
        raise WarehouseError(
            f"warehouse {name}: Spark Connect does not answer at its url"
        ) from None
    return Session(spark, True, spark.stop, spark.interruptAll)


def _pin(name: str, spark: Any) -> None:
    if tuple(int(part) for part in spark.version.split(".")[:2]) < _LEAST:
        raise WarehouseError(f"warehouse {name}: Spark {spark.version} is older than 4.0")
    try:
        for setting, value in _PINNED.items():
            spark.conf.set(setting, value)
    except Exception:
        raise WarehouseError(
            f"warehouse {name}: Spark does not let its session be set, as in {setting} = {value}"
        ) from None
