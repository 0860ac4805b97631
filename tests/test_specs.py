"""The shipped specs are in order, the index is true, and a user's own specs join them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from klaudit.errors import SpecError, UsageError
from klaudit.gpu import Gpu
from klaudit.readers.gpu_spec import read_gpu
from klaudit.readers.specs import build_index, index_text, load_catalog

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
SAMPLES = ROOT / "tests" / "samples"
GPU = (SAMPLES / "t4.yaml").read_text()
WORKLOAD = (SAMPLES / "relu.yaml").read_text()
BOARD = (SAMPLES / "some.yaml").read_text()
CATALOG = load_catalog()
# Above this, a difference between a published figure and its derivation needs a reason in the spec.
ALLOWED_PERCENT = 1.0


def swap(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sample"
    return text.replace(old, new)


def differences(gpu: Gpu) -> Iterator[tuple[str, float]]:
    """Published figures against bus x rate and lanes x clock, in percent of what is derived."""
    largest = {f.name: max(g.value for g in gpu.figures if g.name == f.name) for f in gpu.figures}
    pins = largest["memory.bus_width"] * largest["memory.data_rate"] / 8
    for figure in gpu.figures:
        if figure.name == "memory.published_bandwidth":
            yield figure.name, 100 * (figure.value / pins - 1)
    clock = largest.get("clock.maximum") or largest["clock.boost"]
    for peak in gpu.peaks:
        per_clock = peak.per_clock
        if per_clock is None and (peak.dtype, peak.pipe) == ("float32", "vector") and gpu.lanes is not None:
            per_clock = 2 * gpu.lanes
        if per_clock is not None:
            derived = per_clock * gpu.processors * clock
            yield peak.published.name, 100 * (peak.published.value / derived - 1)


def test_the_folder_is_dated() -> None:
    """The specs carry the day of their newest change in one line."""
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d\n", (SPECS / "RELEASED").read_text())


def unstated(gpu: Gpu) -> tuple[list[str], list[str]]:
    """The differences that the spec does not state, and the statements that are not so."""
    found = [(name, percent) for name, percent in differences(gpu) if abs(percent) > ALLOWED_PERCENT]
    stated = [(d.figure, d.percent) for d in gpu.deviations]

    def lacking(some: list[tuple[str, float]], others: list[tuple[str, float]]) -> list[str]:
        # One entry speaks for all figures of a name that deviate alike, such as the rows by accumulator.
        return [f"{n} {p:+.2f} %" for n, p in some if not any(n == m and abs(p - q) <= 0.1 for m, q in others)]

    return lacking(found, stated), lacking(stated, found)


@pytest.mark.parametrize("gpu_id", CATALOG.gpu_ids)
def test_a_card_holds_against_its_derivation(gpu_id: str) -> None:
    """Every difference above 1 % from bus x rate or lanes x clock is in the spec, with a reason, and no other is."""
    gpu = CATALOG.gpu(gpu_id)
    assert unstated(gpu) == ([], [])
    assert len({(d.figure, d.percent) for d in gpu.deviations}) == len(gpu.deviations)
    assert all(d.reason for d in gpu.deviations)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("-6.25", "-6.25", ([], [])),
        ("-6.25", "-6.0", (["memory.published_bandwidth -6.25 %"], ["memory.published_bandwidth -6.00 %"])),
        ("300 GB/s", "320 GB/s", ([], ["memory.published_bandwidth -6.25 %"])),
        ("8.1 TFLOP/s", "9 TFLOP/s, per_clock: 128 FLOP/clk", (["peaks.float32.vector +10.55 %"], [])),
        ("  count:", "  fp32_lanes: {value: 32, source: dump}\n  count:", (["peaks.float32.vector +99.00 %"], [])),
    ],
)
def test_a_deviation_is_found_both_ways(old: str, new: str, expected: tuple[list[str], list[str]]) -> None:
    """The rule above sees a difference that nobody stated, and a statement of one that is not there."""
    assert unstated(read_gpu(swap(GPU, old, new), "t4.yaml")) == expected


@pytest.mark.parametrize("gpu_id", CATALOG.gpu_ids)
def test_a_card_is_complete(gpu_id: str) -> None:
    """A card has a bandwidth no measurement exceeds, and float32 lanes that agree with their rate per clock."""
    gpu = CATALOG.gpu(gpu_id)
    assert gpu.id == gpu_id
    assert gpu.measured_bandwidth is None or gpu.measured_bandwidth <= gpu.bandwidth
    pins = [f.value for f in gpu.figures if f.name == "memory.bus_width"]
    assert pins
    assert gpu.bandwidth >= max(f.value for f in gpu.figures if f.name == "memory.published_bandwidth")
    # Some cards issue two operations a lane and clock, or one every other clock.
    for peak in gpu.peaks:
        if (peak.dtype, peak.pipe) == ("float32", "vector") and peak.per_clock and gpu.lanes:
            assert peak.per_clock in (2 * gpu.lanes, 4 * gpu.lanes)
    assert {f.source for f in gpu.figures} <= {s.key for s in gpu.sources}


def test_every_workload_loads() -> None:
    """Every workload's formulas give positive counts at a size of 64 in each direction, and least is never more."""
    for workload_id in CATALOG.workload_ids:
        workload = CATALOG.workload(workload_id)
        sizes = workload.with_bytes(dict.fromkeys(workload.sizes, 64.0), workload.default_dtype)
        for count in (workload.flops, workload.reads, workload.writes):
            assert float(count.formula(sizes)) > 0, workload_id
        if workload.min_flops is not None:
            assert float(workload.min_flops.formula(sizes)) <= float(workload.flops.formula(sizes)), workload_id


