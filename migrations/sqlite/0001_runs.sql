-- Runs, their journal and what is folded from it.
--
-- `runs` holds what lists, sorts and leases need, so that a page of runs is one scan of small rows.
-- Large texts (config, fold) live in `run_documents`.
CREATE TABLE runs (
    no              INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    name            TEXT    NOT NULL,
    status          TEXT    NOT NULL,
    created_at_ms   INTEGER NOT NULL,
    -- NULL: not measured. Zero is a score.
    best_score      REAL,
    n_steps         INTEGER NOT NULL DEFAULT 0,
    -- NULL: unknown, because a call has no known price.
    cost_usd_micros INTEGER,
    -- Lower-case name, models and benchmark, for the search box.
    search          TEXT    NOT NULL,
    -- Number of the last event.
    seq             INTEGER NOT NULL DEFAULT 0,
    -- Rises over all runs with each change: the token of pollers.
    changed         INTEGER NOT NULL,
    lease_owner     TEXT,
    lease_until_ms  INTEGER,
    -- What a person asked for and the owner has not taken yet.
    command         TEXT,
    active_ms       INTEGER NOT NULL DEFAULT 0,
    out_root        TEXT    NOT NULL,
    actor           TEXT    NOT NULL,
    fresh           TEXT,
    spend_json      TEXT    NOT NULL,
    progress_json   TEXT,
    summary_json    TEXT    NOT NULL
);

CREATE INDEX runs_by_created ON runs (created_at_ms, no);
CREATE INDEX runs_by_name ON runs (name COLLATE NOCASE, no);
CREATE INDEX runs_by_best ON runs (best_score, no);
CREATE INDEX runs_by_cost ON runs (cost_usd_micros, no);
CREATE INDEX runs_by_steps ON runs (n_steps, no);
CREATE INDEX runs_by_status ON runs (status, no);
CREATE INDEX runs_by_changed ON runs (changed);
CREATE INDEX runs_by_out_root ON runs (out_root);
CREATE INDEX runs_by_lease ON runs (lease_until_ms) WHERE lease_owner IS NOT NULL;

CREATE TABLE run_documents (
    run_no      INTEGER PRIMARY KEY REFERENCES runs (no),
    config_json TEXT NOT NULL,
    -- The fold without steps and versions, which have their own tables.
    view_json   TEXT NOT NULL
);

CREATE TABLE events (
    id        INTEGER PRIMARY KEY,
    run_no    INTEGER NOT NULL REFERENCES runs (no),
    seq       INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    at_ms     INTEGER NOT NULL,
    type      TEXT    NOT NULL,
    step      INTEGER,
    kind_json TEXT    NOT NULL,
    UNIQUE (run_no, seq),
    UNIQUE (run_no, key)
);

CREATE INDEX events_by_step ON events (run_no, step, seq) WHERE step IS NOT NULL;
CREATE INDEX events_by_type ON events (run_no, type, seq);

CREATE TABLE steps (
    id              INTEGER PRIMARY KEY,
    run_no          INTEGER NOT NULL REFERENCES runs (no),
    step            INTEGER NOT NULL,
    action          TEXT    NOT NULL,
    candidate_score REAL,
    current_score   REAL,
    best_score      REAL,
    rollout_hard    REAL,
    rollout_soft    REAL,
    skill_tokens    INTEGER NOT NULL,
    -- Tokens that the step spent.
    tokens          INTEGER NOT NULL,
    error_share     REAL    NOT NULL,
    summary_json    TEXT    NOT NULL,
    UNIQUE (run_no, step)
);

-- Curves are read from this index alone.
CREATE INDEX steps_curve ON steps (
    run_no, step, candidate_score, current_score, best_score, rollout_hard, rollout_soft,
    skill_tokens, tokens, error_share
);

-- Lowest and highest point of each curve in 256 steps; filled when a long curve is read.
CREATE TABLE curve_blocks (
    run_no     INTEGER NOT NULL REFERENCES runs (no),
    block      INTEGER NOT NULL,
    block_json TEXT    NOT NULL,
    PRIMARY KEY (run_no, block)
) WITHOUT ROWID;

CREATE TABLE versions (
    run_no  INTEGER NOT NULL REFERENCES runs (no),
    version INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    skill   TEXT    NOT NULL,
    score   REAL,
    n       INTEGER,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (run_no, version)
) WITHOUT ROWID;
