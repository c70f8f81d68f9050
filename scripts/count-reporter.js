import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A vitest reporter that counts for the closing line, into the file named by COUNT_FILE, and names every skipped test with
 * its reason. A file that does not load, a suite whose hook fails and an error outside every test count as failures.
 */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: [], flaky: [] }
    for (const module of modules) this.#countModule(module, count)
    mkdirSync(dirname(process.env.COUNT_FILE), { recursive: true })
    writeFileSync(process.env.COUNT_FILE, JSON.stringify(count))
  }

  #countModule(module, count) {
    const suites = [module, ...module.children.allSuites()]
    count.failed += suites.filter((suite) => suite.errors().length > 0).length
    for (const test of module.children.allTests()) {
      const { state, note } = test.result()
      if (test.diagnostic()?.flaky) count.flaky.push(`${module.relativeModuleId} > ${test.fullName}`)
      if (state === 'passed') count.passed += 1
      else if (state === 'skipped')
        count.skipped.push(`${module.relativeModuleId} > ${test.fullName}: ${reason(test, note)}`)
      // One that is still pending at the end was cut off.
      else count.failed += 1
    }
  }
}

function reason(test, note) {
  if (note) return note
  return test.options.mode === 'todo' ? 'to be written' : 'no reason given'
}
