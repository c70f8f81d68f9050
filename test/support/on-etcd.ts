/**
 * The files that run with servers on etcd at each change: they write through the store, and read back. The other files of ON_ETCD
 * run so at night (vitest.config.ts).
 */
export const WRITES_ON_ETCD = [
  'test/interface/{configs,config-notes,config-transfer,history,import-*,nacos-import,gray,gray-weight}.test.ts',
  'test/interface/{addresses,instances,instance-changes,goodbyes,silenced,services,namespaces,switch-effects,warm-swap}.test.ts',
  'test/interface/{users,sign-in-sessions,audit,console-events,durability,every-operation-memory,start-memory}.test.ts',
  'test/grpc/{config,naming,naming-addresses,naming-subscriptions}.test.ts',
]

/** The files that run with servers on etcd, besides NOT_ON_ETCD. */
export const ON_ETCD = [
  'test/interface/**/*.test.ts',
  'test/grpc/{config,naming}*.test.ts',
  'test/security/authorisation-matrix.test.ts',
]

/** The files of test/interface that do not run with servers on etcd, and why. */
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
  'metrics-address': 'an address for measurements',
  openapi: 'a document',
  tls: 'TLS of clients',
  'tls-files': 'files of certificates',
  // Others that have nothing of the store in them.
  'probes-mysql': 'the protocol of MySQL',
} as const