def test_every_board_loads() -> None:
    """Every board loads, and each era selects it alone."""
    for board_id in CATALOG.board_ids:
        assert CATALOG.board(board_id).id == board_id
    for era_id in CATALOG.era_ids:
        assert [era.id for era in CATALOG.board(era_id).eras] == [era_id]


def test_eras_follow_each_other() -> None:
    """An era begins when the one before it ends, and the last one holds still."""
    for board_id in CATALOG.board_ids:
        eras = CATALOG.board(board_id).eras
        assert [era.since for era in eras] == [None, *(era.until for era in eras[:-1])]
        assert eras[-1].until is None


def test_the_stored_index_is_true() -> None:
    """specs/index.json is what a strict load of all specs gives (else: python -m klaudit.readers.specs)."""
    assert (SPECS / "index.json").read_text(encoding="utf-8") == index_text(build_index(SPECS))


def test_a_checkout_with_an_edited_spec_is_read_anew(tmp_path: Path) -> None:
    """An edited spec is seen at once, whatever the stored index says; an installed package trusts its index."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from klaudit.readers.specs import load_catalog;"
        "print(load_catalog().find_gpus('my own t4').ids)"
    )
    copy_package(tmp_path)
    copy_specs(tmp_path / "specs")
    spec = tmp_path / "specs" / "gpus" / "t4.yaml"
    spec.write_text(spec.read_text().replace("aliases: [", "aliases: [My own T4, "))
    assert python(code, str(tmp_path)) == "('t4',)\n"
    (tmp_path / "specs").rename(tmp_path / "klaudit" / "specs")
    assert python(code, str(tmp_path)) == "()\n"


def copy_specs(folder: Path) -> None:
    for path in SPECS.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(SPECS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())


def copy_package(folder: Path) -> None:
    for path in (ROOT / "klaudit").rglob("*.py"):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())


def python(code: str, *arguments: str) -> str:
    command = [sys.executable, "-I", "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout


def test_a_catalogue_parses_nothing_before_a_spec_is_used() -> None:
    """Loading the catalogue and finding a card imports neither YAML nor numpy; only the card itself needs YAML."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from klaudit.readers.specs import load_catalog;"
        "catalog = load_catalog(); catalog.find_gpus('H100'); print('yaml' in sys.modules, 'numpy' in sys.modules);"
        "catalog.gpu('t4'); catalog.board('tensara-kl'); catalog.workload('kl');"
        "print('yaml' in sys.modules, 'numpy' in sys.modules)"
    )
    assert python(code, str(ROOT)) == "False False\nTrue False\n"


