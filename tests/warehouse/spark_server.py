"""One Spark for the tests of this process: a driver of its own, and tables in a folder.

PySpark has one driver a process, so the warehouse under test joins it, in a session of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from policy_engine.warehouse.spark import quiet

URL = "local[2]"
# Thousands of small queries and short lives: the second compiler costs more than it gives.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Server:
    """Spark, with a session of the test's own beside the warehouse's."""

    def __init__(self, folder: Path) -> None:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        self.folder, self.url = folder, URL
        null = subprocess.DEVNULL
        submit = {"PYSPARK_SUBMIT_ARGS": f"--driver-java-options '{JAVA}' pyspark-shell"}
        with patch.dict(os.environ, submit):
            gateway = launch_gateway(popen_kwargs={"stdout": null, "stderr": null})
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.warehouse.dir": str(folder / "tables"),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": str(folder / "events"),
        }
        (folder / "events").mkdir()
        conf = SparkConf(_jvm=gateway.jvm).setMaster(URL).setAppName("tests")
        for name, value in settings.items():
            conf.set(name, value)
        self.context = SparkContext(gateway=gateway, conf=conf)
        self.spark = SparkSession(self.context)
        self.spark.conf.set("spark.sql.session.timeZone", "UTC")

    def sql(self, *statements: str) -> list[tuple]:
        """The rows of the last statement."""
        with quiet():
            for statement in statements:
                rows = self.spark.sql(statement).collect()
        return [tuple(row) for row in rows]

    def events(self) -> str:
        """All that the event log has so far."""
        files = [path for path in (self.folder / "events").rglob("*") if path.is_file()]
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


@contextmanager
def running():
    """A Spark, gone on leaving."""
    folder = Path(tempfile.mkdtemp(prefix="spark-"))
    with quiet():
        server = Server(folder)
    try:
        yield server
    finally:
        gateway = server.context._gateway
        server.context.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=600)
        # PySpark keeps the first gateway of a process, and asks it for every later context.
        type(server.context)._gateway = type(server.context)._jvm = None
        shutil.rmtree(folder, ignore_errors=True)
