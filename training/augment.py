"""Text derived from the sources by rule, in the shapes that stored facts have.

- third person: "I love my dog" becomes "Maria loves her dog.", "Evan mentioned that he loves his dog."
- commit style: an instruction becomes "feat: add …", "fix(parser): …"
- key and value: a short heading and a sentence become "Error handling: …", list marks are put before lines
- preference style: what someone likes becomes "I strongly prefer …", "I avoid …", "dislikes …"
- renamed: a sentence about someone, about somebody else, so that the sentence is learnt and not the name
- in frames, marked: notes about a user, lines of profile pages (frames.py)

Rough grammar is enough: the model learns the frames and the vocabulary, not truths.
"""

import random
import re
from collections import Counter

import frames

NAMES = {
    "her": "Maria Anna Emma Olivia Sophia Isabella Mia Charlotte Amelia Evelyn Abigail Emily Elizabeth Sofia Ella Grace "
    "Victoria Chloe Camila Penelope Layla Nora Lily Eleanor Hannah Lillian Addison Aubrey Stella Natalie Zoe Leah Hazel "
    "Violet Aurora Savannah Audrey Brooklyn Bella Claire Lucy Joanna Deborah Linda Barbara Susan Jessica Sarah Karen "
    "Lisa Nancy Betty Sandra Ashley Kimberly Donna Michelle Carol Amanda Melissa Stephanie Rebecca Laura Sharon Cynthia "
    "Kathleen Amy Angela Shirley Brenda Pamela Nicole Samantha Katherine Christine Rachel Carolyn Janet Heather Diane "
    "Julie Joyce Kelly Christina Joan Judith Andrea Cheryl Megan Jacqueline Martha Gloria Teresa Sara Kathryn Jolene Priya",
    "his": "James Robert John Michael David William Richard Joseph Thomas Christopher Charles Daniel Matthew Anthony Mark "
    "Donald Steven Andrew Paul Joshua Kenneth Kevin Brian George Timothy Ronald Edward Jason Jeffrey Ryan Jacob Gary "
    "Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory Alexander Patrick Frank Raymond "
    "Jack Dennis Jerry Tyler Aaron Jose Adam Nathan Henry Zachary Douglas Peter Kyle Noah Ethan Jeremy Walter Keith "
    "Christian Roger Terry Austin Sean Gerald Carl Dylan Harold Jordan Jesse Bryan Lawrence Arthur Gabriel Bruce Logan "
    "Evan Sam Calvin Dave Nate Tim Liam Oliver Lucas Mason Leo Hugo Omar Raj Kenji Mateo",
}
NAMES = {gender: names.split() for gender, names in NAMES.items()}
ADVERBS = set(
    "also really always often never usually still just currently sometimes strongly only even already generally truly "
    "definitely probably actually recently rarely mostly typically simply deeply absolutely".split()
)
UNCHANGED = set(
    "can could will would should may might must was had did went got made took saw found met came felt told said thought "
    "bought brought lost won left gave spent kept ran wrote ate grew knew began became heard held led paid sat stood taught "
    "understood drove flew chose spoke slept built sent cannot can't couldn't won't wouldn't shouldn't didn't wasn't hadn't read".split()
)
IRREGULAR = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes", "'m": "is"}
FIRST = re.compile(r"^(?:I |I'm |I’m |I've |I’ve |My )")
SPLIT = re.compile(r"(\w+(?:['’]\w+)?|\W+)")
REPORTS = (
    "mentioned that,shared that,believes that,thinks that,feels that,explained that,revealed that,said that,noted that,"
    "admitted that,emphasized that,acknowledged that"
).split(",")


def conjugate(verb: str) -> str:
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in UNCHANGED or (verb.endswith("ed") and len(verb) > 4) or not verb.isalpha():
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and len(verb) > 2 and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def third_person(line: str, rng: random.Random) -> str | None:
    """The sentence about someone else, or nothing when it is no plain statement in the first person."""
    if not FIRST.match(line) or "?" in line or len(line) > 220 or re.search(r"\b(you|your|we|our|us|let's)\b", line, re.I):
        return None
    gender = rng.choice(("her", "his"))
    name = rng.choice(NAMES[gender])
    subject, other = ("she", "her") if gender == "her" else ("he", "him")
    tokens = SPLIT.findall(line.replace("’", "'"))
    out, verb_due, first = [], False, True
    for token in tokens:
        low = token.lower()
        if token in ("I", "I'm", "I've", "I'd", "I'll"):
            out.append(name if first else subject)
            rest = token[1:]
            if rest:
                out.append({"'m": " is", "'ve": " has", "'d": " would", "'ll": " will"}[rest])
            else:
                verb_due = True
            first = False
        elif low in ("my", "mine", "me", "myself"):
            if low == "my" and first:
                out.append(name + "'s")
            else:
                out.append({"my": gender, "mine": gender.rstrip("s") + "s", "me": other, "myself": other + "self"}[low])
            first = False
        elif verb_due and token.strip() and token[0].isalpha():
            if low in ADVERBS:
                out.append(token)
            else:
                out.append(conjugate(token))
                verb_due = False
        else:
            out.append(token)
    text = re.sub(r"([.!] )(he|she)\b", lambda m: m.group(1) + m.group(2).capitalize(), "".join(out).strip())
    if text.startswith(name + " ") and rng.random() < 0.15:
        text = f"{name} {rng.choice(REPORTS)} {subject} {text[len(name) + 1:]}"
    if text[-1].isalnum() and rng.random() < 0.85:
        text += "."
    return text


