-- Nights that the server runs every day.
CREATE TABLE schedules (
    id            TEXT    PRIMARY KEY,
    -- Absolute path. One schedule a project: two nights a day on the same sessions help nobody.
    project       TEXT    NOT NULL UNIQUE,
    -- JSON: all options of its nights. No secrets.
    options_json  TEXT    NOT NULL,
    hour          INTEGER NOT NULL CHECK (hour BETWEEN 0 AND 23),
    minute        INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 59),
    -- IANA name.
    zone          TEXT    NOT NULL,
    is_enabled    INTEGER NOT NULL,
    -- The day whose night is taken care of, as 2026-11-30. Only written where it is still what the writer read.
    served        TEXT    NOT NULL,
    -- Counts the changes by people.
    revision      INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    changed_by    TEXT    NOT NULL
);

-- What became of nights that were due, the latest of each schedule.
CREATE TABLE schedule_outcomes (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule TEXT    NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    kind     TEXT    NOT NULL,
    due_ms   INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    -- The night that began; NULL where none did.
    night    TEXT,
    -- Why, for people; may be empty.
    words    TEXT    NOT NULL DEFAULT ''
);

CREATE INDEX schedule_outcomes_by_schedule ON schedule_outcomes (schedule, id DESC);
