-- Runs that were made from other runs, and what an import found in its folder.

CREATE TABLE run_origins (
    run_no           INTEGER PRIMARY KEY REFERENCES runs (no),
    kind             TEXT    NOT NULL CHECK (kind IN ('rerun', 'fork')),
    -- Id of the other run.
    from_run         TEXT    NOT NULL,
    -- NULL: the config names another text.
    version          INTEGER,
    skill            TEXT,
    -- JSON: what differed at the start.
    differences_json TEXT    NOT NULL
);

CREATE INDEX run_origins_by_from ON run_origins (from_run);

-- JSON: a list of findings of the last import, which takes the place of the one before.
ALTER TABLE imports ADD COLUMN findings_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE imports ADD COLUMN n_findings_more INTEGER NOT NULL DEFAULT 0;
