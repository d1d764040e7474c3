"""Shared sessions and settings.

`spark`         the classic session, one for all tests.
`connect`       for a test that speaks Spark Connect throughout: the Connect session, in Connect mode.
`connect_mode`  for a test that speaks both, or a property test: `with connect_mode() as session: ...`.

Both sessions live in one JVM: the classic session carries the Connect server as a plugin. PySpark's functions (`F.col`)
make classic or Connect columns by an environment variable, so Connect code runs, and is collected, in Connect mode.
"""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import settings

from dovetail.spark import session as local_session
from tests.amount import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
CONNECT_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 -- the name of the variable
SPARK_FIXTURES = {"spark", "connect", "connect_mode"}

settings.register_profile("dovetail", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.load_profile("dovetail")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Spark."""
    for item in items:
        if SPARK_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ[CONNECT_TOKEN] = secrets.token_hex()
    session = local_session(cores=2, app="dovetail tests", **_settings(_free_port()))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connect_mode(spark: SparkSession) -> Iterator[Callable[[], AbstractContextManager[SparkSession]]]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession  # noqa: PLC0415 -- loads gRPC

    # Spark's client sends a token without TLS to "localhost" alone, not to 127.0.0.1.
    port = spark.conf.get("spark.connect.grpc.binding.port")
    session = ConnectSession.builder.remote(f"sc://localhost:{port}").create()

    @contextmanager
    def mode() -> Iterator[SparkSession]:
        os.environ[CONNECT_MODE] = "1"
        try:
            yield cast("SparkSession", session)
        finally:
            del os.environ[CONNECT_MODE]

    yield mode
    session.stop()


@pytest.fixture
def connect(connect_mode: Callable[[], AbstractContextManager[SparkSession]]) -> Iterator[SparkSession]:
    with connect_mode() as session:
        yield session


def _settings(connect_port: int) -> dict[str, str | int]:
    return {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": connect_port,
        "spark.driver.memory": "2g",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": 3,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
