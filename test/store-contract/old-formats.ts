/** Makes of a new file's table of instances that of formats 2 and 3, at its place. */
export const INSTANCES_OF_FORMAT_3 = `
DROP TABLE instance;
CREATE TABLE instance (
  serial INTEGER PRIMARY KEY,
  service_serial INTEGER NOT NULL,
  healthy INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  record TEXT NOT NULL
);`
