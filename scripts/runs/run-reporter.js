import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { MinimalReporter } from 'vitest/node'
import { countModule, failureOf, mergeSlowest } from './count-module.js'

/** How often the state of the run is written. */
const STATE_INTERVAL_MS = 1_000
/** How often a line says how far the tests are. */
const PROGRESS_INTERVAL_MS = 60_000
/** The files that a line of progress names. */
const MOST_NAMED = 4

/**
 * The vitest reporter of all runs. It prints failures, and once a minute how far the tests are; not what passing tests print. The
 * file named by COUNT_FILE has the state of the run, for the closing lines and for a run that is ended: for each test file the
 * passed tests and the failures, further skipped tests, the slowest, and what runs now. `hasEnded`: all tests have ended.
 */
export default class RunReporter extends MinimalReporter {
  #began = Date.now()
  #all = 0
  #counted = []
  /** The modules that run now, since when, and their tests. */
  #running = new Map()
  #timers = []

  onInit(vitest) {
    this.ctx = vitest
  }

  onTestRunStart(specifications) {
    super.onTestRunStart(specifications)
    this.#all = specifications.length
    this.#timers = [
      setInterval(() => this.#writeState(false), STATE_INTERVAL_MS).unref(),
      setInterval(() => this.log(this.#progress()), PROGRESS_INTERVAL_MS).unref(),
    ]
  }

  onTestModuleQueued(module) {
    this.#running.set(module.id, { file: module.relativeModuleId, since: Date.now(), tests: new Set() })
  }

  onTestCaseReady(test) {
    this.#running.get(test.module.id)?.tests.add(test.fullName)
  }

  onTestCaseResult(test) {
    super.onTestCaseResult(test)
    this.#running.get(test.module.id)?.tests.delete(test.fullName)
  }

  onTestModuleEnd(module) {
    super.onTestModuleEnd(module)
    this.#running.delete(module.id)
    this.#counted.push(countModule(module))
  }

  onTestRunEnd(modules, unhandledErrors, reason) {
    super.onTestRunEnd(modules, unhandledErrors, reason)
    for (const timer of this.#timers) clearInterval(timer)
    const outside = unhandledErrors.map((error) => failureOf('outside every test', [error]))
    // Counted again: a file whose process was lost has no end of its own.
    this.#counted = modules.map(countModule)
    this.#counted.push({ file: '', passed: 0, failures: outside, skipped: [], slowest: [] })
    this.#writeState(true)
  }

  /** The closing lines of scripts/test.js say this. */
  reportTestSummary() {}

  #progress() {
    const minutes = Math.round((Date.now() - this.#began) / 60_000)
    const passed = this.#counted.reduce((sum, file) => sum + file.passed, 0)
    const failed = this.#counted.reduce((sum, file) => sum + file.failures.length, 0)
    const names = [...this.#running.values()].map(({ file }) => file)
    const shown = names.slice(0, MOST_NAMED).join(', ')
    return `  ${minutes} min: ${this.#counted.length} of ${this.#all} files, ${passed} passed, ${failed} failed. Running: ${shown}`
  }

  #writeState(hasEnded) {
    const file = process.env.COUNT_FILE
    const state = {
      hasEnded,
      files: this.#counted.map(({ file, passed, failures }) => ({ file, passed, failures })),
      skipped: this.#counted.flatMap(({ skipped }) => skipped),
      slowest: mergeSlowest(this.#counted.flatMap(({ slowest }) => slowest)),
      running: [...this.#running.values()].map(({ tests, ...one }) => ({ ...one, tests: [...tests] })),
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.new`, JSON.stringify(state))
    renameSync(`${file}.new`, file)
  }
}
