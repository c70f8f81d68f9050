import { mergeSlowest } from './count-module.js'

/** The result of no test. `passed` is a number; the others are lines, and `slowest` has names and milliseconds. */
export const NO_RESULT = { passed: 0, failures: [], failedOnce: [], skipped: [], slowest: [] }

/** The results of several parts as one. */
export function sumOf(results) {
  return results.reduce(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failures: [...sum.failures, ...one.failures],
      failedOnce: [...sum.failedOnce, ...one.failedOnce],
      skipped: [...sum.skipped, ...one.skipped],
      slowest: mergeSlowest([...sum.slowest, ...one.slowest]),
    }),
    NO_RESULT,
  )
}

/** Prints the closing lines of a run, of which the last is `N passed, N failed`. */
export function close({ passed, failures, failedOnce, skipped, slowest }, seconds) {
  printList(`${skipped.length} skipped`, skipped)
  printList(
    `The slowest of ${seconds.toFixed(0)} s in all`,
    slowest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`),
  )
  printList('Failed once', failedOnce)
  printList('Failed', failures)
  if (failedOnce.length > 0) console.log(`Failed once: ${failedOnce.length}`)
  console.log(`${passed} passed, ${failures.length} failed`)
}

function printList(title, lines) {
  if (lines.length > 0) console.log(`${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}
