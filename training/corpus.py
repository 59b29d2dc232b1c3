"""The training text: reads the sources, weighs them, and derives more text from them by rule.

A source is a file with one value a line, or `LABEL<TAB>value` in the .tsv files. REPEATS says how
often a source is seen per epoch: what looks like the values agents and people store is seen more
often than what only teaches the language. Derived sources (augment.py) are counted like files.
Values are cut to 1,024 bytes, the limit of the service.
"""

import os
import random

import augment

CHANNELS = (
    "USER.name USER.project USER.affiliation USER.gpu USER.working_dir USER.os USER.role USER.location "
    "USER.timezone USER.language PREF.response_style PREF.code_style PREF.verbosity PREF.format PREF.tone "
    "PREF.editor PREF.tools PREF.units PREF.schedule PREF.avoid TASK.current TASK.next TASK.blocked_on "
    "TASK.deadline TASK.priority TASK.owner TASK.last_done TASK.decision TASK.question TASK.reminder "
    "PROJ.status PROJ.last_result PROJ.model_target PROJ.token_budget PROJ.accuracy PROJ.repo PROJ.stack "
    "PROJ.branch PROJ.goal PROJ.constraint"
).split()
ANY_LABEL = len(CHANNELS)
VALUE_BYTES_MAX = 1024

REPEATS = {
    "agent_notes.txt": 2.5,
    "agent_rules.txt": 1.8,
    "agents_users_tasks_mit.txt": 1.2,
    "assistant_utterances_en.txt": 0.7,
    "blind_bank.txt": 3.0,
    "blind_commits.txt": 3.0,
    "blind_log.txt": 3.0,
    "blind_memory.txt": 3.0,
    "blind_preferences.txt": 3.0,
    "blind_profiles.txt": 3.0,
    "blind_rules.txt": 3.0,
    "blind_world.txt": 3.0,
    "blog_narratives_cosmosqa.txt": 1.5,
    "books_titles_authors.txt": 0.5,
    "categories_lists.txt": 0.8,
    "children_stories_ccby.txt": 1.0,
    "cities_countries.txt": 0.4,
    "commit_subjects.txt": 0.8,
    "commit_subjects_agents.txt": 2.5,
    "commits_conventional.txt": 1.3,
    "common_voice_en.txt": 1.0,
    "common_voice_i18n.txt": 0.8,
    "debian_desc_en.txt": 0.8,
    "debian_desc_i18n.txt": 0.6,
    "decisions.txt": 2.0,
    "docs_agents.txt": 1.0,
    "docs_bullets_sentences.txt": 0.9,
    "docs_chinese.txt": 1.4,
    "faker_values.txt": 0.6,
    "file_paths.txt": 1.0,
    "films_wikipedia.txt": 0.5,
    "handbook_en.txt": 1.0,
    "instructions_utterances.txt": 1.2,
    "llm_personas_tinytroupe.txt": 1.3,
    "llm_statements_first_person.txt": 1.5,
    "memory_bench_mit.txt": 2.5,
    "memory_strings.txt": 2.5,
    "names_hardware_iso_tz.txt": 0.4,
    "notes_agents.txt": 2.2,
    "npm_descriptions.txt": 1.5,
    "npm_identifiers.txt": 0.8,
    "occupations_skills_onet_esco.txt": 0.7,
    "people_and_projects_i18n.txt": 2.0,
    "people_cards.txt": 4.0,
    "people_en.txt": 2.0,
    "persona_ja.txt": 0.5,
    "persona_lines_en.txt": 3.0,
    "persona_utterances_en.txt": 2.0,
    "project_oneliners.txt": 1.5,
    "project_status.txt": 2.5,
    "summaries_stories_meetings.txt": 1.8,
    "synthetic_facts.tsv": 0.7,
    "synthetic_persona_lines.txt": 2.0,
    "synthetic_profiles.tsv": 1.2,
    "talks_bios_gov_posts.txt": 1.2,
    "tatoeba_sentences.txt": 1.0,
    "textbook_ccby.txt": 0.6,
    "vscode_loc_i18n.txt": 0.6,
    "wikipedia_sentences.txt": 0.7,
    "wordnet_glosses.txt": 0.7,
    "written_bank.txt": 3.0,
    "written_life.txt": 2.5,
    "written_lists.txt": 3.0,
    "written_memory.txt": 3.0,
    "written_observations.txt": 3.0,
    "written_persona.txt": 3.0,
    "written_preferences.txt": 3.0,
    "written_projects.txt": 4.0,
    "written_rules.txt": 3.0,
    "written_talk.txt": 2.0,
    "written_world.txt": 3.0,
    "renamed (derived)": 2.0,
    "third_person (derived)": 1.5,
    "commit_style (derived)": 1.0,
    "key_value (derived)": 0.7,
    "preference_style (derived)": 0.6,
    "notes_in_frames (derived)": 0.6,
    "marked (derived)": 0.6,
}

REPEATED = ("written_lists.txt", "written_life.txt")

