-- The price table, one row a version. The last one counts; the others say what was there before.
CREATE TABLE price_tables (
    version   INTEGER PRIMARY KEY,
    at_ms     INTEGER NOT NULL,
    actor     TEXT    NOT NULL,
    -- JSON: a list of rows.
    rows_json TEXT    NOT NULL
);
