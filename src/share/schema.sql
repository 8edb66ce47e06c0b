-- Version 1 of the tables that `annals share init` creates: plain SQL, no extensions, PostgreSQL 13 or newer.

CREATE TABLE annals_meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL
);
INSERT INTO annals_meta (version) VALUES (1);

-- The members of each scope. The owner of this table adds rows; everyone has `private/` with their own name.
CREATE TABLE annals_members (
  scope text NOT NULL,
  member name NOT NULL,
  PRIMARY KEY (scope, member)
);

CREATE TABLE annals_ops (
  scope text NOT NULL,
  device text NOT NULL,
  -- Without gaps per scope and device: numbers of a server-side sequence are not assigned in commit order.
  number bigint NOT NULL,
  op_id text NOT NULL,
  user_id text NOT NULL,
  clock bigint NOT NULL,
  kind text NOT NULL,
  -- For merging and forgetting: the clock of the fact's first operation, and digests of user, key and turn.
  born bigint,
  owner text,
  subject text,
  turn text,
  payload jsonb,
  PRIMARY KEY (scope, device, number)
);
CREATE INDEX annals_ops_subject ON annals_ops (subject) WHERE subject IS NOT NULL;
CREATE INDEX annals_ops_turn ON annals_ops (turn) WHERE turn IS NOT NULL;

CREATE TABLE annals_devices (
  scope text NOT NULL,
  device text NOT NULL,
  highest bigint NOT NULL DEFAULT 0,
  member name NOT NULL DEFAULT current_user,
  -- The time of the last forget that this device sent, and of its last pull.
  forgot_at timestamptz,
  pulled_at timestamptz,
  left_at timestamptz,
  PRIMARY KEY (scope, device)
);

-- Repeated in each policy: a function would look up annals_members in its caller's search path, where it can be
-- a temporary table of the caller's.
ALTER TABLE annals_ops ENABLE ROW LEVEL SECURITY;
ALTER TABLE annals_ops FORCE ROW LEVEL SECURITY;
CREATE POLICY annals_ops_scope ON annals_ops USING (scope = 'private/' || current_user
  OR scope IN (SELECT m.scope FROM annals_members AS m WHERE m.member = current_user));
ALTER TABLE annals_devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE annals_devices FORCE ROW LEVEL SECURITY;
CREATE POLICY annals_devices_scope ON annals_devices USING (scope = 'private/' || current_user
  OR scope IN (SELECT m.scope FROM annals_members AS m WHERE m.member = current_user));
-- Its owner manages it; all others see only their own rows.
ALTER TABLE annals_members ENABLE ROW LEVEL SECURITY;
CREATE POLICY annals_members_own ON annals_members FOR SELECT USING (member = current_user);

GRANT SELECT ON annals_meta, annals_members TO PUBLIC;
GRANT SELECT, INSERT ON annals_ops, annals_devices TO PUBLIC;
-- The number of a sent operation remains; its content can be forgotten.
GRANT UPDATE (op_id, user_id, kind, owner, subject, turn, payload) ON annals_ops TO PUBLIC;
GRANT UPDATE (highest, forgot_at, pulled_at, left_at) ON annals_devices TO PUBLIC;
