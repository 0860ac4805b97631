"""The specs as a Catalog: where their files are, which of them says what, and the index that spares parsing them.

`python -m klaudit.readers.specs` writes the index of a checkout anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast

from klaudit.board import Board
from klaudit.catalog import Catalog, Index, check_names
from klaudit.errors import SpecError, UsageError
from klaudit.gpu import Gpu
from klaudit.workload import Workload

# The readers of YAML are imported where a spec is parsed: most runs parse two or three, and `--help` none.

_FOLDERS: Final = ("gpus", "workloads", "boards")
_INDEX: Final = "index.json"
_RELEASED: Final = "RELEASED"
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class _Spec(NamedTuple):
    """One spec file: what it describes, its id, and how errors name it."""

    kind: str
    id: str
    file: str


class _Library:
    """The spec files by kind and id, loaded on demand."""

    def __init__(self, paths: Mapping[tuple[str, str], tuple[Path, str]]) -> None:
        self._paths = dict(paths)

    def place(self, kind: str, spec_id: str, path: Path, file: str) -> None:
        """Say where a spec is."""
        self._paths[kind, spec_id] = path, file

    def _text(self, kind: str, spec_id: str) -> tuple[str, str]:
        path, file = self._paths[kind, spec_id]
        return _decode(_read(path), file), file

    def gpu(self, gpu_id: str) -> Gpu:
        """The card of that id."""
        from klaudit.readers.gpu_spec import read_gpu

        return read_gpu(*self._text("gpus", gpu_id))

    def workload(self, workload_id: str) -> Workload:
        """The workload of that id."""
        from klaudit.readers.workload_spec import read_workload

        return read_workload(*self._text("workloads", workload_id))

    def board(self, board_id: str, above: tuple[str, ...] = ()) -> Board:
        """The board of that id; `above` are the boards that are like it, directly or not."""
        from klaudit.readers.board_spec import read_board

        text, file = self._text("boards", board_id)
        if board_id in above:
            raise SpecError(f"{file}: like: boards are like each other in a circle: {', '.join(above)}")

        def other(other_id: str) -> Board | None:
            return self.board(other_id, (*above, board_id)) if ("boards", other_id) in self._paths else None

        return read_board(text, file, other)


def load_catalog(extra: Sequence[Path] = ()) -> Catalog:
    """The catalogue of the shipped specs and the user's own.

    Parameters
    ----------
    extra : sequence of Path
        Folders with specs, either in subfolders gpus, workloads and boards, or directly. A user's spec replaces a
        shipped one of the same id. All of these are parsed at once; shipped specs when they are used.

    Raises
    ------
    UsageError
        When a folder is missing or holds no spec.
    SpecError
        When a user's spec breaks the format, or claims a name of another spec.
    """
    folder, installed = _shipped()
    index = _stored_index(folder)
    if not installed or index is None:
        # A checkout's specs may be edited at any time: the stored index counts only for exactly these texts.
        files = _read_folder(folder)
        if index is None or index["sha256"] != _digest(files):
            index = _index_files(folder, files)
    library = _Library(_places(folder, index))
    overrides = tuple(_add_folders(index, library, extra)) if extra else ()
    return Catalog(index, library.gpu, library.workload, library.board, overrides)


def build_index(folder: Path) -> Index:
    """The index of a folder of specs, all of them parsed and held against each other.

    Raises
    ------
    SpecError
        When a spec breaks the format, or two of them contradict each other.
    """
    return _index_files(folder, _read_folder(folder))


def index_text(index: Index) -> str:
    """The index as the text of its file."""
    return json.dumps(index, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _shipped() -> tuple[Path, bool]:
    """The folder of the shipped specs, and whether it is that of an installed package."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "specs"
    return (inside, True) if inside.is_dir() else (package.parent / "specs", False)


def _stored_index(folder: Path) -> Index | None:
    try:
        index: object = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if isinstance(index, dict) and index.keys() == Index.__required_keys__:
        return cast("Index", index)
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None


