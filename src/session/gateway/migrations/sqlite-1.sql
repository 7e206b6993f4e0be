CREATE TABLE calls (
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'decided', 'running', 'settled')),
    live_until INTEGER NOT NULL,
    due INTEGER,
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
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
    created_at INTEGER NOT NULL,
    held TEXT NOT NULL
);
CREATE INDEX grants_owner ON grants (owner);
