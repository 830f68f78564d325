# SPDX-License-Identifier: BSD-3-Clause
"""The house rules: who may include whom, where MPI and threads live, how long a file may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import type_counts

ROOT = Path(__file__).resolve().parents[2]

# room -> the rooms it may use directly (docs/architecture.md).
USES = {
    "base": (),
    "layout": ("base",),
    "kernel": ("base",),
    "plan": ("layout",),
    "shm": ("base",),
    "zarr": ("layout", "kernel"),
    "net": ("layout", "kernel"),
    "comm": ("base", "shm"),
    "team": ("shm", "comm"),
    "transport": ("kernel", "shm", "comm"),
    "transfer": ("plan", "transport"),
    "remap": ("transfer",),
    "halo": ("transfer",),
    "store": ("transfer", "zarr"),
    "task": ("transfer",),
    "port": ("task", "net"),
    "flow": ("comm",),
    "array": ("transfer",),
}
# Public headers whose name is not their room's. hocket.h is the C interface: no room uses it.
ROOM_OF_HEADER = {
    "error": "base",
    "handle": "base",
    "log": "base",
    "version": "base",
    "memory": "shm",
    "operation": "comm",
    "coroutine": "comm",
    "binding": "comm",
    "mpi": "comm",
    "array": "transfer",
    "computing": "array",
    "columns": "kernel",
    "rows": "kernel",
    "exact": "kernel",
    "random": "kernel",
    "store_files": "zarr",
    "observer": "net",
    "mask": "team",
    "region": "flow",
    "flow_body": "flow",
    "step": "flow",
}
EVERYWHERE = (
    "src",
    "include",
    "bindings",
    "cli",
    "bench",
    "papers",
    "apps",
    "examples",
    "tests",
    "tools",
)
MPI_PLACES = ("src/comm/mpi/", "include/hocket/mpi.hpp", "include/hocket/hocket.h")
# The contents of the root, folders included: a stray note is not committed unseen.
ROOT_HOLDS = """
.ci .clang-format .clang-tidy .github .gitignore CHANGELOG.md CITATION.cff CMakeLists.txt
CMakePresets.json CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md apps bench bindings cli
cmake docs examples include mkdocs.yml packaging papers pyproject.toml src tests tools
"""
# About 300 lines; beyond these a file holds more than one idea.
LONGEST = {"tests": 500}
LONGEST_ELSEWHERE = 350

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
THREAD = re.compile(r"\bstd::(?:jthread|thread|async)\b(?!::)|\bpthread_create\b")
BLOCKING = re.compile(
    r"\bMPI_(?:Send|Ssend|Bsend|Rsend|Recv|Sendrecv|Sendrecv_replace|Wait(?:all|any|some)?|Probe"
    r"|I?mprobe|Barrier|Bcast|(?:All)?gatherv?|Scatterv?|Alltoall[vw]?|(?:All)?reduce|Reduce_scatter"
    r"|Scan|Exscan)\s*\("
)

# Strided memory is copied by src/kernel alone. Elsewhere a loop may copy only what lies together.
COPIES_IN_LOOPS = {
    "src/array/cells.cpp": "elements that a mask chooses",
    "src/array/choose.cpp": "elements that a mask chooses",
    "src/array/exact_sums.cpp": "the two parts of complex sums, one beside the other",
    "src/array/exchange.cpp": "records, by the process that they go to",
    "src/array/partials.cpp": "partial results, by the process that has them",
    "src/array/scan.cpp": "running totals of lines that lie together",
    "src/array/shift.cpp": "one element beyond the edge, many times",
    "src/shm/segment.cpp": "the pages of a forked child, which have the same addresses",
    "src/flow/region.cpp": "the words of a text that is hashed",
    "src/team/team.cpp": "values of a line of a cell, by member",
    "src/transport/rendezvous.cpp": "texts, one after the other",
    "src/zarr/crc32c.cpp": "the words of bytes whose checksum is computed",
}
LOOP = re.compile(r"\b(?:for|while)\s*\(")
BYTES_COPIED = re.compile(r"\b(?:memcpy|memmove|std::copy(?:_n|_backward)?)\s*\(")
# x[i * stride] = …, *(x + i * pitch) = …
ELEMENT_COPIED = re.compile(
    r"(?:\[[^\]]*(?:stride|pitch)[^\]]*\]|\*\([^;=]*(?:stride|pitch)[^;=]*\))\s*=[^=;]*[\[*]"
)


def reachable(room: str) -> set[str]:
    """The room and all it uses, directly or not."""
    found = {room}
    for used in USES[room]:
        found |= reachable(used)
    return found


def room_of(word: str) -> str:
    """The room of the public header hocket/<word>.hpp."""
    return ROOM_OF_HEADER.get(word, word)


def files(*tops: str) -> list[Path]:
    """Sources of ours, without what tools left behind."""
    endings = {".cpp", ".hpp", ".h", ".py", ".f90", ".F90", ".inc"}
    found = [path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in endings]
    return sorted(path for path in found if "/." not in f"/{name(path)}")


def name(path: Path) -> str:
    """The path from the root."""
    return path.relative_to(ROOT).as_posix()


def code(path: Path) -> str:
    """The text without comments and string literals, so that words in them do not count."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def includes(path: Path) -> list[tuple[str, str]]:
    """The includes of a file: (quote or bracket, name)."""
    return INCLUDE.findall(code(path))


