/** The files of test/interface that do not run with servers on etcd, and why. */
export const NOT_ON_ETCD = {
  // About the data file.
  readiness: 'the disk is full',
  'start-size': 'a start with 10,000 rows; that on etcd is measured by the bench',
  // About HTTP only: nothing of the store is in it.
  'bad-input': 'parameters are refused before the store is asked',
  bytes: 'the bytes of requests and answers',
  connections: 'connections of clients',
  limits: 'limits of requests and connections',
  'metrics-address': 'an address of its own for measurements',
  openapi: 'a document',
  'stop-busy': 'connections of clients at a stop',
  tls: 'TLS of clients',
  'tls-files': 'files of certificates',
  // About what takes its time elsewhere.
  'probes-mysql': 'the protocol of MySQL',
  'sign-in-storm': 'the queue before the hashing of passwords',
} as const
