import { nodePart, TOOLS } from './ci-parts.js'
import { scriptCommand, testPart } from './parts.js'

/** Long forms for many minutes: a night has one long form, in turn. */
const IN_TURN = [
  longForm('long-fuzz', 'hostile input', ['fuzz']),
  longForm('long-faults', 'faults of one server', ['faults', 'faults/']),
  longForm('long-simulation', 'stories of simulated servers', ['faults', 'simulation']),
]

/** The parts of every night. Its tests have NIGHTLY=true, and files that end in `.night.test.ts` run only here. */
const EACH_NIGHT = [
  { ...TOOLS, minutes: 4 },
  testPart('clients', 'all versions of the libraries of others', {
    minutes: 16,
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
    minutes: 8,
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
    minutes: 7,
    command: scriptCommand('bench/best.js'),
  },
  testPart('packages', 'the image and the packages on both architectures, twice', {
    minutes: 6,
    tests: [
      '--project=packages',
      '--project=night',
      'test/container/',
      'test/packaging/built-again.',
      'test/packaging/debian-root.',
    ],
  }),
  testPart('screens', 'every view in each theme and language; applications that connect', {
    minutes: 3,
    tests: ['--project=long', 'test/browser/screens.', 'test/browser/connect.'],
  }),
  testPart('once-more', 'the other files on etcd, and with the streams of Node.js', {
    minutes: 5,
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
