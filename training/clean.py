"""Cleans the sources for training:

    python3 training/clean.py --data DIR --dev DEVDIR --personas CLONE --out CLEANDIR

DIR holds the sources of corpus.py, in whatever folders. Of each source:
- of large ones that only teach the language, only a part of the lines is kept (USED_SHARE)
- lines that share six words, or eight Chinese characters, in a row with a value of DEVDIR, or equal one, are dropped
- a line stays in one source only: the first in the order of OWNERS, then by name
- persona lines are kept only where Synthetic-Persona-Chat, whose clone is CLONE, has them: the others came from ConvAI2,
  which states no licence
"""

import argparse
import csv
import io
import multiprocessing
import os
import re
import zlib

import corpus
from gather import Measured, git

USED_SHARE = {
    "categories_lists.txt": 0.7,
    "children_stories_ccby.txt": 0.6,
    "commit_subjects.txt": 0.5,
    "common_voice_i18n.txt": 0.5,
    "debian_desc_en.txt": 0.15,
    "debian_desc_i18n.txt": 0.2,
    "docs_agents.txt": 0.75,
    "faker_values.txt": 0.2,
    "films_wikipedia.txt": 0.35,
    "names_hardware_iso_tz.txt": 0.5,
    "npm_identifiers.txt": 0.5,
    "occupations_skills_onet_esco.txt": 0.45,
    "synthetic_facts.tsv": 0.4,
    "textbook_ccby.txt": 0.4,
    "vscode_loc_i18n.txt": 0.4,
    "wikipedia_sentences.txt": 0.7,
    "wordnet_glosses.txt": 0.25,
}
OWNERS = ("notes_agents.txt", "people_cards.txt", "agent_notes.txt", "project_status.txt", "decisions.txt")
PERSONAS = ("persona_lines_en.txt", "persona_utterances_en.txt")


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def licensed_personas(clone: str) -> set[str]:
    """What Synthetic-Persona-Chat holds, line by line."""
    out = set()
    for part in ("test", "valid"):
        for row in csv.DictReader(io.StringIO(git(clone, "show", f"HEAD:data/Synthetic-Persona-Chat_{part}.csv"))):
            for cell in row.values():
                for line in (cell or "").split("\n"):
                    out |= {plain(line), plain(re.sub(r"^\s*User ?[12]:", "", line, flags=re.I))}
    return out


def cleaned(job) -> tuple[str, list[bytes], int]:
    path, dev, clone = job
    name = os.path.basename(path)
    measured = Measured(dev)
    known = licensed_personas(clone) if name in PERSONAS else None
    share = USED_SHARE.get(name, 1.0)
    out, dropped = [], 0
    for line in open(path, "rb"):
        line = line.rstrip(b"\r\n")
        if not line or zlib.crc32(line) % 1000 >= 1000 * share:
            continue
        text = line.decode("utf-8", "replace")
        value = text.partition("\t")[2] if name.endswith(".tsv") else text
        if measured.holds(value) or (known is not None and plain(value) not in known):
            dropped += 1
            continue
        out.append(line)
    return name, out, dropped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--personas", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    wanted = {name for name in corpus.REPEATS if "derived" not in name}
    paths = {n: os.path.join(f, n) for f, _, names in os.walk(args.data, followlinks=True) for n in sorted(names) if n in wanted}
    missing = sorted(wanted - set(paths))
    if missing:
        raise SystemExit(f"sources missing in {args.data}: {', '.join(missing)}")
    order = sorted(paths, key=lambda n: -os.path.getsize(paths[n]))
    with multiprocessing.Pool(2) as pool:
        sources = {n: (lines, dropped) for n, lines, dropped in pool.imap(cleaned, [(paths[n], args.dev, args.personas) for n in order])}
    seen = set()
    for name in sorted(sources, key=lambda n: (n not in OWNERS, n)):
        lines, dropped = sources[name]
        kept = lines
        if not name.endswith((".tsv", *corpus.REPEATED)):
            kept = [line for line in dict.fromkeys(lines) if line not in seen]
            seen.update(kept)
        sources[name] = kept
        print(f"{name}: {len(kept)} lines, {sum(map(len, kept))} bytes; {dropped} dropped, {len(lines) - len(kept)} doubles", flush=True)
    os.makedirs(args.out, exist_ok=True)
    for name, lines in sources.items():
        with open(os.path.join(args.out, name), "wb") as file:
            file.writelines(line + b"\n" for line in lines)


if __name__ == "__main__":
    main()
