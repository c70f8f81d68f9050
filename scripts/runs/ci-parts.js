import { join } from 'node:path'
import { root } from '../prepare.js'
import { scriptCommand, testPart } from './parts.js'

/** Installs the programs that tests need. */
export const TOOLS = {
  name: 'tools',
  about: 'installs and builds the programs that tests need',
  minutes: 15,
  command: ['bash', join(root, '.ci', 'tools')],
}

/** The tests that depend on the version of Node.js, on one version. */
export function nodePart(major, minutes) {
  return {
    name: `node-${major}`,
    about: `test/http and test/grpc on Node.js ${major}`,
    minutes,
    tests: ['--project=http-and-grpc'],
    command: scriptCommand('scripts/test-nodes.js', major),
  }
}

/**
 * The parts of `.ci/run`: everything that must hold before a change goes in. Their limits are several times the minutes that
 * they take on two quiet cores. test/speeds.test.ts checks that each project of vitest.config.ts is in one part.
 */
export const CI_PARTS = [
  TOOLS,
  { name: 'check', about: 'npm run check', minutes: 5, command: scriptCommand('scripts/check.js') },
  {
    name: 'gate',
    about: 'processor time and memory of requests',
    minutes: 10,
    command: scriptCommand('bench/gate.js'),
  },
  testPart('short', 'npm test', { minutes: 15, tests: ['--project=short*'] }),
  testPart('long', 'the longer tests', { minutes: 35, tests: ['--project=long'] }),
  // All other parts run on the Node.js that is installed.
  nodePart('24', 8),
  testPart('once-more', 'servers on etcd, and with the streams of Node.js', {
    minutes: 10,
    tests: ['--project=on-etcd', '--project=node-streams'],
  }),
  testPart('clients', 'libraries of others', { minutes: 15, tests: ['--project=clients'] }),
  testPart('faults', 'disks, clocks, processes and networks that fail', {
    minutes: 12,
    tests: ['--project=faults'],
  }),
  testPart('packages', 'image, packages, chart', { minutes: 12, tests: ['--project=packages'] }),
]
