/**
 * The tables. Contents are stored once. A record of op U or D answers the content of the revision that it replaced (`prev_id`). An
 * item has the content of the newest revision of its name. The row in `config_item` is written only when it changes:
 * `revision_id` is the newest revision then, and a later one may follow (see `current-versions.ts`). `content` is the
 * last column so that the others are read without it. `hidden` marks a revision that history no longer shows and whose
 * content a later record, or the item, answers.
 */
export const SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);

CREATE TABLE config_name (
  id INTEGER PRIMARY KEY,
  namespace_id TEXT NOT NULL,
  group_name TEXT NOT NULL,
  data_id TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (namespace_id, group_name, data_id)
);

CREATE TABLE config_revision (
  id INTEGER PRIMARY KEY,
  name_id INTEGER NOT NULL,
  item_id INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('I', 'U', 'D')),
  prev_id INTEGER,
  md5 TEXT,
  type TEXT,
  app_name TEXT,
  encrypted_data_key TEXT,
  src_ip TEXT NOT NULL,
  src_user TEXT,
  at_ms INTEGER NOT NULL,
  note TEXT,
  hidden INTEGER NOT NULL,
  content_checksum INTEGER,
  checksum INTEGER NOT NULL,
  content BLOB
);
-- The rowid (id) ends every index: this one gives the records of a name that are shown, in order.
CREATE INDEX config_revision_by_name ON config_revision (name_id, hidden);

CREATE TABLE config_item (
  name_id INTEGER PRIMARY KEY,
  id INTEGER NOT NULL,
  revision_id INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  create_user TEXT,
  create_ip TEXT NOT NULL,
  description TEXT,
  use TEXT,
  effect TEXT,
  schema TEXT,
  config_tags TEXT,
  checksum INTEGER NOT NULL
);

-- Small records: namespaces, switches and other kinds. The rowid keeps the order in which they were first saved.
CREATE TABLE record (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE TABLE service (
  serial INTEGER PRIMARY KEY,
  namespace_id TEXT NOT NULL,
  grouped_name TEXT NOT NULL,
  protect_threshold REAL NOT NULL,
  made_by TEXT NOT NULL,
  selector TEXT NOT NULL,
  clusters TEXT NOT NULL,
  metadata TEXT NOT NULL,
  saved_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);

-- The totals in meta tell whether all rows are there (see instance-totals.ts).
CREATE TABLE instance (
  serial INTEGER PRIMARY KEY,
  service_serial INTEGER NOT NULL,
  healthy INTEGER NOT NULL,
  record TEXT NOT NULL,
  checksum INTEGER NOT NULL
);

-- Events of the audit. The id is the stamp of when one was taken down.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  username TEXT NOT NULL,
  signed_in_by TEXT NOT NULL,
  ip TEXT NOT NULL,
  operation TEXT NOT NULL,
  item TEXT NOT NULL,
  result TEXT NOT NULL,
  code TEXT NOT NULL,
  detail TEXT NOT NULL,
  count INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);
-- Those whose number has a limit of its own, in order.
CREATE INDEX audit_refused ON audit (id) WHERE result <> 'done';
`
