"""Builds the wheel: a zip of the client with its metadata (PEP 517, PEP 427), from the standard library alone.

`pip install /path/to/the/clone/python` calls it. Without pip: python3 build_wheel.py FOLDER.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

HERE = Path(__file__).resolve().parent
SOURCES = ("sideband/__init__.py", "sideband/py.typed")
# The earliest moment that a zip can have: the same sources give the same bytes.
MOMENT = (1980, 1, 1, 0, 0, 0)


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    version = setting("version")
    described = f"sideband-{version}.dist-info"
    files = {name: (HERE / name).read_bytes() for name in SOURCES}
    files[f"{described}/METADATA"] = metadata(version).encode()
    files[f"{described}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: sideband\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{described}/RECORD"
    lines = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = f"sideband-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def setting(name: str) -> str:
    """One of pyproject.toml: the standard library reads that format from 3.11 on only."""
    found = re.search(rf'^{name} = "([^"\\]*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no line {name} = …")
    return found[1]


def metadata(version: str) -> str:
    head = [
        "Metadata-Version: 2.1",
        "Name: sideband",
        f"Version: {version}",
        f"Summary: {setting('description')}",
        f"Requires-Python: {setting('requires-python')}",
        "License: Apache-2.0",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join([*head, "", (HERE / "README.md").read_text(encoding="utf-8")])


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: python3 build_wheel.py FOLDER, a folder that is there: the wheel is written into it")
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
