"""The page in a real Chromium: it counts, sorts, filters, unfolds, says nothing in the console, and obeys no name."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_samples as samples
from browser import CHROMIUM, DRIVER, Browser, browser
from command import ROOT, klaudit

from klaudit.formats import View, html, write
from klaudit.formats.model import MODEL, MODEL_LIMITS
from klaudit.report import Audit, Place, Podium, Standing, Summary, Suppressed
from klaudit.verdict import Verdict

EXAMPLE = ("audit", "examples/kl-h200.csv", "--board", "tensara-kl-2025", "--format", "html")
ATTACKS = (
    "</script><script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "\"><svg onload='window.owned = 1'>",
    "javascript:window.owned = 1",
    "{{data}} {{script}}",
    "<!-- <script> ]]> &lt;b&gt; \u2028 \ud800",
    samples.HOSTILE,
)
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and os.environ.get("KLAUDIT_TEST_BROWSER") != "needed",
    reason="needs chromium and chromedriver: apt-get install chromium chromium-driver",
)
SHOWN = "tr.row .name"


def page_of(audit: Audit, target: Path) -> Path:
    """The report as a file."""
    with target.open("w", encoding="utf-8") as out:
        write("html", audit, out, View())
    return target


def text_of(audit: Audit) -> str:
    """The report as a string."""
    out = io.StringIO()
    write("html", audit, out, View())
    return out.getvalue()


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """One browser for all tests of the module."""
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the example board, by the command."""
    target = tmp_path_factory.mktemp("html") / "report.html"
    done = klaudit(*EXAMPLE, "-o", target)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    return target


def test_ranks_podiums_and_accepted_findings() -> None:
    """The page says what the report for people says: ranks on another board, podiums, what was accepted."""
    own = samples.CONDITIONAL._replace(suppressed="baseline kl.json")
    accepted = Summary()
    accepted.counts[Verdict.CONDITIONAL] = 1
    places = (Place("forged", 8, 43641e9, Verdict.IMPOSSIBLE), Place("honest", 2, 1518e9, Verdict.WITHIN))
    audit = samples.audit((samples.WITHIN, own))._replace(
        standings=(Standing(samples.WITHIN, "kl<b>.csv", "rate", 2, 3, 1, 2, "best", 4, 2000e9, 0.759),) * 60,
        podiums=(Podium("H200", "rate", places, places[1:]),),
        suppressed=Suppressed(accepted, (own,), ("ignore 3 fits nothing",)),
    )
    page = text_of(audit)
    assert page.count("<li>honest/v4 would be number 2 of 3 on kl&lt;b&gt;.csv by its rate, number 1 of 2 rows") == 50
    assert "<li>+10 more; --format json has them all.</li>" in page
    assert "<p>Podium of H200 by its rate, and without the rows that fail:</p>" in page
    assert "<li>1. forged (line 8, 43641 GFLOP/s) -&gt; honest (line 2, 1518 GFLOP/s)</li>" in page
    assert "<p>Accepted beforehand: 1 finding, counted above. Their rows say why.</p>" in page
    assert "<p>ignore 3 fits nothing</p>" in page
    assert '["accepted", "baseline kl.json"]' in page


def wait_for(window: Browser, condition: str) -> None:
    """Until a condition of the page holds."""
    deadline = time.monotonic() + 10
    while not window.run(f"return Boolean({condition})"):
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


