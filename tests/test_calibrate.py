"""Calibration without a card: what is said where none is, what is refused, and what a recorded one turns into."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from calibration_samples import H200, recorded

from klaudit.__main__ import main
from klaudit.audit import audit
from klaudit.calibrate import timing
from klaudit.calibrate.board import runnable
from klaudit.calibrate.claims import catalog_of, claims, roof_checks
from klaudit.calibrate.compare import disagreements, steady, with_other, with_spec
from klaudit.calibrate.device import open_card
from klaudit.calibrate.entries import entries
from klaudit.calibrate.kernels import SOURCE, geometries
from klaudit.calibrate.record import Calibration, Check, Launch, Point, Sample, from_object, to_object
from klaudit.calibrate.spec import driver_card, find_card, measured_card
from klaudit.calibrate.sweep import LEAST_ELEMENTS, Plan
from klaudit.calibrate.timing import Stopwatch, probe
from klaudit.errors import InputError, UsageError
from klaudit.formats.gpu_spec import spec_text
from klaudit.readers.gpu_spec import read_gpu
from klaudit.readers.specs import load_catalog
from klaudit.verdict import Verdict

CATALOG = load_catalog()
DATA = Path(__file__).resolve().parent / "data" / "h200-2026-11-30"
CALIBRATIONS = (DATA / "calibration-1.json", DATA / "calibration-2.json")


def load(path: Path) -> Calibration:
    return from_object(json.loads(path.read_text()), path.name)


def sample(time: float) -> Sample:
    return Sample(time, time, time, 0.0, 15)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


# -- without CuPy, without a card --------------------------------------------------------------------------------------


def test_without_cupy_the_command_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2, nothing on stdout, and the name of the extra for either CUDA."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert run(capsys, "calibrate") == (
        2,
        "",
        "klaudit: klaudit calibrate needs CuPy, which is not installed. Expected: CuPy and an NVIDIA card."
        " Install klaudit[gpu] (cupy-cuda13x, for drivers from 580 on) or klaudit[gpu-cuda12] (cupy-cuda12x)\n",
    )


def fake_cupy(count: Callable[[], int]) -> Any:
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count)))


def no_driver() -> int:
    raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient\nmore")


@pytest.mark.parametrize(
    ("count", "index", "expected"),
    [
        (lambda: 0, 0, "no CUDA device was found (the driver lists none). Run klaudit calibrate on a machine with"),
        (no_driver, 0, "no CUDA device was found (cudaErrorInsufficientDriver: CUDA driver version is insufficient)."),
        (lambda: 2, 2, "there is no CUDA device 2; this machine has 2, numbered from 0"),
    ],
)
def test_without_a_card_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch, count: Callable[[], int], index: int, expected: str
) -> None:
    """No card, no driver, and too few cards are told apart."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(count))
    with pytest.raises(UsageError) as error:
        open_card(index)
    assert str(error.value).startswith(expected)


