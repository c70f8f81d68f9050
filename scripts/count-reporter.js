import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The slowest tests that are named at the end. */
const SLOWEST = 10

/**
 * A vitest reporter that counts for the closing lines of `npm test`, into the file named by COUNT_FILE: passed and failed
 * tests, skipped ones with their reasons, and the slowest. A file that does not load, a suite whose hook fails and an
 * error outside every test count as failures.
 */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: [], slowest: [] }
    for (const module of modules) this.#countModule(module, count)
    count.slowest = count.slowest.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST)
    mkdirSync(dirname(process.env.COUNT_FILE), { recursive: true })
    writeFileSync(process.env.COUNT_FILE, JSON.stringify(count))
  }

  #countModule(module, count) {
    const suites = [module, ...module.children.allSuites()]
    count.failed += suites.filter((suite) => suite.errors().length > 0).length
    for (const test of module.children.allTests()) {
      const { state, note } = test.result()
      const name = `${module.relativeModuleId} > ${test.fullName}`
      count.slowest.push({ name, ms: test.diagnostic()?.duration ?? 0 })
      if (state === 'passed') count.passed += 1
      else if (state === 'skipped') count.skipped.push(`${name}: ${reason(test, note)}`)
      // A test that is still pending at the end was cut off.
      else count.failed += 1
    }
  }
}

function reason(test, note) {
  if (note) return note
  return test.options.mode === 'todo' ? 'to be written' : 'no reason given'
}
