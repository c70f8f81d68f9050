import { configDefaults, defineConfig } from 'vitest/config'
import { isInstalled } from './test/support/need-tool.ts'
import { NOT_ON_ETCD } from './test/support/not-on-etcd.ts'
import { SHORT, UNIT, UNIT_IN_PROCESSES } from './test/support/speeds.ts'

/** A text that costs quadratic time costs more. */
const UNIT_LIMIT_MS = 15_000
const CLIENTS = ['test/clients/**/*.test.ts']
/** One seed for the property tests, where the environment has one. */
const SEEDED = process.env['PROPERTY_SEED'] === undefined ? [] : ['test/support/property-seed.ts']

export default defineConfig({
  test: {
    globalSetup: ['scripts/global-setup.js'],
    setupFiles: SEEDED,
    // Processes and not threads: tests start servers, use native modules and expect signals.
    pool: 'forks',
    maxWorkers: 2,
    // A test takes a second or two. The limits are for machines that are ten times slower, or busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    // One second by default, which a busy machine takes for one look.
    expect: { poll: { timeout: 30_000 } },
    // The list of failures at the end shows what was found, whole.
    chaiConfig: { truncateThreshold: 0 },
    // `npm test` runs the projects whose names begin with `short` (scripts/test.js). A test file is in one of the first four.
    projects: [
      {
        extends: true,
        test: {
          name: 'short-unit',
          // A process for each file took three times the processor time.
          pool: 'threads',
          isolate: false,
          testTimeout: UNIT_LIMIT_MS,
          setupFiles: ['test/support/shared-thread.ts'],
          include: UNIT,
          exclude: [...configDefaults.exclude, ...UNIT_IN_PROCESSES],
        },
      },
      {
        extends: true,
        test: { name: 'short-unit-processes', include: UNIT_IN_PROCESSES, testTimeout: UNIT_LIMIT_MS },
      },
      {
        extends: true,
        test: {
          name: 'short',
          include: SHORT,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SHORT, ...CLIENTS, 'test/support/on-etcd.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // Programs of others that mostly wait: for their own intervals, and for servers that are gone.
          name: 'clients',
          include: CLIENTS,
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          // What meets the connections of clients, once more the way of versions of Node.js that are not tested.
          name: 'node-streams',
          include: [
            'test/http/**/*.test.ts',
            'test/interface/{bytes,connections,limits,stop,stop-busy}.test.ts',
            'test/security/holes.test.ts',
          ],
          env: { WAYPOST_NODE_STREAMS: 'true' },
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // What clients see, once more with servers that have their data in etcd, which is built with Go.
          name: 'on-etcd',
          globalSetup: ['test/support/etcd-of-run.ts'],
          include: [
            'test/support/on-etcd.test.ts',
            ...(isInstalled('go')
              ? [
                  'test/interface/**/*.test.ts',
                  'test/grpc/config*.test.ts',
                  'test/grpc/naming*.test.ts',
                  'test/security/authorisation-matrix.test.ts',
                ]
              : []),
          ],
          exclude: [
            ...configDefaults.exclude,
            ...Object.keys(NOT_ON_ETCD).map((name) => `test/interface/${name}.test.ts`),
          ],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