def test_a_broken_cupy_is_not_a_missing_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CuPy that is there and does not load is said to be so."""
    (tmp_path / "cupy.py").write_text("raise ImportError('libnvrtc.so.13: cannot open shared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with pytest.raises(UsageError, match=r"CuPy is installed but does not load: libnvrtc\.so\.13"):
        open_card()


def test_nothing_heavy_is_imported_for_the_command_or_its_help() -> None:
    """The command line of calibrate loads neither CuPy nor numpy until it measures or reads."""
    program = (
        "import sys; import klaudit.cli.calibrate; print(sorted({'cupy', 'numpy', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--output", "card.txt"), "'card.txt': a spec's file is named after its id"),
        (("--output", "My Card.yaml"), "'My Card.yaml': a spec's file is named after its id"),
        (("--report", "/no/such/folder/a.json"), "--report '/no/such/folder/a.json': no such folder"),
        (
            ("--board", "tensara-kl-2025", "--quick"),
            "--board measures a leaderboard, and --quick is about a calibration",
        ),
        (("--from", "a.json", "--quick"), "--from measures nothing, so --quick has no meaning"),
        (("--repeats", "3"), "--repeats is about --board"),
        (("--from", "/no/such/a.json"), "/no/such/a.json: cannot be read: No such file or directory"),
        (("--board", "tensara-kl"), "board 'tensara-kl' changed its rules; name one era: tensara-kl-2025,"),
        (("--board", "tensara-relu"), "board 'tensara-relu' cannot be measured: expected one of kl-divergence"),
        (("--board", "no-such-board"), "no board is called 'no-such-board'"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: str
) -> None:
    """Wrong options never cost a measurement."""
    code, out, error = run(capsys, "calibrate", *arguments)
    assert (code, out) == (2, "")
    assert expected in error


# -- timing ------------------------------------------------------------------------------------------------------------


class FakeCard:
    """A card on which a launch takes as long as it says, seen only by events on its own stream."""

    def __init__(self) -> None:
        self.now = 0.0
        self.elsewhere = False

    def event(self) -> dict[str, float]:
        return {}

    def record(self, event: dict[str, float]) -> None:
        event["at"] = self.now

    def elapsed(self, start: dict[str, float], stop: dict[str, float]) -> float:
        return stop["at"] - start["at"]

    def synchronise(self) -> None:
        pass

    def launch(self, seconds: float) -> None:
        if not self.elsewhere:
            self.now += seconds


def test_times_are_of_one_launch_without_what_comes_before() -> None:
    """Flushing is not timed, and a batch is divided by its launches."""
    card = FakeCard()
    watch = Stopwatch(card, card.launch)
    times = watch.series(lambda: card.launch(10e-6), 3, before=lambda: card.launch(1e-3))
    assert times == pytest.approx([10e-6] * 3)
    assert watch.series(lambda: card.launch(10e-6), 700, launches=20) == pytest.approx([10e-6] * 700)


def test_a_host_that_falls_behind_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A series whose commands were not all queued in time is taken again, and counted if it stays so."""
    card = FakeCard()
    watch = Stopwatch(card, card.launch)

    def takes(*seconds: float) -> None:
        clock = iter([t for second in seconds for t in (0.0, second)])
        monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: next(clock)))

    takes(1e-6)
    watch.series(lambda: None, 2)
    takes(1e-3, 1e-3)
    watch.series(lambda: None, 2)
    assert watch.starved == 0
    takes(1e-2, 1e-1, 1.0, 10.0)
    watch.series(lambda: None, 2)
    assert watch.starved == 1


def test_a_method_that_times_another_stream_is_found_out() -> None:
    """Events on a stream on which nothing runs make every kernel free: the probe fails."""
    card = FakeCard()
    watch = Stopwatch(card, card.launch)

    def take(seconds: float) -> float:
        return min(watch.series(lambda: card.launch(seconds), 3))

    assert probe("event pair", take) == Check(
        "timed stream, event pair", True, "a delay of 100 us is timed as 100.0 us"
    )
    card.elsewhere = True
    assert probe("event pair", take) == Check("timed stream, event pair", False, "a delay of 100 us is timed as 0.0 us")


def test_runs_go_on_until_the_median_is_known_to_one_percent() -> None:
    """Noisy times are taken up to the most, steady ones no more than the least."""
    card = FakeCard()
    watch = Stopwatch(card, card.launch)
    noise = iter([1.0, 3.0, 2.0] * 100)
    assert len(watch.steady(lambda runs: [next(noise) for _ in range(runs)], 9, 36, 1e9)) == 36
    assert len(watch.steady(lambda runs: [2.0] * runs, 9, 36, 1e9)) == 9
    assert len(watch.steady(lambda runs: [next(noise) for _ in range(runs)], 9, 36, 1.0)) == 9


