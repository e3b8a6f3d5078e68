-- Writes into live files, and who did what.

CREATE TABLE adoptions (
    no              INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    run             TEXT    NOT NULL,
    skill           TEXT    NOT NULL,
    path            TEXT    NOT NULL,
    real_path       TEXT    NOT NULL,
    -- Hash of the live file before; NULL when there was none.
    before_hash     TEXT,
    backup          TEXT,
    actor           TEXT    NOT NULL,
    at_ms           INTEGER NOT NULL,
    idempotency_key TEXT    NOT NULL UNIQUE,
    state           TEXT    NOT NULL CHECK (state IN ('intended', 'done', 'reverted', 'failed')),
    error           TEXT,
    reverted_at_ms  INTEGER
);

-- One open write a file, whatever the process.
CREATE UNIQUE INDEX adoptions_open ON adoptions (real_path) WHERE state = 'intended';
CREATE INDEX adoptions_by_run ON adoptions (run, no);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    actor   TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    detail  TEXT    NOT NULL
);
