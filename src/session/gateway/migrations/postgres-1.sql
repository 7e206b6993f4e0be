CREATE TABLE calls (
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'decided', 'running', 'settled')),
    live_until BIGINT NOT NULL,
    due BIGINT,
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    writer TEXT NOT NULL,
    held TEXT NOT NULL,
    PRIMARY KEY (session, id)
);
CREATE INDEX calls_unsettled ON calls (state, live_until, due, session) WHERE state <> 'settled';
CREATE INDEX calls_due ON calls (due) WHERE due IS NOT NULL;
CREATE INDEX calls_settled ON calls (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    session TEXT,
    created_at BIGINT NOT NULL,
    held TEXT NOT NULL
);
CREATE INDEX grants_owner ON grants (owner);

CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('acl_calls', json_build_array(NEW.session, NEW.id, NEW.writer)::text);
    RETURN NULL;
END
$$;
-- Ends that nobody was asked about are not told: there are many, and nobody waits for them.
CREATE TRIGGER asked AFTER INSERT ON calls FOR EACH ROW WHEN (NEW.state = 'pending') EXECUTE FUNCTION tell();
CREATE TRIGGER stepped AFTER UPDATE ON calls FOR EACH ROW WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION tell();
