"""Connections to running clusters."""

import socket
from typing import Any

import pytest

from boostkmeans import ParameterError
from boostkmeans.distributed import connect
from boostkmeans.distributed._engines.ray_backend import RayBackend, check_ray_answers


@pytest.fixture
def closed_port() -> int:
    """Return a port of this machine at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Ray without a connection, whose `init` would wait for minutes for a dead cluster."""
    module = pytest.importorskip("ray")

    def fail(**options: Any) -> None:
        raise AssertionError("Ray would wait")

    monkeypatch.setattr(module, "init", fail)
    monkeypatch.setattr(module, "is_initialized", lambda: False)
    return module


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_a_dead_ray_is_reported_at_once(ray: Any, closed_port: int, prefix: str) -> None:
    address = f"{prefix}127.0.0.1:{closed_port}"
    with (
        pytest.raises(ConnectionError, match=f"No Ray cluster answers at {address} "),
        connect("ray", address),
    ):
        pass


def test_a_dead_ray_of_the_environment_is_reported_at_once(
    ray: Any, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{closed_port}")
    with pytest.raises(ConnectionError, match=f"127.0.0.1:{closed_port}"):
        RayBackend()


def test_a_second_connection_to_ray_is_refused(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    problem = r"address must be None, because this process is already connected .* ray\.shutdown\(\)"
    with pytest.raises(ParameterError, match=problem), connect("ray", "auto"):
        pass


@pytest.mark.parametrize("address", ["auto", "local", "host", "a:b:c"])
def test_other_addresses_are_left_to_ray(address: str) -> None:
    check_ray_answers(address)


def test_an_open_port_is_an_answer() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        check_ray_answers(f"127.0.0.1:{one.getsockname()[1]}")
