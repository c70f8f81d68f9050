import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { isInstalled } from './test/support/need-tool.ts'
import { isNightly } from './test/support/nightly.ts'
import { NOT_ON_ETCD, ON_ETCD, WRITES_ON_ETCD } from './test/support/on-etcd.ts'
import { ShuffledFiles } from './test/support/shuffled-files.ts'
import { LONG, NIGHT, SHORT, UNIT, UNIT_IN_PROCESSES } from './test/support/speeds.ts'

/** A text that costs quadratic time costs more. */
const UNIT_LIMIT_MS = 15_000
/** Tests of whole servers wait half of their time: for programs that start, for intervals, for pages. */
const WAITING_WORKERS = 3
/** One seed for the property tests, where the environment has one. */
const SEEDED = process.env['PROPERTY_SEED'] === undefined ? [] : ['test/support/property-seed.ts']
/** The seed of the order, where the run has one. */
const { RUN_SEED } = process.env
const SEED = RUN_SEED === undefined ? {} : { seed: Number(RUN_SEED) }
/** The project on-etcd has it, and says why nothing else runs where etcd cannot be built. */
const ABOUT_ON_ETCD = 'test/support/on-etcd.test.ts'
const EXCLUDED_ON_ETCD = [
  ...NIGHT,
  ...Object.keys(NOT_ON_ETCD).map((name) => `test/interface/${name}.test.ts`),
  ...(isInstalled('go') ? [] : ON_ETCD),
]
/** The files that meet the way around Node's streams. */
const NODE_STREAMS = [
  'test/http/{http-server,http-connections,whole-answers,node-internals}.test.ts',
  'test/interface/bytes.test.ts',
]

type Tests = NonNullable<TestProjectInlineConfiguration['test']>

/** A project without the files of its `exclude`: by default the tests of the night. */
function project(name: string, tests: Tests): TestProjectInlineConfiguration {
  const exclude = [...configDefaults.exclude, ...(tests.exclude ?? NIGHT)]
  return { extends: true, test: { ...tests, name, exclude } }
}

/** Long tests with a run of their own. */
function long(name: keyof typeof LONG, tests: Tests): TestProjectInlineConfiguration {
  return project(name, { ...tests, include: LONG[name], exclude: [...NIGHT, ...SHORT] })
}

/** Files once more, the way of versions of Node.js that are not tested. */
function onNodeStreams(name: string, tests: Tests): TestProjectInlineConfiguration {
  return project(name, { ...tests, env: { WAYPOST_NODE_STREAMS: 'true' }, sequence: { groupOrder: 2 } })
}

/** Files once more, with servers that have their data in etcd, which is built with Go. */
function onEtcd(name: string, tests: Tests): TestProjectInlineConfiguration {
  const globalSetup = ['test/support/etcd-of-run.ts']
  return project(name, { ...tests, globalSetup, sequence: { groupOrder: 2 } })
}

/** The projects of `npm run test:nightly` besides the others. */
const NIGHT_PROJECTS = [
  project('night', { include: NIGHT, exclude: [], sequence: { groupOrder: 2 } }),
  onNodeStreams('night-node-streams', {
    include: [
      'test/http/**/*.test.ts',
      'test/interface/{connections,limits,stop}.test.ts',
      'test/security/holes.test.ts',
    ],
    exclude: [...NIGHT, ...NODE_STREAMS],
  }),
  onEtcd('night-on-etcd', { include: ON_ETCD, exclude: [...EXCLUDED_ON_ETCD, ...WRITES_ON_ETCD] }),
]

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
    // Not an argument of the command: that would take the place of the order of the projects.
    sequence: { sequencer: ShuffledFiles, ...SEED },
    // `npm test` runs the projects whose names begin with `short`. scripts/runs/ci-parts.js and night-parts.js name all others.
    projects: [
      project('short-unit', {
        // A process for each file took three times the processor time.
        pool: 'threads',
        isolate: false,
        runner: 'test/support/shuffled-tests.ts',
        testTimeout: UNIT_LIMIT_MS,
        setupFiles: ['test/support/shared-thread.ts'],
        include: UNIT,
        exclude: [...NIGHT, ...UNIT_IN_PROCESSES],
      }),
      project('short-unit-processes', {
        include: UNIT_IN_PROCESSES,
        runner: 'test/support/shuffled-tests.ts',
        testTimeout: UNIT_LIMIT_MS,
      }),
      project('short', { maxWorkers: WAITING_WORKERS, include: SHORT, sequence: { groupOrder: 1 } }),
      project('long', {
        maxWorkers: WAITING_WORKERS,
        include: ['test/**/*.test.ts'],
        exclude: [...NIGHT, ...SHORT, ...Object.values(LONG).flat(), ABOUT_ON_ETCD],
        sequence: { groupOrder: 3 },
      }),
      long('http-and-grpc', { sequence: { groupOrder: 2 } }),
      long('faults', { sequence: { groupOrder: 2 } }),
      long('packages', { sequence: { groupOrder: 2 } }),
      long('clients', { maxWorkers: WAITING_WORKERS, sequence: { groupOrder: 4 } }),
      onNodeStreams('node-streams', { include: NODE_STREAMS }),
      onEtcd('on-etcd', { include: [ABOUT_ON_ETCD, ...WRITES_ON_ETCD], exclude: EXCLUDED_ON_ETCD }),
      ...(isNightly ? NIGHT_PROJECTS : []),
    ],
  },
})