# In the last part of the training what was seen very often or was made from templates is seen less: repeated
# further, it made the model sure of itself and worse on new values. What was written for this model is seen more.
FINAL_REPEATS = {
    "categories_lists.txt": 0.8,
    "llm_personas_tinytroupe.txt": 1.0,
    "agent_rules.txt": 1.5,
    "commit_subjects.txt": 0.5,
    "commits_conventional.txt": 1.1,
    "memory_strings.txt": 2.0,
    "memory_bench_mit.txt": 2.0,
    "persona_lines_en.txt": 3.0,
    "persona_utterances_en.txt": 2.0,
    "llm_statements_first_person.txt": 1.2,
    "synthetic_facts.tsv": 0.4,
    "synthetic_persona_lines.txt": 1.6,
    "synthetic_profiles.tsv": 1.0,
    "third_person (derived)": 1.2,
    "commit_style (derived)": 0.5,
    "key_value (derived)": 0.5,
    "preference_style (derived)": 0.5,
    "notes_in_frames (derived)": 0.4,
    "debian_desc_en.txt": 0.5,
    "debian_desc_i18n.txt": 0.5,
    "faker_values.txt": 0.4,
    "wordnet_glosses.txt": 0.5,
    "blind_bank.txt": 4.0,
    "blind_commits.txt": 4.0,
    "blind_log.txt": 4.0,
    "blind_memory.txt": 4.0,
    "blind_preferences.txt": 4.0,
    "blind_profiles.txt": 4.0,
    "blind_rules.txt": 4.0,
    "blind_world.txt": 4.0,
    "written_bank.txt": 4.0,
    "written_memory.txt": 4.0,
    "written_observations.txt": 4.0,
    "written_persona.txt": 4.0,
    "written_rules.txt": 4.0,
    "written_world.txt": 4.0,
}

# Which group of channels a source's text would be stored under, for the part of the labels that is not drawn at random.
GROUP_OF_SOURCE = {
    "agent_notes.txt": (10, 40),
    "agent_rules.txt": (10, 40),
    "blind_bank.txt": (10, 40),
    "blind_commits.txt": (20, 40),
    "blind_log.txt": (20, 40),
    "blind_preferences.txt": (0, 20),
    "blind_profiles.txt": (0, 20),
    "blind_rules.txt": (10, 40),
    "commit_subjects.txt": (20, 40),
    "commit_subjects_agents.txt": (20, 40),
    "commits_conventional.txt": (20, 40),
    "decisions.txt": (20, 40),
    "docs_agents.txt": (10, 40),
    "docs_bullets_sentences.txt": (20, 40),
    "file_paths.txt": (30, 40),
    "memory_strings.txt": (20, 40),
    "notes_agents.txt": (10, 40),
    "npm_descriptions.txt": (30, 40),
    "people_cards.txt": (0, 20),
    "people_en.txt": (0, 20),
    "project_status.txt": (20, 40),
    "written_bank.txt": (10, 40),
    "written_observations.txt": (0, 20),
    "written_persona.txt": (0, 20),
    "written_projects.txt": (10, 40),
    "written_rules.txt": (10, 40),
    "commit_style (derived)": (20, 40),
    "key_value (derived)": (20, 40),
    "third_person (derived)": (0, 20),
    "preference_style (derived)": (10, 20),
    "synthetic_persona_lines.txt": (0, 20),
    "persona_utterances_en.txt": (0, 20),
    "persona_lines_en.txt": (0, 20),
    "llm_statements_first_person.txt": (0, 20),
}


def read_source(path: str) -> list[tuple[int, bytes]]:
    """(channel or -1, value) for each line of a file."""
    number = {name: i for i, name in enumerate(CHANNELS)}
    out, seen = [], set()
    with open(path, "rb") as file:
        for line in file:
            line = line.rstrip(b"\r\n")
            channel = -1
            if path.endswith(".tsv"):
                label, _, line = line.partition(b"\t")
                channel = number.get(label.decode(), -1)
            # How often people choose the same value is worth knowing; a repeated line of a document is not.
            if line and (line not in seen or path.endswith(REPEATED)):
                seen.add(line)
                out.append((channel, line[:VALUE_BYTES_MAX]))
    return out


def load(folder: str, seed: int) -> dict[str, list[tuple[int, bytes]]]:
    """All sources by name, derived ones included."""
    sources = {}
    for name in sorted(os.listdir(folder)):
        if name in REPEATS:
            sources[name] = read_source(os.path.join(folder, name))
    missing = [n for n in REPEATS if "derived" not in n and n not in sources]
    if missing:
        raise SystemExit(f"sources missing in {folder}: {', '.join(missing)}")
    texts = {name: [value.decode("utf-8", "replace") for _, value in rows] for name, rows in sources.items()}
    for name, lines in augment.derive(texts, random.Random(seed)).items():
        sources[name] = [(-1, line.encode()[:VALUE_BYTES_MAX]) for line in lines]
    return sources
