-- What providers tell of tokens beyond their number, and what came with a reply beside its text.

-- NULL: the provider did not say.
ALTER TABLE calls ADD COLUMN cached_prompt_tokens INTEGER;
ALTER TABLE calls ADD COLUMN reasoning_tokens INTEGER;
-- JSON: {"tool_calls": [], "steps": []}; NULL: nothing came beside the text.
ALTER TABLE calls ADD COLUMN beside TEXT;
