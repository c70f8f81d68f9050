import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The slowest tests that are named at the end. */
const SLOWEST = 10

/** Characters of the message of a failure in the closing list. */
const LONGEST_MESSAGE = 300

/**
 * A vitest reporter that counts for the closing lines of `npm test`, into the file named by COUNT_FILE: for each test file the
 * passed tests and the failures with their messages; skipped tests with their reasons, and the slowest. A file that does not
 * load, a suite whose hook fails and an error outside every test count as failures.
 */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const outside = unhandledErrors.map((error) => failure('outside every test', [error]))
    const count = { files: [{ file: '', passed: 0, failures: outside }], skipped: [], slowest: [] }
    for (const module of modules) this.#countModule(module, count)
    count.slowest = count.slowest.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST)
    mkdirSync(dirname(process.env.COUNT_FILE), { recursive: true })
    writeFileSync(process.env.COUNT_FILE, JSON.stringify(count))
  }

  #countModule(module, count) {
    const file = { file: module.relativeModuleId, passed: 0, failures: [] }
    count.files.push(file)
    for (const suite of [module, ...module.children.allSuites()]) {
      const errors = suite.errors()
      if (errors.length > 0) file.failures.push(failure(nameOf(suite, module), errors))
    }
    for (const test of module.children.allTests()) {
      const { state, note, errors = [] } = test.result()
      const name = nameOf(test, module)
      count.slowest.push({ name, ms: test.diagnostic()?.duration ?? 0 })
      if (state === 'passed') file.passed += 1
      else if (state === 'skipped') count.skipped.push(`${name}: ${reason(test, note)}`)
      // A test that is still pending at the end was cut off.
      else file.failures.push(failure(name, state === 'failed' ? errors : [{ message: 'it did not end' }]))
    }
  }
}

function nameOf(task, module) {
  return task === module ? module.relativeModuleId : `${module.relativeModuleId} > ${task.fullName}`
}

/** One line: where, and the beginning of the first message. */
function failure(name, errors) {
  const message = String(errors[0]?.message ?? 'no message').split('\n', 1)[0]
  return `${name}: ${message.slice(0, LONGEST_MESSAGE)}`
}

function reason(test, note) {
  if (note) return note
  return test.options.mode === 'todo' ? 'to be written' : 'no reason given'
}
