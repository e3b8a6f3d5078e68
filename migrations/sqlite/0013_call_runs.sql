-- Which run paid for a call, so that what a killed process could not add to its run is found again.

-- NULL: no run did, or the call is older than this column.
ALTER TABLE calls ADD COLUMN run TEXT;
ALTER TABLE call_failures ADD COLUMN run TEXT;

CREATE INDEX calls_by_run ON calls (run) WHERE run IS NOT NULL;
CREATE INDEX call_failures_by_run ON call_failures (run) WHERE run IS NOT NULL;
