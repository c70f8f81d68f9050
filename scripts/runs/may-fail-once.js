/**
 * The test files that may fail once: they are run once more, alone, and the second result counts. They drive programs of others,
 * whose timers are not ours, or they measure time or memory, which the tests beside them disturb. Any other file that fails has failed: a
 * fault, contract or simulation test that fails one time in many has found a fault.
 */
const MAY_FAIL_ONCE = [
  { start: 'test/clients/', reason: 'clients of others have timers of their own' },
  { start: 'test/browser/', reason: 'browsers have timers of their own' },
  { start: 'test/container/', reason: 'drives runc, umoci and qemu' },
  { start: 'test/packaging/', reason: 'drives dpkg, mmdebstrap and tar' },
  { start: 'test/package.test.ts', reason: 'drives npm' },
  { start: 'test/readme.test.ts', reason: 'drives curl' },
  { start: 'test/cluster/runbook.', reason: 'drives curl and etcdctl' },
  { start: 'test/terminal/completion.test.ts', reason: 'drives shells' },
  { start: 'test/probes/mysql.test.ts', reason: 'drives MariaDB' },
  { start: 'test/move/database.test.ts', reason: 'drives MariaDB' },
  { start: 'test/move/both-sources.test.ts', reason: 'drives MariaDB' },
  { start: 'test/move/hostile-database.test.ts', reason: 'drives MariaDB' },
  { start: 'test/move/large-history.test.ts', reason: 'drives MariaDB' },
  { start: 'test/move/r-nacos.test.ts', reason: 'drives the Rust server' },
  { start: 'test/security/shared-caches.test.ts', reason: 'drives HAProxy, nginx and Varnish' },
  { start: 'test/console-checks.night.test.ts', reason: 'measures time' },
  { start: 'test/memory/calibration.test.ts', reason: 'measures the heap of V8' },
  { start: 'test/memory/client-calibration.test.ts', reason: 'measures the heap of V8' },
  { start: 'test/runs/', reason: 'drives vitest' },
  { start: 'test/npm-start.test.ts', reason: 'drives npm' },
  { start: 'test/deploy/', reason: 'drives helm and Python' },
  { start: 'test/security/patterns.test.ts', reason: 'measures time' },
  { start: 'test/security/cost-of-input.night.test.ts', reason: 'measures time' },
  { start: 'test/security/linear-readers.night.test.ts', reason: 'measures time' },
  { start: 'test/security/looks.night.test.ts', reason: 'measures time' },
  { start: 'test/security/reads-beside-writes.night.test.ts', reason: 'measures time' },
]

/** Vitest says this outside every test when a process of its own has ended. */
const LOST_PROCESS = /^outside every test: \[vitest-pool\]: Worker forks emitted error/

/** Why a test file with failures is run once more; undefined: it has failed. */
export function reasonToRepeat(file) {
  if (file.failures.length === 0 || file.file === '') return undefined
  if (hasLostProcess(file)) return 'its process was lost'
  return MAY_FAIL_ONCE.find(({ start }) => file.file.startsWith(start))?.reason
}

/** The failures outside every test, without the failures that a lost process of a repeated file has caused. */
export function failuresBeside(failures, repeated) {
  return repeated.some(hasLostProcess) ? failures.filter((failure) => !LOST_PROCESS.test(failure)) : failures
}

/** No test has failed, but some have not ended: the system may have ended the process. */
function hasLostProcess({ failures }) {
  return failures.every((failure) => failure.endsWith(': it did not end'))
}