def commit_style(line: str, rng: random.Random) -> str | None:
    first = line.split(" ", 1)[0]
    if not first.isalpha() or first.lower() not in COMMIT_VERBS or ":" in line or len(line) > 110:
        return None
    kind = rng.choice(COMMIT_KINDS)
    scope = f"({rng.choice(COMMIT_SCOPES)})" if rng.random() < 0.3 else ""
    text = line.rstrip(".")
    if rng.random() < 0.8:
        text = text[0].lower() + text[1:]
    return f"{kind}{scope}: {text}"


COMMIT_VERBS = set(
    "add fix update remove implement improve refactor use make move rename support allow handle ensure change enable "
    "disable introduce create enhance optimize simplify clean bump upgrade revert integrate migrate prevent avoid replace "
    "document configure set extract split merge drop convert correct adjust expose include initialize validate".split()
)
COMMIT_KINDS = "feat feat feat fix fix fix docs chore refactor test style perf ci build Feat Fix".split()
COMMIT_SCOPES = (
    "api ui auth core cli server client docs tests db config deps agent memory parser dashboard build ci web app settings "
    "mcp chat backend frontend models utils router store schema"
).split()
MARKS = ["✅ ", "- ", "* ", "- [x] ", "- [ ] ", "1. ", "2. ", "3. ", "⚠️ ", "🚧 ", "TODO: ", "Note: ", "NOTE: ", "IMPORTANT: ", "Fixed: ", "Next: "]
LIKES = [
    "I strongly prefer not to {g}.", "I prefer not to {g}.", "I avoid {x}.", "I tend to avoid {x}.", "I have a strong dislike for {x}.",
    "I dislike {x}.", "I can't stand {x}.", "I don't like {x} and prefer {y}.", "I prefer {x} over {y}.", "I strictly avoid {x}.",
    "I have an aversion to {x}.", "I'm not comfortable with {x}.", "I love {x}.", "I enjoy {x}.", "I'm allergic to {x}.",
    "likes {X}", "dislikes {X}", "prefers {x}", "I am not a fan of {x}.", "I find {x} overwhelming and prefer {y}.", "{X}, {Y}", "{x}, {y}, {z}",
    "I am interested in {x} and {y}.", "I only {g}.", "I refuse to {g}.",
]  # fmt: skip


def renamed(lines: list[str], rng: random.Random, variants: int) -> list[str]:
    """Sentences that begin with a first name that many of them begin with, with other names in its place."""
    first = re.compile(r"([A-Z][a-zà-ÿ]+)(?='s | )")
    count = Counter(m.group(1) for line in lines if (m := first.match(line)))
    hers, his = Counter(), Counter()
    for line in lines:
        if m := first.match(line):
            hers[m.group(1)] += len(re.findall(r"\b(?:she|her|herself)\b", line))
            his[m.group(1)] += len(re.findall(r"\b(?:he|his|him|himself)\b", line))
    gender = {n: "her" if hers[n] > his[n] else "his" for n, c in count.items() if c >= 8 and hers[n] != his[n]}
    out = []
    for line in lines:
        names = [n for n in set(re.findall(r"\b[A-Z][a-zà-ÿ]+", line)) if n in gender]
        if not names or first.match(line) is None:
            continue
        for _ in range(variants):
            other = {n: rng.choice(NAMES[gender[n]]) for n in names}
            out.append(re.sub(r"\b(" + "|".join(names) + r")\b", lambda m: other[m.group(1)], line))
    return out


def derive(texts: dict[str, list[str]], rng: random.Random) -> dict[str, list[str]]:
    third, commits, keyed, liked = [], [], [], []
    for name in (
        "persona_utterances_en.txt", "persona_lines_en.txt", "llm_statements_first_person.txt", "memory_bench_mit.txt",
        "llm_personas_tinytroupe.txt", "agents_users_tasks_mit.txt", "tatoeba_sentences.txt", "instructions_utterances.txt",
        "blog_narratives_cosmosqa.txt", "assistant_utterances_en.txt", "people_cards.txt", "people_en.txt",
    ):  # fmt: skip
        for line in texts[name]:
            for _ in range(1 if name == "tatoeba_sentences.txt" else 2):  # two names for a sentence
                found = third_person(line, rng)
                if found:
                    third.append(found)
    for name in ("agent_rules.txt", "docs_bullets_sentences.txt", "commit_subjects.txt"):
        commits.extend(found for line in texts[name] if (found := commit_style(line, rng)))
    rules = [line for line in texts["agent_rules.txt"] if len(line) < 160]
    heads = [m.group(1) for line in rules if (m := re.match(r"([A-Z][\w/ -]{2,30}):", line))]
    for line in rng.sample(rules, len(rules) // 3):
        keyed.append(f"{rng.choice(heads)}: {line}" if ":" not in line and rng.random() < 0.5 else rng.choice(MARKS) + line)
    nouns = [t for t in texts["categories_lists.txt"] if 3 < len(t) < 32 and "," not in t]
    acts = [m.group(1) for t in texts["persona_utterances_en.txt"] if (m := re.search(r"\bto ((?:\w+ ){1,4}\w+)[.!]", t))]
    for _ in range(60000):
        x, y, z = rng.choice(nouns), rng.choice(nouns), rng.choice(nouns)
        frame = rng.choice(LIKES)
        liked.append(frame.format(x=x.lower(), y=y.lower(), z=z.lower(), X=x, Y=y, g=rng.choice(acts)))
    return {
        "renamed (derived)": renamed(texts["written_talk.txt"], rng, 3),
        "third_person (derived)": third,
        "commit_style (derived)": commits,
        "key_value (derived)": keyed,
        "preference_style (derived)": liked,
        "notes_in_frames (derived)": frames.noted(texts, NAMES["her"] + NAMES["his"], rng, 60_000),
        "marked (derived)": frames.marked(texts, rng, 40_000),
    }
