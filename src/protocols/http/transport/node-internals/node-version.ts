/** The major versions of Node.js that `npm run test:nodes` tests. Add one here once it passes. */
export const TESTED_MAJORS: readonly number[] = [20, 22, 24, 26]

/** Whether this folder was tested with a version of Node.js, such as `24.21.0`. */
export function isTested(version: string): boolean {
  return TESTED_MAJORS.includes(Number.parseInt(version, 10))
}
