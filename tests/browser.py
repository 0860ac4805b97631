"""A real Chromium without a screen, driven through chromedriver's HTTP with the standard library alone."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Everything that would look for a network is off.
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars",
)  # fmt: skip
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class Browser:
    """One window."""

    def __init__(self, address: str, profile: str, size: tuple[int, int]) -> None:
        options = {
            "binary": CHROMIUM,
            "args": [*_FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"],
        }
        capabilities = {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
        }  # fmt: skip
        self._address = address
        found = self._send("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._address += f"/session/{found['sessionId']}"

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, page: Path, fragment: str = "") -> None:
        """Open a file."""
        self._send("POST", "/url", {"url": "about:blank"})
        self._send("POST", "/url", {"url": page.resolve().as_uri() + fragment})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script's `return` gives."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """One command of the DevTools protocol."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector: str) -> list[str]:
        """The elements of a CSS selector."""
        found = self._send("POST", "/elements", {"using": "css selector", "value": selector})
        return [element[_ELEMENT] for element in found]

    def click(self, selector: str) -> None:
        """Click the first element of a selector, as a mouse does."""
        self._send("POST", f"/element/{self.find(selector)[0]}/click", {})

    def write(self, selector: str, text: str) -> None:
        """Type into the first element of a selector."""
        self._send("POST", f"/element/{self.find(selector)[0]}/value", {"text": text})

    def press(self, *keys: str) -> None:
        """Press keys on whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def texts(self, selector: str) -> list[str]:
        """The texts of a selector's elements."""
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
        )
        return found

    def log(self) -> list[str]:
        """What the console said since it was last asked, by whatever source."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, target: Path, whole: bool = True) -> None:
        """The page as a PNG."""
        found = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        target.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Close the window."""
        self._send("DELETE", "")


@contextmanager
def browser(size: tuple[int, int] = (1280, 900)) -> Iterator[Browser]:
    """A driver of its own with one window, ended with the block."""
    assert DRIVER is not None
    with tempfile.TemporaryDirectory(prefix="klaudit-browser-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "driver.log"
        command: Sequence[str] = (DRIVER, "--port=0", f"--log-path={log}")
        driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            window = Browser(f"http://127.0.0.1:{_port(driver)}", str(Path(folder) / "profile"), size)
            try:
                yield window
            finally:
                window.close()
        finally:
            driver.terminate()
            driver.communicate(timeout=20)


def _port(driver: subprocess.Popen[str]) -> int:
    """The port that the driver chose, which it prints."""
    deadline = time.monotonic() + 30
    assert driver.stdout is not None
    for line in driver.stdout:
        words = line.rstrip(".\n").split()
        if "successfully" in words and words[-1].isdecimal():
            return int(words[-1])
        if time.monotonic() > deadline:
            break
    raise RuntimeError("chromedriver named no port")