def test_the_index_is_built_with_yaml_alone() -> None:
    """The index can be built where only the standard library and PyYAML are installed, as in a build."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "sys.modules.update(dict.fromkeys(('numpy', 'click', 'rich')));"
        "from pathlib import Path; from klaudit.readers.specs import build_index;"
        "print(len(build_index(Path(sys.argv[2]))['gpus']))"
    )
    assert python(code, str(ROOT), str(SPECS)) == f"{len(CATALOG.gpu_ids)}\n"


def test_the_wheel_holds_the_index(tmp_path: Path) -> None:
    """A wheel holds every spec, and the index as a strict load gives it."""
    builders = pytest.importorskip("hatchling.builders.wheel")
    before = {path: path.stat().st_mtime_ns for path in SPECS.rglob("*")}
    (wheel,) = builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("klaudit/specs/")]
        assert len(names) == len(set(names))
        assert archive.read("klaudit/specs/index.json").decode() == index_text(build_index(SPECS))
        assert {n for n in names if n.endswith(".yaml")} == {
            f"klaudit/{path.relative_to(ROOT).as_posix()}" for path in SPECS.rglob("*.yaml")
        }
        assert not any(name.startswith(("specs/", "hatch_build", "tests")) for name in archive.namelist())
    assert before == {path: path.stat().st_mtime_ns for path in SPECS.rglob("*")}


# -- a user's own specs


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one spec of each kind."""
    gpu = swap(GPU, "id: t4", "id: my-card").replace("Tesla T4", "My card of cards").replace("NVIDIA T4", "My card")
    (tmp_path / "my-card.yaml").write_text(gpu)
    workload = swap(WORKLOAD, "id: relu", "id: my-relu").replace("name: ReLU", "name: My ReLU")
    (tmp_path / "my-relu.yaml").write_text(workload)
    board = (
        BOARD.replace("some", "my-board").replace("Some board", "Mine").replace("workload: relu", "workload: my-relu")
    )
    (tmp_path / "my-board.yaml").write_text(board.replace("means: [t4]", "means: [my-card]"))
    return tmp_path


def test_own_specs_join_the_catalogue(own: Path) -> None:
    """Specs of a folder are told apart by their keys, join the shipped ones, and change the hash."""
    catalog = load_catalog([own])
    assert catalog.gpu("my card of cards").id == "my-card"
    assert catalog.workload("my-relu").name == "My ReLU"
    board = catalog.board("my-board-2026")
    assert catalog.find_gpus("T4", board).ids == ("my-card",)
    assert set(catalog.gpu_ids) == {*CATALOG.gpu_ids, "my-card"}
    assert catalog.overrides == ()
    assert catalog.sha256 != CATALOG.sha256
    assert catalog.sha256 == load_catalog([own]).sha256
    assert catalog.date == CATALOG.date


def test_own_specs_in_subfolders(own: Path) -> None:
    """Specs may also lie in gpus, workloads and boards, as the shipped ones do."""
    for name, kind in (("my-card", "gpus"), ("my-relu", "workloads"), ("my-board", "boards")):
        (own / kind).mkdir()
        (own / f"{name}.yaml").rename(own / kind / f"{name}.yaml")
    assert load_catalog([own]).board("my-board").workload == "my-relu"


def test_an_own_spec_replaces_a_shipped_one(tmp_path: Path) -> None:
    """A user's spec of a shipped id takes its place, and the catalogue says so."""
    (tmp_path / "t4.yaml").write_text(GPU)
    catalog = load_catalog([tmp_path])
    assert catalog.gpu("t4").architecture == "Turing"
    assert catalog.overrides == (f"{tmp_path / 't4.yaml'} replaces the shipped spec of t4",)


def test_an_own_board_like_a_shipped_one(tmp_path: Path) -> None:
    """A board like another has its eras, labels and their sources under its own ids, and keeps its own cases."""
    (tmp_path / "my-relu.yaml").write_text(
        "id: my-relu\nname: My ReLU\nlike: tensara-kl\nworkload: relu\ndtype: float32\n"
        "cases: [{name: one, sizes: {n: 1024}}]\n"
    )
    kl, mine = CATALOG.board("tensara-kl"), load_catalog([tmp_path]).board("my-relu")
    assert [era.id for era in mine.eras] == [era.id.replace("tensara-kl", "my-relu") for era in kl.eras]
    assert [(e.scoring, e.harness, e.since) for e in mine.eras] == [(e.scoring, e.harness, e.since) for e in kl.eras]
    assert mine.gpu_labels == kl.gpu_labels
    assert [case.name for case in mine.cases] == ["one"]
    assert mine.checker is None
    used = {g.source for g in kl.gpu_labels} | {e.harness.source for e in kl.eras} | {e.scoring.source for e in kl.eras}
    assert {s.key for s in mine.sources} == used


def test_a_name_claimed_twice(own: Path) -> None:
    """A user's alias that a shipped card has is an error that names both files and the way out."""
    path = own / "my-card.yaml"
    path.write_text(path.read_text().replace("My card of cards", "Tesla T4"))
    with pytest.raises(SpecError) as caught:
        load_catalog([own])
    assert str(caught.value).startswith(f"{path}: alias 'Tesla T4' is taken by ")
    assert str(caught.value).endswith(
        " of specs/gpus/t4.yaml; a name that can mean several cards is a label of each of them"
    )


