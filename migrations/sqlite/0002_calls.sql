-- The ledger of model calls and the texts that everything refers to by hash.

CREATE TABLE blobs (
    id    INTEGER PRIMARY KEY,
    hash  TEXT    NOT NULL UNIQUE,
    -- 0: as it is; 1: zstd.
    codec INTEGER NOT NULL,
    size  INTEGER NOT NULL,
    bytes BLOB    NOT NULL
);

CREATE TABLE calls (
    id                INTEGER PRIMARY KEY,
    key               TEXT    NOT NULL UNIQUE,
    role              TEXT    NOT NULL,
    purpose           TEXT    NOT NULL,
    model             TEXT    NOT NULL,
    finish            TEXT    NOT NULL,
    -- Hash of the reply's text.
    reply             TEXT    NOT NULL,
    -- JSON: a list of [speaker, hash].
    messages          TEXT    NOT NULL,
    -- NULL: the provider did not say.
    prompt_tokens     INTEGER,
    completion_tokens INTEGER,
    -- NULL: no price is known.
    cost_usd_micros   INTEGER,
    latency_ms        INTEGER NOT NULL,
    attempts          INTEGER NOT NULL,
    -- JSON: a list of texts.
    adaptations       TEXT    NOT NULL,
    created_at_ms     INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
);

-- Calls that brought no answer. Never served.
CREATE TABLE call_failures (
    id            INTEGER PRIMARY KEY,
    key           TEXT    NOT NULL,
    role          TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    message       TEXT    NOT NULL,
    attempts      INTEGER NOT NULL,
    -- JSON: answers that were paid for and could not be used.
    billed_json   TEXT    NOT NULL,
    created_at_ms INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
);

CREATE INDEX call_failures_by_key ON call_failures (key);

CREATE TABLE run_skills (
    run_no INTEGER NOT NULL REFERENCES runs (no),
    skill  TEXT    NOT NULL,
    PRIMARY KEY (run_no, skill)
) WITHOUT ROWID;
