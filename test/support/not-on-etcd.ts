/** The files of test/interface that do not run with servers on etcd (vitest.config.ts), and why. */
export const NOT_ON_ETCD = {
  'store-full': 'is about the disk of the embedded store; test/etcd/full.test.ts is about etcd',
  // About the data file.
  readiness: 'a disk that is full',
  'start-size': 'a start with 10,000 rows: the bench measures that on etcd',
  // About HTTP alone: nothing of the store is in it.
  'bad-input': 'parameters that are refused before the store is asked',
  bytes: 'the bytes of requests and answers',
  connections: 'connections of clients',
  limits: 'limits of requests and connections',
  listener: 'the times of long polls; nacos-listener has polls that a change answers',
  'metrics-address': 'an address for measurements',
  openapi: 'a document',
  'stop-busy': 'connections of clients at a stop',
  tls: 'TLS of clients',
  'tls-files': 'files of certificates',
  // Others that have nothing of the store in them.
  'probes-mysql': 'the protocol of MySQL',
} as const
