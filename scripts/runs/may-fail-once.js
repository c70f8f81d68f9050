/**
 * The test files that may fail once: they are run once more, alone, and what they give then counts. They drive programs of
 * others, whose timers are not ours, or they measure time, which the tests beside them disturb. Every other file that fails has
 * failed: a fault, a contract or a simulation that fails one time in many shows a fault.
 */
const MAY_FAIL_ONCE = [
  { files: 'test/clients/', reason: 'clients of others have timers of their own' },
  { files: 'test/browser/', reason: 'browsers have timers of their own' },
  { files: 'test/container/', reason: 'drives runc, umoci and qemu' },
  { files: 'test/packaging/', reason: 'drives dpkg, mmdebstrap and curl' },
  { files: 'test/deploy/chart-programs.test.ts', reason: 'drives shells and curl' },
  { files: 'test/console-checks.test.ts', reason: 'measures time' },
  { files: 'test/security/cost-of-input.', reason: 'measures time' },
  { files: 'test/security/linear-readers.', reason: 'measures time' },
  { files: 'test/security/unknown-callers.', reason: 'measures time' },
]

/** Vitest names this outside every test when a process of its own has ended. */
const LOST_PROCESS = /^outside every test: \[vitest-pool\]: Worker forks emitted error/

/** Why a test file with failures is run once more; undefined: it has failed. */
export function reasonToRepeat(file) {
  if (file.failures.length === 0 || file.file === '') return undefined
  if (hasLostProcess(file)) return 'its process was lost'
  return MAY_FAIL_ONCE.find(({ files }) => file.file.startsWith(files))?.reason
}

/** The failures outside every test, without those that a file caused whose process was lost and which is repeated. */
export function failuresBeside(failures, repeated) {
  return repeated.some(hasLostProcess) ? failures.filter((failure) => !LOST_PROCESS.test(failure)) : failures
}

/** No test has failed, but some have not ended: the system may have ended the process. */
function hasLostProcess({ failures }) {
  return failures.every((failure) => failure.endsWith(': it did not end'))
}
