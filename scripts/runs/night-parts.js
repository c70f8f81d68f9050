import { nodePart, TOOLS } from './ci-parts.js'
import { scriptCommand, testPart } from './parts.js'

/** Long forms for many minutes: a night has one long form, in turn. */
const IN_TURN = [
  longForm('long-fuzz', 'hostile input', ['fuzz']),
  longForm('long-faults', 'faults of one server', ['faults', 'faults/']),
  longForm('long-simulation', 'stories of simulated servers', ['faults', 'simulation']),
]

/** Files with more cases or more load at night: those that ask `isNightly` or take `sampled` cases. */
const SWEEPS = [
  ...['connect', 'large-texts', 'screens'].map((name) => `test/browser/${name}.`),
  'test/cluster/other-hands.',
  'test/etcd/gray-texts.',
  ...['hostile-database', 'large-history', 'silent-server', 'swap-load'].map((name) => `test/move/${name}.`),
  'test/support/sampled.',
  ...['exit-codes', 'no-answer', 'output-forms', 'repacked'].map((name) => `test/terminal/${name}.`),
]

/** The parts of every night. Its tests have NIGHTLY=true, and files that end in `.night.test.ts` run only here. */
const EACH_NIGHT = [
  { ...TOOLS, minutes: 3 },
  testPart('clients', 'all versions of the libraries of others', {
    minutes: 13,
    tests: ['--project=clients', '--project=night', 'test/clients/'],
  }),
  testPart('strikes', 'eleven strikes against three servers, and jumps of clocks', {
    minutes: 6,
    tests: [
      '--project=faults',
      '--no-file-parallelism',
      'test/faults/cluster/',
      'test/faults/clock-jumps.fault',
    ],
  }),
  testPart('runbook', 'the pages for operators of a cluster, step by step', {
    minutes: 7,
    tests: ['--project=night', '--no-file-parallelism', 'test/cluster/'],
  }),
  testPart('memory', 'servers whose memory is filled', {
    minutes: 8,
    tests: ['--project=night', '--no-file-parallelism', 'test/memory/'],
  }),
  testPart('costs', 'comparisons of processor time, alone', {
    minutes: 12,
    tests: ['--project=night', '--no-file-parallelism', 'test/security/', 'src/', 'test/console-checks.'],
  }),
  {
    name: 'best',
    about: 'processor time of requests beside that of the best build, alone',
    minutes: 6,
    command: scriptCommand('bench/best.js'),
  },
  testPart('packages', 'the image and the packages on both architectures, twice; the chart on etcd', {
    minutes: 7,
    tests: [
      '--project=packages',
      '--project=night',
      'test/container/',
      'test/deploy/chart-on-etcd.',
      'test/packaging/built-again.',
      'test/packaging/debian-root.',
    ],
  }),
  testPart('sweeps', 'all cases of sweeps of which `.ci/run` has a sample, and heavy loads', {
    minutes: 9,
    tests: ['--project=long', ...SWEEPS],
  }),
  testPart('once-more', 'the other files on etcd, and with the streams of Node.js', {
    minutes: 4,
    tests: ['--project=night-on-etcd', '--project=night-node-streams'],
  }),
  ...['20', '22', '24', '26'].map((major) => nodePart(major, 2)),
]

const DAY_MS = 86_400_000

/** All parts of `npm run test:nightly`, by their names. */
export const NIGHT_PARTS = [...EACH_NIGHT, ...IN_TURN]

/** The parts of one night. */
export function partsOfNight(now) {
  return [...EACH_NIGHT, IN_TURN[Math.floor(now / DAY_MS) % IN_TURN.length]]
}

function longForm(name, about, args) {
  const command = scriptCommand('scripts/long-forms.js', ...args, '--minutes', '6')
  return { name, about: `${about}: one long form each night, in turn`, minutes: 7, tests: [], command }
}