def test_an_alias_that_is_a_label_elsewhere(own: Path) -> None:
    """An alias cannot be what other cards list as an ambiguous label."""
    path = own / "my-card.yaml"
    path.write_text(path.read_text().replace("My card of cards", "H100"))
    with pytest.raises(SpecError, match=r"my-card.yaml: alias 'H100' is taken by label 'H100' of specs/gpus/"):
        load_catalog([own])


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("my-board", "means: [my-card]", "means: [your-card]", "gpu_labels.T4: no GPU has the id 'your-card'"),
        ("my-board", "workload: my-relu", "workload: your-relu", "workload: no workload has the id 'your-relu'"),
        ("my-board", "{n: 1024}", "{m: 1024}", "case 'small' has the sizes m; workload 'my-relu' has n"),
        (
            "my-board",
            "workload: my-relu",
            "workload: my-relu\ndtype: int8",
            "dtype 'int8' is none of those of workload 'my-relu': float32",
        ),
        (
            "my-relu",
            "name: My ReLU",
            "name: softmax",
            "'softmax' already names workload 'softmax' of specs/workloads/softmax.yaml",
        ),
    ],
)
def test_own_specs_that_contradict_others(own: Path, name: str, old: str, new: str, expected: str) -> None:
    """A user's spec that refers to nothing, or takes a name, is an error at once."""
    path = own / f"{name}.yaml"
    path.write_text(swap(path.read_text(), old, new))
    with pytest.raises(SpecError) as caught:
        load_catalog([own])
    assert str(caught.value) == f"{path}: {expected}"


def test_boards_like_each_other(tmp_path: Path) -> None:
    """Boards that are like each other in a circle are an error, not an endless loop."""
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.yaml").write_text(f"id: {one}\nname: Board {one}\nlike: {other}\n")
    with pytest.raises(SpecError, match=r"a.yaml: like: boards are like each other in a circle: a, b"):
        load_catalog([tmp_path])


def test_two_own_specs_of_one_id(own: Path) -> None:
    """One id in two files of a user is an error that names both."""
    (own / "gpus").mkdir()
    (own / "gpus" / "my-card.yml").write_text((own / "my-card.yaml").read_text())
    with pytest.raises(SpecError) as caught:
        load_catalog([own])
    first, second = own / "gpus" / "my-card.yml", own / "my-card.yaml"
    assert str(caught.value) == f"{second}: 'my-card' is also described by {first}; keep one of them"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"id: x\n",
            ": cannot tell what the file describes: a GPU has 'memory', a workload 'flops', a board 'eras' or 'like'",
        ),
        (b"id: x\nname: \xff\n", ":2: byte 0xff is no UTF-8; save the file as UTF-8"),
    ],
)
def test_a_file_that_is_no_spec(tmp_path: Path, content: bytes, expected: str) -> None:
    """A file of a user's folder that is no spec is an error, not silently left out."""
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        load_catalog([tmp_path])
    assert str(caught.value) == f"{path}{expected}"


def test_a_folder_without_specs(tmp_path: Path) -> None:
    """A missing folder and one without specs are mistakes of the user, said so."""
    with pytest.raises(UsageError) as caught:
        load_catalog([tmp_path / "nowhere"])
    assert str(caught.value) == f"{tmp_path / 'nowhere'}: no such folder of specs"
    with pytest.raises(UsageError) as caught:
        load_catalog([tmp_path])
    assert str(caught.value) == (
        f"{tmp_path}: no spec found; put YAML files there, or in its subfolders gpus, workloads and boards"
    )


def test_the_hash_depends_on_every_text(tmp_path: Path) -> None:
    """The hash changes with any change of a spec, and not with the line ends of the system."""
    copy_specs(tmp_path)
    assert build_index(tmp_path)["sha256"] == json.loads((SPECS / "index.json").read_text())["sha256"]
    spec = tmp_path / "gpus" / "t4.yaml"
    spec.write_bytes(spec.read_bytes().replace(b"\n", b"\r\n"))
    assert build_index(tmp_path)["sha256"] == CATALOG.sha256
    spec.write_bytes(spec.read_bytes() + b"# remark\n")
    assert build_index(tmp_path)["sha256"] != CATALOG.sha256
