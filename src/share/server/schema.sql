-- Version 1 of what `annals share init` makes: plain SQL, no extension, PostgreSQL 13 or newer.

CREATE TABLE annals_meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL
);
INSERT INTO annals_meta (version) VALUES (1);

-- Who shares which scope. The owner of this table adds rows; everyone has `private/` and their own name.
CREATE TABLE annals_members (
  scope text NOT NULL,
  member name NOT NULL,
  PRIMARY KEY (scope, member)
);

CREATE TABLE annals_ops (
  scope text NOT NULL,
  device text NOT NULL,
  -- Without gaps by scope and device: a sequence of the server's is not assigned in the order of commits.
  number bigint NOT NULL,
  op_id text NOT NULL,
  user_id text NOT NULL,
  clock bigint NOT NULL,
  kind text NOT NULL,
  -- What merging and forgetting need: the clock of the fact's first operation, and digests of user, key and turn.
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
  -- When a forget was last sent from here, and when this device last took something in.
  forgot_at timestamptz,
  pulled_at timestamptz,
  left_at timestamptz,
  PRIMARY KEY (scope, device)
);

-- Written out in each policy: a function would look for annals_members where its caller says, which can be a
-- temporary table of the caller's own.
ALTER TABLE annals_ops ENABLE ROW LEVEL SECURITY;
ALTER TABLE annals_ops FORCE ROW LEVEL SECURITY;
CREATE POLICY annals_ops_scope ON annals_ops USING (scope = 'private/' || current_user
  OR scope IN (SELECT m.scope FROM annals_members AS m WHERE m.member = current_user));
ALTER TABLE annals_devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE annals_devices FORCE ROW LEVEL SECURITY;
CREATE POLICY annals_devices_scope ON annals_devices USING (scope = 'private/' || current_user
  OR scope IN (SELECT m.scope FROM annals_members AS m WHERE m.member = current_user));
-- Its owner manages it; all others see their own rows.
ALTER TABLE annals_members ENABLE ROW LEVEL SECURITY;
CREATE POLICY annals_members_own ON annals_members FOR SELECT USING (member = current_user);

GRANT SELECT ON annals_meta, annals_members TO PUBLIC;
GRANT SELECT, INSERT ON annals_ops, annals_devices TO PUBLIC;
-- A number that was sent stays; what it held can be forgotten.
GRANT UPDATE (op_id, user_id, kind, owner, subject, turn, payload) ON annals_ops TO PUBLIC;
GRANT UPDATE (highest, forgot_at, pulled_at, left_at) ON annals_devices TO PUBLIC;