def _decode(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{file}:{line}: byte {data[error.start]:#04x} is no UTF-8; save the file as UTF-8") from None


def _read_folder(folder: Path) -> dict[str, bytes]:
    """The bytes of all that the index depends on, by name relative to the folder."""
    files = {_RELEASED: _read(folder / _RELEASED)}
    for kind in _FOLDERS:
        if not (folder / kind).is_dir():
            raise SpecError(f"{folder / kind}: no such folder; klaudit is not completely installed")
        files.update((f"{kind}/{path.name}", _read(path)) for path in (folder / kind).glob("*.yaml"))
    return files


def _digest(files: Mapping[str, bytes]) -> str:
    """One hash over names and contents, the same on systems that end lines otherwise."""
    import hashlib

    digest = hashlib.sha256()
    for name in sorted(files):
        data = files[name].replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _index_files(folder: Path, files: Mapping[str, bytes]) -> Index:
    date = files[_RELEASED].decode("utf-8", "replace").strip()
    if not _DATE.fullmatch(date):
        raise SpecError(f"{folder / _RELEASED}:1: {date!r} is no date; write it as 2026-01-31")
    index: Index = {"date": date, "sha256": _digest(files), "gpus": {}, "workloads": {}, "boards": {}}
    library = _Library({})
    specs = []
    for name in sorted(files):
        kind, _, base = name.partition("/")
        if base:
            file = f"{folder.name}/{name}"
            specs.append(_Spec(kind, Path(base).stem, file))
            library.place(*specs[-1][:2], folder / name, file)
    _add_specs(index, library, specs)
    return index


def _places(folder: Path, index: Index) -> dict[tuple[str, str], tuple[Path, str]]:
    files = {
        **{("gpus", i): e["file"] for i, e in index["gpus"].items()},
        **{("workloads", i): e["file"] for i, e in index["workloads"].items()},
        **{("boards", i): e["file"] for i, e in index["boards"].items()},
    }
    return {key: (folder.parent / file, file) for key, file in files.items()}


def _add_specs(index: Index, library: _Library, specs: Iterable[_Spec]) -> None:
    """Parse specs whose places are known, enter them in the index, and hold all against each other."""
    boards: dict[str, Board] = {}
    workloads: dict[str, Workload] = {}
    for kind, spec_id, file in specs:
        if kind == "gpus":
            gpu = library.gpu(spec_id)
            index["gpus"][spec_id] = {
                "file": file, "name": gpu.name, "aliases": list(gpu.aliases), "labels": list(gpu.labels),
            }  # fmt: skip
        elif kind == "workloads":
            workloads[spec_id] = workload = library.workload(spec_id)
            index["workloads"][spec_id] = {"file": file, "name": workload.name, "aliases": list(workload.aliases)}
        else:
            boards[spec_id] = board = library.board(spec_id)
            index["boards"][spec_id] = {
                "file": file, "name": board.name, "workload": board.workload, "eras": [e.id for e in board.eras],
            }  # fmt: skip
    check_names(index)
    for board_id, entry in index["boards"].items():
        # A new workload can break a board that was there before.
        if board_id in boards or entry["workload"] in workloads:
            board = boards.get(board_id) or library.board(board_id)
            _check_board(board, entry["file"], index, library, workloads)


def _check_board(board: Board, file: str, index: Index, library: _Library, workloads: dict[str, Workload]) -> None:
    """Hold a board against the cards and the workload that it names."""
    for label in board.gpu_labels:
        for gpu_id in label.means:
            if gpu_id not in index["gpus"]:
                raise SpecError(f"{file}: gpu_labels.{label.label}: no GPU has the id {gpu_id!r}")
    if board.workload is None:
        return
    if board.workload not in index["workloads"]:
        raise SpecError(f"{file}: workload: no workload has the id {board.workload!r}")
    if board.workload not in workloads:
        workloads[board.workload] = library.workload(board.workload)
    workload = workloads[board.workload]
    for case in board.cases:
        if set(case.sizes) != set(workload.sizes):
            sizes, needed = ", ".join(case.sizes), ", ".join(workload.sizes)
            raise SpecError(f"{file}: case {case.name!r} has the sizes {sizes}; workload {workload.id!r} has {needed}")
    if board.dtype is not None and board.dtype not in workload.dtypes:
        allowed = ", ".join(workload.dtypes)
        raise SpecError(f"{file}: dtype {board.dtype!r} is none of those of workload {workload.id!r}: {allowed}")


def _add_folders(index: Index, library: _Library, folders: Iterable[Path]) -> list[str]:
    """Enter the user's specs; a sentence for each shipped spec that one of them replaces."""
    overrides: list[str] = []
    specs: list[_Spec] = []
    hashed: dict[str, bytes] = {"shipped": index["sha256"].encode()}
    seen: dict[tuple[str, str], str] = {}
    shipped = _places(Path(), index)
    for number, folder in enumerate(folders):
        for path in _spec_paths(folder):
            data, file = _read(path), str(path)
            kind, spec_id = key = _kind(path, folder, data), path.stem
            if key in seen:
                raise SpecError(f"{file}: {spec_id!r} is also described by {seen[key]}; keep one of them")
            seen[key] = file
            if key in shipped:
                overrides.append(f"{file} replaces the shipped spec of {spec_id}")
            library.place(kind, spec_id, path, file)
            specs.append(_Spec(kind, spec_id, file))
            hashed[f"{number}/{path.relative_to(folder).as_posix()}"] = data
    _add_specs(index, library, specs)
    index["sha256"] = _digest(hashed)
    return overrides


def _spec_paths(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of specs")
    places = [folder, *(folder / kind for kind in _FOLDERS)]
    paths = sorted(path for place in places for path in place.glob("*") if path.suffix in (".yaml", ".yml"))
    if not paths:
        raise UsageError(
            f"{folder}: no spec found; put YAML files there, or in its subfolders gpus, workloads and boards"
        )
    return paths


def _kind(path: Path, folder: Path, data: bytes) -> str:
    """What a user's spec describes: by its subfolder, or else by the keys that only one kind has."""
    from klaudit.readers.strict_yaml import open_spec

    if path.parent != folder:
        return path.parent.name
    root = open_spec(_decode(data, str(path)), str(path))
    for key, kind in (("memory", "gpus"), ("flops", "workloads"), ("eras", "boards"), ("like", "boards")):
        if key in root:
            return kind
    keys = "a GPU has 'memory', a workload 'flops', a board 'eras' or 'like'"
    raise SpecError(f"{path}: cannot tell what the file describes: {keys}")


def _write_index() -> None:
    folder, installed = _shipped()
    if installed:
        raise UsageError(f"{folder} belongs to an installed package; run this in a checkout")
    (folder / _INDEX).write_text(index_text(build_index(folder)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _write_index()
