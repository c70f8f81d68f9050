/**
 * The two speeds of the tests, for vitest.config.ts. `npm test` runs the short tests: the projects whose names begin with
 * `short`. `npm run test:all` runs all. A test of a folder that is not named here is long. test/speeds.test.ts checks that every
 * test file has one speed.
 */

/** Unit tests: short, wherever they are. */
export const UNIT = ['src/**/*.test.ts', 'console/src/**/*.test.ts']

/**
 * Unit tests that open the database, listen, start processes or threads, send signals or measure memory: each file has a process
 * of its own. All others share two threads. There test/support/shared-thread.ts refuses what needs a process.
 */
export const UNIT_IN_PROCESSES = [
  'src/{cluster,command,jobs,probes,store}/**/*.test.ts',
  'src/protocols/{udp,http/transport}/**/*.test.ts',
  'src/sign-in/passwords.test.ts',
]

/** Tests of the project and of a whole server that are short. */
export const SHORT = [
  'test/*.test.ts',
  'test/interface/**/*.test.ts',
  'test/routes/**/*.test.ts',
  // The contract on etcd builds etcd with Go: it is long.
  'test/store-contract/!(etcd).test.ts',
  'test/terminal/reference.test.ts',
  'test/simulation/few-stories.test.ts',
  'test/browser/smoke.test.ts',
  'test/fuzz/stream-states.test.ts',
  'test/grpc/message-reader.test.ts',
]