def test_a_sample_is_robust() -> None:
    """One slow run moves neither median nor uncertainty; by hand: quartiles 1.75 and 3.25 of 1, 2, 3, 4."""
    assert Sample.of([4.0, 1.0, 3.0, 2.0]) == Sample(2.5, 1.0, 4.0, 1.5, 4)
    assert Sample.of([4.0, 1.0, 3.0, 2.0]).uncertainty == pytest.approx(1.2533 * 1.5 / 1.349 / 2 / 2.5)
    assert Sample.of([1.0] * 9 + [50.0]).uncertainty == 0


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_sizes_go_from_64_kib_to_a_quarter_of_memory() -> None:
    """Powers of two of elements, and the quarter itself; --quick ends at 3 GiB."""
    plan = Plan.of(H200.memory, quick=False)
    read, kl = list(plan.elements("read")), list(plan.elements("kl"))
    assert (read[0] * 4, kl[0]) == (64 << 10, LEAST_ELEMENTS)
    assert read[-1] * 4 == 32 << 30
    assert 0.99 * H200.memory / 4 < kl[-1] * 12 <= H200.memory / 4
    assert {1 << 20, 1 << 22, 1 << 24, 1 << 26} <= set(kl)
    assert max(Plan.of(H200.memory, quick=True).elements("kl")) * 12 <= 3 << 30
    assert max(Plan.of(4 << 30, quick=False).elements("copy")) * 8 <= 1 << 30


@pytest.mark.parametrize("elements", [1 << 14, 1 << 20, 1 << 28])
def test_launches_worth_trying_fit_the_work(elements: int) -> None:
    """No launch is larger than the work, and none is tried twice."""
    tried = list(geometries(elements, 132))
    assert len(set(tried)) == len(tried) >= 4
    assert all((g.blocks - 1) * g.threads * g.width < elements / 4 for g in tried)


def test_macros_of_the_kernels_do_not_eat_member_names() -> None:
    """No macro has a parameter called like a member of a vector: it would replace the member too."""
    from klaudit.calibrate.entries import SOURCE as BOARD_SOURCE

    for line in (SOURCE + BOARD_SOURCE).splitlines():
        if line.startswith("#define") and "(" in line.split()[1]:
            parameters = line.split("(", 1)[1].split(")", 1)[0].replace(" ", "").split(",")
            assert not {"x", "y", "z", "w"} & set(parameters), line


# -- the record --------------------------------------------------------------------------------------------------------


def test_a_record_is_read_as_it_was_written() -> None:
    """Through JSON and back, to seven digits."""
    found = recorded()
    again = from_object(json.loads(json.dumps(to_object(found))), "a.json")
    assert to_object(again) == to_object(found)
    assert again.device == found.device
    assert again.points[7].bandwidth == pytest.approx(found.points[7].bandwidth, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: d.update(schema="klaudit-calibration/9"), "a.json: no calibration of this version: schema is"),
        (lambda d: d.pop("points"), "a.json: not a whole calibration: KeyError at 'points'"),
        (
            lambda d: d["points"][0].update(kernel="dot"),
            "not a whole calibration: ValueError at 'dot', which is none of",
        ),
        (lambda d: d["device"].update(clock_mhz=None), "a.json: not a whole calibration: TypeError at"),
    ],
)
def test_a_broken_record_is_said_to_be_broken(change: Callable[[dict[str, Any]], object], expected: str) -> None:
    """With the file, the key and what to do."""
    data = json.loads(json.dumps(to_object(recorded())))
    change(data)
    with pytest.raises(InputError) as error:
        from_object(data, "a.json")
    assert expected in str(error.value)
    with pytest.raises(InputError, match="schema is None"):
        from_object([1], "a.json")


# -- the card and its spec ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gpu_id", CATALOG.gpu_ids)
def test_every_shipped_spec_survives_being_written(gpu_id: str) -> None:
    """Written as text and read by the strict reader, it is the same card in every field."""
    gpu = CATALOG.gpu(gpu_id)
    assert read_gpu(spec_text(gpu, "a remark"), f"{gpu_id}.yaml") == gpu


def test_the_driver_tells_the_variants_apart() -> None:
    """The H200 NVL has the same name on leaderboards, and another clock."""
    found = find_card(H200, CATALOG)
    assert found is not None
    assert found.id == "h200-sxm"
    nvl = find_card(H200._replace(clock=1.785e9), CATALOG)
    assert nvl is not None
    assert nvl.id == "h200-nvl"
    named = find_card(H200, CATALOG, "H100 SXM5")
    assert named is not None
    assert named.id == "h100-sxm5-80gb"
    assert find_card(H200._replace(name="NVIDIA X1"), CATALOG) is None
    with pytest.raises(UsageError, match="'NVIDIA H200' can mean 2 cards; name one with --gpu: h200-nvl, h200-sxm"):
        find_card(H200._replace(clock=1.5e9), CATALOG)