def test_there_are_sources_and_no_other_rooms() -> None:
    """The rules below would pass on an empty house, and know nothing of a room beside it."""
    assert {path.name for path in (ROOT / "src").iterdir() if path.is_dir()} <= set(USES)
    assert len(files("src")) > 20


def test_the_build_knows_the_same_arrows() -> None:
    """src/CMakeLists.txt, which enforces the arrows, has those of this file."""
    text = (ROOT / "src/CMakeLists.txt").read_text(encoding="utf-8")
    declared = re.findall(r"hocket_room\((\w+)(?: USES ([\w ]+))?\)", text)
    assert {room: tuple(used.split()) for room, used in declared} == USES


@pytest.mark.parametrize("room", sorted(USES))
def test_a_room_includes_only_what_it_may(room: str) -> None:
    """Internal headers as "room/x.hpp", public ones of rooms it may use as "hocket/x.hpp"."""
    allowed = reachable(room)
    headers = [path for path in files("include") if path.suffix == ".hpp"]
    public = [path for path in headers if room_of(path.stem) == room]
    wrong = []
    for path in [*files(f"src/{room}"), *public]:
        for quote, included in includes(path):
            if quote == "<":
                continue
            top, _, rest = included.partition("/")
            if top == "hocket":
                top = room_of(rest.split(".")[0])
            if top not in allowed:
                wrong.append(f"{name(path)} includes {included}")
    assert not wrong, f"{room} may use {sorted(allowed)} only:\n" + "\n".join(wrong)


def test_rooms_that_simulated_programs_share_see_no_simulation() -> None:
    """Their objects are those of native programs (hocket_export_objects)."""
    text = (ROOT / "cmake/rooms.cmake").read_text(encoding="utf-8")
    found = re.search(r'MATCHES \\"_\(([\w|]+)\)', text)
    assert found, text
    for room in found[1].split("|"):
        seen, pending = set(), list(files(f"src/{room}"))
        while pending:
            path = pending.pop()
            assert "HOCKET_SIMULATED" not in code(path), f"{room} sees {name(path)}"
            for quote, included in includes(path):
                for root in (ROOT / "src", ROOT / "include"):
                    if quote == '"' and (root / included).is_file() and included not in seen:
                        seen.add(included)
                        pending.append(root / included)


