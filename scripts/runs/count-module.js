/** The slowest tests that are named at the end. */
const SLOWEST = 10

/** Characters of the message of a failure in the closing list. */
const LONGEST_MESSAGE = 300

const CUT_OFF = { message: 'it did not end' }

/**
 * The count of a test file for the closing lines: passed tests, failures with their messages, skipped tests with their reasons,
 * and the slowest. A file that does not load and a suite whose hook fails count as failures.
 */
export function countModule(module) {
  const count = { file: module.relativeModuleId, passed: 0, failures: [], skipped: [], slowest: [] }
  // The process was lost before the file had told its tests.
  if (['queued', 'pending'].includes(module.state()) && [...module.children.allTests()].length === 0)
    count.failures.push(failureOf(nameOf(module, module), [CUT_OFF]))
  for (const suite of [module, ...module.children.allSuites()]) {
    const errors = suite.errors()
    if (errors.length > 0) count.failures.push(failureOf(nameOf(suite, module), errors))
  }
  for (const test of module.children.allTests()) {
    const { state, note, errors = [] } = test.result()
    const name = nameOf(test, module)
    count.slowest.push({ name, ms: test.diagnostic()?.duration ?? 0 })
    if (state === 'passed') count.passed += 1
    else if (state === 'skipped') count.skipped.push(`${name}: ${reason(test, note)}`)
    // A test that is still pending at the end was cut off.
    else count.failures.push(failureOf(name, state === 'failed' ? errors : [CUT_OFF]))
  }
  return { ...count, slowest: mergeSlowest(count.slowest) }
}

/** The slowest of these tests, the slowest first. */
export function mergeSlowest(tests) {
  return tests.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)
}

/** One line: where, and the beginning of the first message. */
export function failureOf(name, errors) {
  const message = String(errors[0]?.message ?? 'no message').split('\n', 1)[0]
  return `${name}: ${message.slice(0, LONGEST_MESSAGE)}`
}

/** A file may run in several projects. */
function nameOf(task, module) {
  const project = module.project.name === '' ? '' : ` [${module.project.name}]`
  const file = `${module.relativeModuleId}${project}`
  return task === module ? file : `${file} > ${task.fullName}`
}

function reason(test, note) {
  if (note) return note
  return test.options.mode === 'todo' ? 'to be written' : 'no reason given'
}
