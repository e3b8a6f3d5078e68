-- What waits for a decision, so that lists need not read the folders of nights; and a token for those who follow nights.

-- What is decided about the night: 'none', 'waiting', 'adopted', 'rejected', 'reverted', or 'stale' when nobody can
-- decide about its folder. NULL: nobody looked yet.
ALTER TABLE nights ADD COLUMN decision TEXT;
-- JSON: its documents with their lines, flags and hashes; empty: nobody looked yet.
ALTER TABLE nights ADD COLUMN review_json TEXT NOT NULL DEFAULT '';
-- Rises over all nights with each change that is shown.
ALTER TABLE nights ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;

CREATE INDEX nights_by_decision ON nights (decision, started_at_ms DESC, id DESC);
CREATE INDEX nights_by_changed ON nights (changed);

CREATE TRIGGER nights_begun AFTER INSERT ON nights BEGIN
    UPDATE nights SET changed = (SELECT max(changed) + 1 FROM nights) WHERE id = NEW.id;
END;

-- A sign of life alone is no news.
CREATE TRIGGER nights_moved AFTER UPDATE OF status, detail, night, staging, progress_json, decision, review_json ON nights
WHEN (OLD.status, OLD.detail, OLD.progress_json, OLD.review_json) <> (NEW.status, NEW.detail, NEW.progress_json, NEW.review_json)
    OR OLD.night IS NOT NEW.night OR OLD.staging IS NOT NEW.staging OR OLD.decision IS NOT NEW.decision
BEGIN
    UPDATE nights SET changed = (SELECT max(changed) + 1 FROM nights) WHERE id = NEW.id;
END;