def test_bindings_and_programs_use_public_headers_only() -> None:
    """Outside src/, only "hocket/x.hpp" and headers of the same folder, or the one above mpi/."""
    wrong = []
    for path in files("bindings", "apps", "bench", "examples", "include"):
        for quote, included in includes(path) if path.suffix in (".cpp", ".hpp", ".h") else []:
            folders = [path.parent, *([path.parent.parent] if path.parent.name == "mpi" else [])]
            beside = any((folder / included).is_file() for folder in folders)
            if quote == '"' and not included.startswith("hocket/") and not beside:
                wrong.append(f"{name(path)} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_mpi_stays_in_its_places() -> None:
    """<mpi.h> and hocket/mpi.hpp, which brings it."""
    wrong = [
        f"{name(path)} includes {included}"
        for path in files("src", "include")
        for _, included in includes(path)
        if included in ("mpi.h", "hocket/mpi.hpp") and not name(path).startswith(MPI_PLACES)
    ]
    assert not wrong, f"only {MPI_PLACES} may:\n" + "\n".join(wrong)


def test_nothing_blocks_in_mpi() -> None:
    """Every wait is hocket's own; SMPI has no matched probes. bindings/mpi defines these names."""
    wrong = [
        f"{name(path)}: {call.group()}…)"
        for path in files("src", "include", "bindings")
        if not name(path).startswith("bindings/mpi/")
        for call in BLOCKING.finditer(code(path))
    ]
    assert not wrong, "blocking calls of MPI:\n" + "\n".join(wrong)


def test_threads_are_started_by_the_pool_only() -> None:
    """One pool for the whole library."""
    wrong = [
        f"{name(path)}: {found.group()}"
        for path in files("src", "include", "bindings")
        for found in THREAD.finditer(code(path))
        if not name(path).startswith("src/base/pool.")
    ]
    assert not wrong, "threads outside src/base/pool:\n" + "\n".join(wrong)


def test_the_root_holds_what_it_should() -> None:
    """Of what is committed, or about to be."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip(f"this is no checkout: {listed.stderr.strip()}")
    found = {path.split("/")[0] for path in listed.stdout.splitlines()}
    assert found == set(ROOT_HOLDS.split())


def test_one_module_draws() -> None:
    drawing = re.compile(
        r"^\s*(?:import|from) matplotlib|import_module\(\"matplotlib", re.MULTILINE
    )
    found = [
        name(path)
        for path in files("bindings", "cli", "bench", "papers", "examples", "tools")
        if path.suffix == ".py" and drawing.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["bindings/python/hocket/plotting.py"]


def lines_of(path: Path) -> int:
    """How many lines a file has; of Python those beside docstrings, whose examples hold no more
    ideas than what they explain."""
    text = path.read_text(encoding="utf-8")
    described = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    within = 0
    for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
        if isinstance(node, described) and ast.get_docstring(node, clean=False) is not None:
            within += (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return text.count("\n") - within


def test_files_are_short() -> None:
    """One idea a file."""
    wrong = []
    for path in files(*EVERYWHERE):
        lines = lines_of(path)
        limit = LONGEST.get(name(path).split("/")[0], LONGEST_ELSEWHERE)
        if lines > limit:
            wrong.append(f"{name(path)} has {lines} lines, {limit} are the most")
    assert not wrong, "\n".join(wrong)


def test_every_source_names_its_licence() -> None:
    """An SPDX line on top."""
    wrong = []
    for path in files(*EVERYWHERE):
        top = path.read_text(encoding="utf-8").split("\n")[:2]
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in top):
            wrong.append(name(path))
    assert not wrong, "no SPDX line on top of:\n" + "\n".join(wrong)


def test_the_second_mpi_is_tested_by_files_that_are_there() -> None:
    """`.ci/run` tests the second MPI by the files of tools/suite.py alone."""
    listed = re.findall(r'"(tests/[\w/]+\.py)"', (ROOT / "tools/suite.py").read_text("utf-8"))
    assert len(listed) > 10
    assert [path for path in listed if not (ROOT / path).is_file()] == []


def copies_in_loops(text: str) -> list[str]:
    """Statements that copy bytes within a loop of the same function, as the indentation has it."""
    lines = text.splitlines()
    found = []
    for number, statement in enumerate(lines):
        if not BYTES_COPIED.search(statement):
            continue
        level = len(statement) - len(statement.lstrip()) + 1
        for line in reversed(lines[: number + 1]):
            indent = len(line) - len(line.lstrip())
            if not line.strip() or indent >= level or line.startswith("namespace"):
                continue
            level = indent
            if LOOP.search(line):
                found.append(statement.strip())
                break
    return found


def test_strided_memory_is_copied_by_the_kernel_alone() -> None:
    """The list has no file that does not need to be there, so it stays true."""
    elsewhere = [
        path
        for path in files("src", "include", "bindings")
        if path.suffix in (".cpp", ".hpp") and not name(path).startswith("src/kernel/")
    ]
    looping = {name(path): copies_in_loops(code(path)) for path in elsewhere}
    found = {path: lines for path, lines in looping.items() if lines}
    assert set(found) == set(COPIES_IN_LOOPS), found
    wrong = [
        f"{name(path)}: {match.group()}"
        for path in elsewhere
        for match in ELEMENT_COPIED.finditer(code(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        (
            "void f() {\n    for (k = 0; k < n; ++k)\n        std::memcpy(a + k * s, b, 8);",
            1,
        ),
        ("void f() {\n    for (;;) {\n        g();\n    }\n    std::memcpy(a, b, n);\n}", 0),
        ("void f() {\n    while (n--) memcpy(a += s, b += t, 8);\n}", 1),
        ("void f() {\n    for (;;) {\n    }\n}\nvoid g() {\n    memcpy(a, b, n);\n}", 0),
    ],
)
def test_a_copy_in_a_loop_is_found(text: str, copies: int) -> None:
    """The rule above would hold for a scan that finds nothing."""
    assert len(copies_in_loops(text)) == copies
    assert ELEMENT_COPIED.search("to[k * to_stride] = from[k * from_stride];")
    assert ELEMENT_COPIED.search("*(to + k * pitch) = *from;")
    assert not ELEMENT_COPIED.search("offset[d] = at * stride[d];")


# An article, and then what the message is given: "a " + noun, f"a {name}".
ARTICLE = re.compile(r"\b[Aa]n? (?:\"\s*\+\s*[a-z]|\{)")


def test_no_message_has_an_article_before_a_word_that_it_does_not_know() -> None:
    """It would say "a array"."""
    found = [
        f"{name(path)}: {hit[0]}"
        for path in files("src", "bindings", "cli", "bench", "papers")
        for hit in ARTICLE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, found


# Expressions that only Python's users write, in the text of a message.
PYTHONIC = re.compile(
    r"\b(?:hk|np|w)\.\w|\b(?:axes|dtype|out|comm|room|secure|barrier)=|\btasks\(\{|\bTeam\(comm"
)


def test_messages_of_all_languages_spell_what_each_would_write() -> None:
    """The library's messages reach programs in C and Fortran, too."""
    found = []
    for path in files("src"):
        text = path.read_text(encoding="utf-8")
        for literal in re.finditer(r'"(?:[^"\\\n]|\\.)*"', text):
            statement = text[literal.start() : text.index(";\n", literal.end())]
            if PYTHONIC.search(literal[0]) and "Fortran" not in statement:
                found.append(f"{name(path)}: {literal[0]}")
    assert not found, found


def test_messages_of_every_fortran_procedure_count_from_one() -> None:
    """Each procedure that ends a call of C says so before, but for calls that pass on a fault."""
    passing_on = {"c_hocket_fail", "c_hocket_refuse_fortran", "c_hocket_array_comm_fortran"}
    found = []
    for path in files("bindings/fortran"):
        for each in re.finditer(
            r"^  subroutine (\w+)\(.*?^  end subroutine$",
            path.read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        ):
            _, begun, after = each[0].partition("    call count_from_one()\n")
            calls = set(re.findall(r"\bc_hocket_\w+", each[0])) - passing_on
            if calls and "call finish(" in each[0] and not (begun and "call finish(" in after):
                found.append(f"{name(path)}: {each[1]}")
    assert not found, found


def test_the_architecture_page_has_the_rooms_and_their_arrows():
    """Its table is USES, and its picture has a brick for each room."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    told = {room: {word.strip() for word in used.split(",") if word.strip()} for room, used in rows}
    assert told == {room: set(used) for room, used in USES.items()}
    picture = (ROOT / "docs/pictures/house.svg").read_text(encoding="utf-8")
    assert set(USES) <= set(re.findall(r'font-size="17">([^<]+)<', picture))


def test_each_section_of_a_room_is_short():
    """Fifteen lines of text at most, so that a reader finds a room on one screen."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for section in page.split("\n## Rooms\n")[1].split("\n## ")[0].split("\n### ")[1:]:
        title, *lines = section.splitlines()
        assert len([line for line in lines if line]) <= 15, title


def test_a_type_between_a_plan_and_the_wire_has_a_name_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And two types with one name are found."""
    assert type_counts.shared_names(("comm", *type_counts.MOVING)) == {}
    monkeypatch.setattr(type_counts, "ROOT", tmp_path)
    (tmp_path / "src" / "room").mkdir(parents=True)
    for name in ("a.hpp", "b.cpp"):
        (tmp_path / "src" / "room" / name).write_text(
            "struct Piece {\n    struct Part {\n    };\n};\nclass Piece;\n", encoding="utf-8"
        )
    assert type_counts.shared_names(("room",)) == {"Piece": ["room/a.hpp", "room/b.cpp"]}


# package -> its folder, and the packages that it may import.
PACKAGES = {
    "hocket": ("bindings/python/hocket", ()),
    "hocket.cli": ("cli", ("hocket",)),
    "hocket.bench": ("bench", ("hocket", "hocket.cli")),
    "hocket.papers": ("papers", ("hocket", "hocket.cli", "hocket.bench")),
    "tools": ("tools", ()),
}


def modules() -> dict[str, Path]:
    """Every module of ours that others import, by its name; those of tools have no package."""
    found = {}
    for package, (folder, _) in PACKAGES.items():
        for path in (ROOT / folder).rglob("*.py"):
            words = (package, *path.relative_to(ROOT / folder).with_suffix("").parts)
            found[".".join(words).removesuffix(".__init__").removeprefix("tools.")] = path
    return found


def package_of(module: str) -> str:
    """The package of PACKAGES that a module belongs to; of one of tools, its own name."""
    return max(
        (package for package in PACKAGES if f"{module}.".startswith(f"{package}.")),
        key=len,
        default=module,
    )


def imported(module: str, text: str, known: Collection[str], package: bool) -> set[str]:
    """Its imports, in functions and for type checkers, too."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) + package - node.level]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            for each in node.names:
                extension = each.name in ("_mpi", "_pure")
                found.add(f"{base}.{each.name}" if f"{base}.{each.name}" in known else base)
                found -= {base} if extension else set()
    return found & set(known) - {module}


def circle(uses: Mapping[str, Collection[str]]) -> list[str]:
    """Modules that use each other, one after the other; none."""
    left = {module: set(used) for module, used in uses.items()}
    while free := {module for module, used in left.items() if not used & set(left)}:
        left = {module: used for module, used in left.items() if module not in free}
    path = list(left)[:1]
    while path and path[-1] not in path[:-1]:
        path.append(sorted(left[path[-1]] & set(left))[0])
    return path


def test_modules_import_each_other_without_circles() -> None:
    """And packages as PACKAGES has it."""
    known = modules()
    assert len(known) > 150
    uses = {
        module: imported(module, path.read_text("utf-8"), known, path.name == "__init__.py")
        for module, path in known.items()
    }
    assert circle(uses) == []
    for module, used in uses.items():
        package = package_of(module)
        allowed = {package, *PACKAGES.get(package, ("", ()))[1]}
        if package in PACKAGES and module != "hocket.__main__":  # which starts `hocket`
            wrong = [each for each in used if package_of(each) not in allowed]
            assert not wrong, f"{module} imports {wrong}"


def test_a_circle_of_modules_is_found() -> None:
    """The rule above would hold for a search that finds nothing."""
    found = imported(
        "p.a", "def f():\n    from . import b\n    from .c import x", ["p.b", "p.c"], 0
    )
    assert found == {"p.b", "p.c"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) in (["a", "b", "c", "b"],)
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
