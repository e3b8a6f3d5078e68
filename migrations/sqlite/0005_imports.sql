-- Runs that were read from run folders, and what was said in attempts that no recorded call stands for.

CREATE TABLE imports (
    run_no            INTEGER PRIMARY KEY REFERENCES runs (no),
    folder            TEXT    NOT NULL,
    system            TEXT    NOT NULL,
    imported_at_ms    INTEGER NOT NULL,
    why_not_resumable TEXT    NOT NULL
);

CREATE TABLE conversations (
    outcome  INTEGER PRIMARY KEY REFERENCES outcomes (id),
    -- JSON: a list of [speaker, hash].
    messages TEXT    NOT NULL
);