@needs_browser
class TestInTheBrowser:
    """What a reader does with the page."""

    def test_it_opens_without_a_word(self, window: Browser, example: Path) -> None:
        """The counts are the audit's, the picture has a mark for every row, and the console stays empty."""
        window.open(example)
        assert window.texts(".tile") == ["0inconsistent", "10impossible", "1conditional", "0unjudged", "90within"]
        assert window.texts("#status") == ["101 rows"]
        assert len(window.find(".mark")) == 2 * 101
        assert len(window.find(".mark.impossible")) == 2 * 10
        assert "x_one/b1024" in " ".join(window.texts(".picture .label"))
        assert window.texts("h1") == ["Tensara, KL divergence"]
        assert window.log() == []

    def test_it_filters_to_the_ten_impossible_rows(self, window: Browser, example: Path) -> None:
        """A press on the count filters to it; another one takes the filter off."""
        window.open(example)
        window.click("[data-verdict=impossible]")
        assert window.texts("#status") == ["10 of 101 rows"]
        assert window.texts("tr.row .word") == ["impossible"] * 10
        window.click("[data-verdict=conditional]")
        assert window.texts("#status") == ["11 of 101 rows"]
        window.click("#clear")
        assert window.texts("#status") == ["101 rows"]

    def test_it_finds_text(self, window: Browser, example: Path) -> None:
        """Every word must occur, in entry, card, rule or arithmetic."""
        window.open(example)
        window.write("#find", "skip thresh")
        assert window.texts(SHOWN) == ["skip-dense+x_thresh"]
        window.run("document.getElementById('find').select()")
        window.write("#find", "no such row")
        assert window.texts(SHOWN) == []
        assert window.texts("#status") == ["0 of 101 rows"]

    def test_it_unfolds_the_arithmetic(self, window: Browser, example: Path) -> None:
        """A click on a row shows what the text report says of it, and its cases; another one hides it."""
        window.open(example)
        window.click(SHOWN)
        assert window.run("return document.querySelector('tr.row .name').getAttribute('aria-expanded')") == "true"
        said = dict(zip(window.texts(".unfolded dt"), window.texts(".unfolded dd"), strict=True))
        assert said["rate"].startswith("44605 GFLOP/s reported (mean_gflops), roof 2868 GFLOP/s (dram), limit 8073")
        assert "58.5 x the roof (dram 4.917 TB/s, 163.8 us); even with" in said["why"]
        assert window.texts(".unfolded tbody tr")[3].startswith("N=671088642.8 us163.8 us138.2 us58.549.4impossible")
        window.click(SHOWN)
        assert window.find(".unfolded") == []

    def test_it_sorts(self, window: Browser, example: Path) -> None:
        """By any column, up and down, and says which; worst first to begin with."""
        window.open(example)
        column = "return [...document.querySelectorAll('tr.row .c-{}')].map((cell) => Number(cell.textContent))"
        assert window.texts("tr.row .word")[:11] == ["impossible"] * 10 + ["conditional"]
        for name, falling in (("score", True), ("ratio", True), ("limit", True), ("line", False)):
            for turn in (falling, not falling):
                window.click(f"[data-sort={name}]")
                values = window.run(column.format(name))
                assert values == sorted(values, reverse=turn), (name, turn)
                said = window.run("return document.querySelector('th[aria-sort]').getAttribute('aria-sort')")
                assert said == ("descending" if turn else "ascending")
        window.click("[data-sort=entry]")
        assert window.texts(SHOWN) == sorted(window.texts(SHOWN))

    def test_it_works_from_the_keyboard(self, window: Browser, example: Path) -> None:
        """Tab goes over skip link, counts, search, card and headings to the rows; Enter and Space press."""
        window.open(example)
        tab, enter, space = "\ue004", "\ue007", " "
        focus = "const e = document.activeElement; return e.dataset.verdict || e.id || e.className"
        stops = []
        for _ in range(4):
            window.press(tab)
            stops.append(window.run(focus))
        assert stops == ["skip", "impossible", "conditional", "within"]
        window.press(space)
        assert window.texts("#status") == ["90 of 101 rows"]
        window.press(enter)
        assert window.texts("#status") == ["101 rows"]
        window.press(tab)
        assert window.run(focus) == "find"
        for _ in range(9):
            window.press(tab)
        assert window.run(focus) == "name"
        window.press(enter)
        assert len(window.find(".unfolded")) == 1
        window.press(space)
        assert window.find(".unfolded") == []

    def test_a_mark_and_a_link_lead_to_their_row(self, window: Browser, example: Path) -> None:
        """A press on a mark opens its row, through filters; an address with a row's number does too."""
        window.open(example)
        window.click("[data-verdict=within]")
        window.run(
            "document.querySelector('.mark.conditional').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        assert window.texts("tr.open .name") == ["x_scale/b1024"]
        assert len(window.find(".unfolded")) == 1
        window.open(example, "#row-101")
        assert window.texts("tr.open .c-line") == ["3"]

    def test_names_do_nothing(self, window: Browser, tmp_path: Path) -> None:
        """Markup, scripts, templates and control characters in any text of the file are text."""
        rows = tuple(
            samples.row(
                line=i, entry=attack, gpu=attack, source=attack, message=attack, worst_case=attack, notes=(attack,),
                verdict=Verdict.IMPOSSIBLE, limit_ratio=2.0, path=attack,
            )
            for i, attack in enumerate(ATTACKS)
        )  # fmt: skip
        audit = samples.audit(rows, sources=(*ATTACKS, "b"), board=ATTACKS[0], workload=ATTACKS[1], remarks=ATTACKS)
        window.open(page_of(audit, tmp_path / "r.html"))
        while window.find("tr.row:not(.open) .name"):
            window.click("tr.row:not(.open) .name")
        window.write("#find", "<")
        assert window.run("return window.owned") is None
        assert window.run("return document.scripts.length") == 2
        assert window.find("main img, main object, main iframe, body [onerror], body [onload]") == []
        assert ATTACKS[0] in window.texts(SHOWN)
        assert window.texts("h1") == [ATTACKS[0]]
        assert all(text.isprintable() for text in window.texts(SHOWN))
        assert window.log() == []

    def test_no_foreign_script_runs(self, window: Browser, example: Path, tmp_path: Path) -> None:
        """What somebody puts into the page after it was written is refused by the page's own policy."""
        page = tmp_path / "r.html"
        evil = "<script>window.owned = 1</script><img src='http://127.0.0.1:9/x' onerror='window.owned = 1'>"
        page.write_text(example.read_text(encoding="utf-8").replace("<h2", evil + "<h2", 1), encoding="utf-8")
        window.open(page)
        refused = " ".join(window.log())
        assert window.run("return window.owned") is None
        assert "script-src" in refused
        assert "img-src" in refused
        # Nor can a script make markup of text.
        caught = "try { document.body.innerHTML = '<b>x</b>'; return '' } catch (error) { return error.name }"
        assert window.run(caught) == "TypeError"
        window.log()

    def test_ten_thousand_rows_stay_fluid(self, window: Browser, tmp_path: Path) -> None:
        """A hundred rows are drawn at first and more on the way down; a filter takes less than a second."""
        rows = tuple(
            samples.row(
                line=i + 2, entry=f"entry {i}", ratio=0.1 + i % 89 / 100, reported=(samples.rate(1e12 + i, 0.3),)
            )
            for i in range(10_000)
        )
        window.open(page_of(samples.audit(rows), tmp_path / "big.html"))
        assert len(window.find("tr.row")) < 1000
        assert window.texts("#status") == ["10000 rows"]
        timed = (
            "const from = performance.now(); const find = document.getElementById('find'); find.value = arguments[0];"
            "find.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - from"
        )
        for words in ("99", "entry 12", ""):
            assert window.run(timed, words) < 1000
        window.run("document.getElementById('more').scrollIntoView()")
        wait_for(window, "document.querySelectorAll('tr.row').length > 100")
        assert window.run("return document.querySelectorAll('.mark').length") <= 1500
        assert window.log() == []

    def test_what_is_printed(self, window: Browser, example: Path) -> None:
        """Paper gets every row of the filter and the specs unfolded, without controls."""
        window.open(example)
        window.run("dispatchEvent(new Event('beforeprint'))")
        assert len(window.find("tr.row")) == 101
        assert window.find("details:not([open])") == []
        window.devtools("Emulation.setEmulatedMedia", media="print")
        assert window.run("return getComputedStyle(document.querySelector('.controls')).display") == "none"
        window.devtools("Emulation.setEmulatedMedia", media="")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_can_be_read(self, window: Browser, example: Path, scheme: str) -> None:
        """Ink and the softer ink stand out from paper and panels by 4.5 to 1 or more, in light and in dark."""
        window.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        window.open(example)
        style = (
            "const s = getComputedStyle(document.documentElement);"
            "return arguments[0].map((name) => s.getPropertyValue(name))"
        )
        ink, soft, limit, *papers = window.run(style, ["--ink", "--soft", "--impossible", "--paper", "--panel"])
        window.devtools("Emulation.setEmulatedMedia", features=[])
        for paper in papers:
            assert contrast(ink, paper) > 10
            assert contrast(soft, paper) >= 4.5
            assert contrast(limit, paper) >= 4.5
        assert (luminance(papers[0]) > 0.5) == (scheme == "light")


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, as WCAG has it."""
    parts = [int(color.strip()[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, as WCAG has it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class _Addresses(HTMLParser):
    """Everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [str(v) for k, v in attrs if k in ("src", "href", "srcset", "action", "data") and v]


def test_one_file_that_needs_nothing_else(example: Path) -> None:
    """No address but its own anchors and the icon, which is data; style and script are named by their hashes."""
    text = example.read_text(encoding="utf-8")
    addresses = _Addresses()
    addresses.feed(text)
    assert {a for a in addresses.found if not a.startswith(("#", "data:"))} == set()
    assert "url(" not in text.partition("</style>")[0]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for tag in ("style", "script"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]


def test_the_page_is_the_same_every_time(example: Path) -> None:
    """Two runs give the same bytes: no date, no random name."""
    assert klaudit(*EXAMPLE).stdout == example.read_text(encoding="utf-8")


def test_the_page_says_what_it_rests_on(example: Path) -> None:
    """Conditions, the model's limits, the board's limits, and every figure of the card with its source."""
    text = example.read_text(encoding="utf-8")
    for said in ("the last writes were still in the cache", "Physics sees traffic, not truth", "What the judge uses",
                 "Limits tensara-kl-2025: mean of rates [GFLOP/s]", "6.402 Gbit/s", "h200-driver", "7*n",
                 "a harness fault is as likely a cause", "sha256 "):  # fmt: skip
        assert said in text
    specs = re.search(r"Specs: of \S+, sha256 ([0-9a-f]{64})", text)
    assert specs is not None


def test_the_model_is_described_once() -> None:
    """The page's sentences on the model and its limits are those of the README."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("`", "").split())
    for sentence in (*MODEL_LIMITS, *MODEL.split(". ")):
        assert sentence.rstrip(".") in readme


def test_rows_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its limit a page holds the worst rows, and says how many it left out."""
    monkeypatch.setattr(html, "MOST_ROWS", 3)
    text = text_of(samples.audit(samples.PLAIN_ROWS))
    assert "2 rows of 5 left out of this page, counted above: it holds the 3 worst." in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    verdicts = [data["verdicts"][row[5]] for row in data["rows"]]
    assert verdicts == ["inconsistent", "impossible", "conditional"]
    assert data["order"] == [2, 1, 0]


def test_viewers_without_script_get_the_flagged_rows() -> None:
    """The page holds the text report of the flagged rows for them, and the counts."""
    plain = text_of(samples.audit()).partition("<noscript>")[2].partition("</noscript>")[0]
    assert "IMPOSSIBLE   line 8  skip-dense+v4f  H100" in plain
    assert "board.csv: 5 rows, 4 judged." in plain


def test_boards_with_nothing_to_draw() -> None:
    """Nothing judged, and nothing at all: a page all the same."""
    assert "No picture: no row has a place in it." in text_of(samples.audit((samples.UNJUDGED,)))
    assert "The input has no rows." in text_of(samples.audit(()))


def test_headlines() -> None:
    """Whole sentences, in singular and plural."""
    assert html.headline(samples.audit((samples.WITHIN,))) == "None of 1 judged row is above its roof."
    assert html.headline(samples.audit((samples.UNJUDGED,))) == "No row could be judged."
    assert html.headline(samples.audit()) == (
        "1 of 4 judged rows is above what physics allows. 1 row contradicts itself."
        " 1 is possible only under named conditions."
    )
    twice = html.headline(samples.audit((samples.IMPOSSIBLE, samples.INCONSISTENT, samples.CONDITIONAL) * 2))
    assert twice == (
        "2 of 6 judged rows are above what physics allows. 2 rows contradict themselves."
        " 2 are possible only under named conditions."
    )