def test_an_unknown_card_gets_a_spec_of_what_its_driver_says() -> None:
    """Bus width times data rate, no published figure, no port; the strict reader takes it."""
    device = H200._replace(name="NVIDIA X1", capability="9.9")
    card = read_gpu(spec_text(measured_card(recorded(), None, "my-card")), "my-card.yaml")
    assert card.bandwidth == pytest.approx(4814.3e9, rel=1e-5)
    assert (card.processors, card.cache, card.clock, card.port) == (132, 60 << 20, 1.98e9, None)
    assert card.measured_bandwidth == 4.62e12
    unknown = read_gpu(spec_text(driver_card(device, "x1")), "x1.yaml")
    assert (unknown.name, unknown.peaks, unknown.architecture) == ("NVIDIA X1", (), "Hopper")
    with pytest.raises(UsageError, match="does not say how wide and fast its memory is"):
        driver_card(device._replace(memory_clock=0), "x1")


def test_the_spec_written_joins_the_catalogue(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Under its own id beside the shipped card, under the shipped id in its place."""
    for name in ("my-card", "h200-sxm"):
        folder = tmp_path / name
        folder.mkdir()
        target = folder / f"{name}.yaml"
        code, _, error = run(capsys, "calibrate", "--from", str(CALIBRATIONS[0]), "-o", str(target))
        assert code == 0
        said = f"klaudit: wrote {target}; use it with --specs {folder} and --gpu-label LABEL={name}\n"
        assert error == said
        card = load_catalog([folder]).gpu(name)
        shipped = CATALOG.gpu("h200-sxm")
        assert (card.bandwidth, card.peaks, card.cache) == (shipped.bandwidth, shipped.peaks, shipped.cache)
        assert {m.source for m in card.measured} == {"calibration"}
        assert {m.quantity for m in card.measured} == {m.quantity for m in shipped.measured}
        assert card.labels == (shipped.labels if name == "h200-sxm" else ())


def test_the_shipped_spec_has_what_the_calibration_measured() -> None:
    """The H200's measured block is the recorded calibration's."""
    own = measured_card(load(CALIBRATIONS[0]), CATALOG.gpu("h200-sxm"), "h200-sxm").measured
    assert [(m.quantity, pytest.approx(m.value, rel=0.003)) for m in own] == [
        (m.quantity, m.value) for m in CATALOG.gpu("h200-sxm").measured
    ]


# -- klaudit audits its own calibration --------------------------------------------------------------------------------


def verdicts(found: Calibration) -> dict[str, tuple[Verdict, tuple[str, ...]]]:
    gpu = CATALOG.gpu("h200-sxm")
    judged = {}
    for claim in claims(found, gpu):
        result = audit([claim.rows], catalog_of(gpu), claim.board, claim.policy, keep_rows=True)
        for point, row in zip(claim.points, result.rows(), strict=True):
            judged[point.label] = (row.verdict, row.conditions)
    return judged


def test_a_condition_that_the_method_excludes_excuses_nothing() -> None:
    """16 MiB read in 2.5 us is 1.36 of the roof: possible with warm inputs, impossible after a flush."""
    times = {method: Point("read", method, 1 << 22, sample(2.5e-6)) for method in ("cold", "warm", "batched", "graph")}
    judged = verdicts(recorded()._replace(points=tuple(times.values())))
    assert judged == {
        "read 4194304 cold": (Verdict.IMPOSSIBLE, ()),
        "read 4194304 warm": (Verdict.CONDITIONAL, ("inputs-resident",)),
        "read 4194304 batched": (Verdict.CONDITIONAL, ("inputs-resident",)),
        "read 4194304 graph": (Verdict.CONDITIONAL, ("inputs-resident",)),
    }


def test_only_compressible_memory_is_excused_by_compression() -> None:
    """A read of 1 GiB at 6.9 TB/s."""
    ordinary = Point("read", "cold", 1 << 28, sample(155e-6))
    special = ordinary._replace(memory="compressible, constant data")
    judged = verdicts(recorded()._replace(points=(ordinary, special)))
    assert judged["read 268435456 cold"][0] is Verdict.IMPOSSIBLE
    assert judged["read 268435456 cold (compressible, constant data)"] == (Verdict.CONDITIONAL, ("compressed-data",))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"points": (Point("copy", "cold", 1 << 20, sample(0.5e-6)),)},
            "copy 1048576 cold: impossible: ",
        ),
        (
            {"checks": (Check("timed stream, graph", False, "a delay of 100 us is timed as 1.8 us"),)},
            "timed stream, graph: a delay of 100 us is timed as 1.8 us",
        ),
        ({"rates": (recorded().rates[1]._replace(clock=3e9),)}, "clock during lg2: 3000 MHz, highest 1980 MHz"),
        ({"rates": (recorded().rates[1]._replace(time=sample(1e-3)),)}, "lg2 under its peak: 35"),
        ({"rates": (recorded().rates[0]._replace(time=sample(1e-3)),)}, "float32 under its peak: 283"),
        (
            {"cache": (recorded().cache[0]._replace(time=sample(30e-6)),)},
            "cache reads under the cache port: 35.791 of 16.727 TB/s",
        ),
    ],
)
def test_an_untrue_calibration_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    """Exit 1, the reason on stderr, and neither spec nor report nor table is written."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps(to_object(recorded()._replace(**change))))
    wanted = (tmp_path / "my-card.yaml", tmp_path / "report.json")
    code, out, error = run(
        capsys, "calibrate", "--from", str(file), "-o", str(wanted[0]), "--report", str(wanted[1])
    )  # fmt: skip
    assert (code, out) == (1, "")
    assert error.startswith("klaudit: the calibration is not true, and nothing is written:\n")
    assert expected in error
    assert not any(path.exists() for path in wanted)


# -- what was measured on an H200 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CALIBRATIONS, ids=lambda p: p.stem)
def test_the_recorded_calibrations_are_near_what_was_measured_before(path: Path) -> None:
    """DRAM at 1 GiB, cache, lg2, launch floor: as another program measured them on such a card."""
    found = load(path)
    read = next(p for p in found.points if (p.kernel, p.method, p.elements) == ("read", "cold", 1 << 28))
    assert read.bandwidth >= 4.4e12
    for shared, least in ((True, 8.3e12), (False, 7.7e12)):
        cache = {p.size >> 20: p.bandwidth for p in found.cache if p.shared == shared}
        assert all(least <= cache[size] <= 9.3e12 for size in (24, 32, 40, 48, 52, 56))
    assert found.cache_end in (52 << 20, 56 << 20)
    lg2 = next(r for r in found.rates if r.name == "lg2")
    assert lg2.rate == pytest.approx(132 * 16 * 1.98e9, rel=0.02)
    pair = next(x for x in found.launches if x.method == "event pair, queued behind work")
    assert 2e-6 <= pair.time.median <= 4e-6
    assert found.seconds < 120
    assert found.failed == ()
    assert [c for c in roof_checks(found, CATALOG.gpu("h200-sxm")) if not c.passed] == []


def test_two_calibrations_in_a_row_agree() -> None:
    """Within 3 % on every bandwidth of 64 MiB and more."""
    first, second = map(load, CALIBRATIONS)
    assert len(list(steady(second, first))) > 190
    assert disagreements(second, first) == ()
    slower = second._replace(points=tuple(p._replace(time=sample(p.time.median * 1.04)) for p in second.points))
    assert len(disagreements(slower, second)) == len(list(steady(slower, second)))


@pytest.mark.parametrize("path", CALIBRATIONS, ids=lambda p: p.stem)
def test_honest_points_above_the_roof_are_conditional(path: Path) -> None:
    """Warm, batched and graph-replayed points and compressible memory: above the roof, each with its condition."""
    judged = verdicts(load(path))
    above = {label: conditions for label, (verdict, conditions) in judged.items() if verdict is not Verdict.WITHIN}
    assert {v for v, _ in judged.values()} == {Verdict.WITHIN, Verdict.CONDITIONAL}
    assert {
        "kl 1048576 graph": ("write-back",),
        "kl 2097152 graph": ("write-back",),
        "copy 4194304 batched": ("write-back",),
        "read 8388608 graph": ("inputs-resident",),
        "read 268435456 cold (compressible, constant data)": ("compressed-data",),
        "copy 268435456 cold (compressible, constant data)": ("compressed-data",),
    }.items() <= above.items()


def test_the_table_shows_what_the_record_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """Bandwidths, cache, rates, launches, the roofline, the comparison and the checks, all from the file."""
    code, out, error = run(
        capsys, "calibrate", "--from", str(CALIBRATIONS[1]), "--compare", str(CALIBRATIONS[0])
    )  # fmt: skip
    assert (code, error) == (0, "")
    assert "NVIDIA H200, held against h200-sxm\n" in out
    assert "driver 580.159.04, CUDA 13.0, runtime 13.2, cupy 14.2.0; 2026-11-30, 44 s\n" in out
    assert "kl, graph        165   1850   5160*  4351   4263   4354   4338\n" in out
    assert "All bandwidths from 64 MiB on agree within 3 %.\n" in out
    assert "FLOP per byte of DRAM traffic\n" in out
    assert "393 bandwidths judged by klaudit itself: 11 above the dram roof, all possible" in out
    code, out, _ = run(capsys, "calibrate", "--from", str(CALIBRATIONS[1]), "--compare", "--format", "json")
    told = json.loads(out)
    assert code == 0
    assert {p["verdict"] for p in told["points"]} == {"within", "conditional"}
    names = [line["name"] for line in told["comparison"]]
    assert "read, cold, of bus and clock" in names
    assert from_object(told, "out") == load(CALIBRATIONS[1])


def test_comparisons_name_the_figure_that_differs_most() -> None:
    """For each kernel and method one line; the spec's lines hold the driver's figures beside the spec's."""
    first, second = map(load, CALIBRATIONS)
    lines = {x.name: x for x in with_other(second, first)}
    assert lines["float32"].ratio == pytest.approx(1, rel=0.01)
    assert sum(name.startswith("kl, graph,") for name in lines) == 1
    spec = {x.name: x for x in with_spec(first, CATALOG.gpu("h200-sxm"))}
    assert spec["pin rate by the driver"].ratio == pytest.approx(6016 / 6144, rel=1e-3)
    assert spec["processors"].ratio == 1


# -- the entries of a measured board -----------------------------------------------------------------------------------


def test_entries_have_names_of_their_own_and_both_truths() -> None:
    """90 honest kernels, the 11 exploits of the recorded board, and two that fool the harness rather than the check."""
    found = list(entries())
    assert len({e.name for e in found}) == len(found) == 103
    assert sum(e.truth == "honest" for e in found) == 90
    assert {e.name for e in found if e.truth == "exploit"} == {
        "x_zero/b256", "x_zero/b1024", "x_scale/b256", "x_scale/b1024", "x_thresh/b256", "x_thresh/b1024",
        "x_one/b256", "x_one/b1024", "skip-dense+v4f", "skip-dense+x_scale", "skip-dense+x_thresh",
        "once+v4f", "other-stream+v4f",
    }  # fmt: skip
    assert {e.blocks(1 << 20, 132) for e in found if e.name in ("s1/b256/w0", "v4/b256/w0", "v4u2/b256/w8")} == {
        4096, 1024, 512,
    }  # fmt: skip


@pytest.mark.parametrize("era", ["tensara-kl-2025", "tensara-kl-2026-checked", "tensara-kl-2026"])
def test_every_era_of_the_kl_board_can_be_run(era: str) -> None:
    """Each has its own rules."""
    assert runnable(CATALOG.board(era)).id == era


def test_a_launch_is_measured_by_six_methods() -> None:
    """The record names them; the first and the fourth become figures of the spec."""
    methods = [launch.method for launch in load(CALIBRATIONS[0]).launches]
    assert methods == [
        "event pair, queued behind work",
        "event pair, idle stream",
        "one of 100 launches between two events",
        "a node of a graph of 100",
        "two events with nothing between",
        "host clock around launch and wait",
    ]
    assert isinstance(load(CALIBRATIONS[0]).launches[0], Launch)
