-- Rollout sets and the outcome of each attempt.

CREATE TABLE rollout_sets (
    id          INTEGER PRIMARY KEY,
    run_no      INTEGER NOT NULL REFERENCES runs (no),
    key         TEXT    NOT NULL,
    purpose     TEXT    NOT NULL,
    step        INTEGER NOT NULL,
    skill       TEXT    NOT NULL,
    sample_json TEXT    NOT NULL,
    UNIQUE (run_no, key)
);

CREATE TABLE outcomes (
    id        INTEGER PRIMARY KEY,
    run_no    INTEGER NOT NULL REFERENCES runs (no),
    set_id    INTEGER NOT NULL REFERENCES rollout_sets (id),
    -- Repeated from the set, so that every filter has an index.
    purpose   TEXT    NOT NULL,
    step      INTEGER NOT NULL,
    task      TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    task_type TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    -- NULL unless scored. Zero is a score.
    hard      REAL,
    soft      REAL,
    predicted TEXT,
    truncated INTEGER NOT NULL,
    -- Reason of a failure or a refusal, or the message of an error.
    reason    TEXT    NOT NULL,
    -- Stable word of an infrastructure error.
    code      TEXT,
    call      TEXT,
    cached    INTEGER NOT NULL
);

CREATE INDEX outcomes_by_kind ON outcomes (run_no, kind, id);
CREATE INDEX outcomes_by_place ON outcomes (run_no, purpose, step, kind);
CREATE INDEX outcomes_by_set ON outcomes (set_id, id);
CREATE INDEX outcomes_by_step ON outcomes (run_no, step, id);
CREATE INDEX outcomes_by_task ON outcomes (run_no, task, id);
