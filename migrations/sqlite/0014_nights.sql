-- Nights of SkillOpt-Sleep. What a night found stands in its folder; here is what lists and live views need.
CREATE TABLE nights (
    id             TEXT    PRIMARY KEY,
    -- Absolute path.
    project        TEXT    NOT NULL,
    -- The project's own count; NULL while that is not known, and for dry runs.
    night          INTEGER,
    is_dry         INTEGER NOT NULL,
    is_simulated   INTEGER NOT NULL,
    -- Who answers, for people.
    models         TEXT    NOT NULL,
    actor          TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    -- Why it ended so, for people; may be empty.
    detail         TEXT    NOT NULL DEFAULT '',
    -- The night's folder; NULL when it has none.
    staging        TEXT,
    started_at_ms  INTEGER NOT NULL,
    ended_at_ms    INTEGER,
    -- JSON.
    progress_json  TEXT    NOT NULL,
    -- JSON: the harvest by source; NULL before it is done.
    harvest_json   TEXT,
    -- JSON: the whole report; NULL before it is done.
    report_json    TEXT,
    -- What lists show of the report; NULL where it was not measured.
    baseline_score  REAL,
    candidate_score REAL,
    is_accepted     INTEGER NOT NULL DEFAULT 0,
    -- JSON: the settings that it was begun with; decisions about it are made with the same.
    settings_json   TEXT    NOT NULL DEFAULT '',
    -- A person asks for the end.
    is_cancel_asked INTEGER NOT NULL DEFAULT 0,
    -- Kept when the process seems gone: it may come back and tell how the night ended.
    lease_owner    TEXT,
    lease_until_ms INTEGER
);

CREATE INDEX nights_by_start ON nights (started_at_ms DESC);
CREATE INDEX nights_by_project ON nights (project, started_at_ms DESC);
-- One night at a time works on a project.
CREATE UNIQUE INDEX nights_running ON nights (project) WHERE status = 'running';
