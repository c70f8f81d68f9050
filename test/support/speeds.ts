/**
 * The speeds of the tests, for vitest.config.ts. `npm test` runs the short tests: the projects whose names begin with `short`.
 * `npm run test:all` runs the long tests, too. A test of a folder that is not named here is long. `npm run test:nightly` runs the
 * tests of the night besides. test/speeds.test.ts checks that every test file has one speed.
 */

/** Tests that run only at night. */
export const NIGHT = ['**/*.night.test.ts']

/** Unit tests: short, wherever they are. */
export const UNIT = ['{src,packages,console/src}/**/*.test.ts']

/**
 * Unit tests that open the database, start processes or threads, send signals or measure memory: each file has a process of its
 * own. All others share two threads. There test/support/shared-thread.ts refuses what needs a process.
 */
export const UNIT_IN_PROCESSES = ['src/store/embedded/**/*.test.ts', 'src/sign-in/passwords.test.ts']

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

/** Long tests with a run of their own. The other long tests are in the project `long`. */
export const LONG = {
  /** Depend on the version of Node.js: `.ci/run` has them on Node.js 24, and the night on all versions. */
  'http-and-grpc': ['test/{http,grpc}/**/*.test.ts'],
  /** Programs of others that mostly wait: for their own intervals, and for servers that are gone. */
  clients: ['test/clients/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
  packages: ['test/{container,deploy,packaging}/**/*.test.ts'],
}
