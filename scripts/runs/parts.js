/**
 * Runs the parts of `.ci/run`, of `npm run test:nightly` and of `npm run test:nodes`, one after the other. A part is
 * `{ name, about, minutes, command }`. A part that exceeds its minutes is ended with all that it started, and has failed.
 * `tests`: the command is scripts/test.js with these arguments, perhaps by way of another script.
 */
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../prepare.js'
import { close, NO_RESULT, sumOf } from './closing.js'
import { follow } from './follow.js'
import { ProcessGroup } from './process-group.js'
import { seedVariables, takeSeed } from './seed.js'

const MINUTE_MS = 60_000
/** Set by a signal, after which no part begins. */
let stopped

/** The command that runs a script of this project. */
export function scriptCommand(path, ...args) {
  return [process.execPath, join(root, path), ...args]
}

/** A part that runs tests: scripts/test.js with these arguments. */
export function testPart(name, about, { minutes, tests }) {
  return { name, about, minutes, tests, command: scriptCommand('scripts/test.js', ...tests) }
}

/**
 * Runs the parts that the arguments name, without names all of `usual`. `--list` prints the names instead, and `--seed N` repeats
 * a seed. Resolves with the exit code.
 */
export async function runNamed(parts, args, { usual = parts, env }) {
  const { seed, rest: names } = takeSeed(args)
  if (names.includes('--list')) {
    for (const { name, about, minutes } of parts)
      console.log(`${name.padEnd(16)} ${String(minutes).padStart(3)} min  ${about}`)
    return 0
  }
  const unknown = names.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0) {
    console.error(`No part has the name ${unknown.join(', ')}: --list prints the names`)
    return 2
  }
  console.log(`Seed ${seed}: \`--seed ${seed}\` repeats it`)
  const chosen = names.length === 0 ? usual : parts.filter(({ name }) => names.includes(name))
  return await runParts(chosen, { ...env, ...seedVariables(seed) })
}

/** Runs the parts with these variables, also after a failure. Prints the time of each part and the closing lines. */
async function runParts(parts, env) {
  const began = performance.now()
  const finished = []
  for (const part of parts) finished.push(await runPart({ ...part, env }))
  for (const { name, seconds } of finished) console.log(`${seconds.toFixed(0).padStart(6)} s  ${name}`)
  const result = sumOf(finished.map((one) => one.result))
  close(result, (performance.now() - began) / 1000)
  return result.failures.length > 0 ? 1 : 0
}

async function runPart(part) {
  console.log(`== ${part.name}: ${part.about} (at most ${part.minutes} min)`)
  const directory = mkdtempSync(join(tmpdir(), 'waypost-part-'))
  const began = performance.now()
  const result = await resultOf(part, {
    log: join(directory, 'log'),
    count: join(directory, 'count'),
    result: join(directory, 'result'),
  })
  rmSync(directory, { recursive: true, force: true })
  return { name: part.name, result, seconds: (performance.now() - began) / 1000 }
}

async function resultOf(part, files) {
  const log = openSync(files.log, 'w')
  const env = { ...process.env, ...part.env, COUNT_FILE: files.count, RESULT_FILE: files.result }
  const group = new ProcessGroup(part.command, { env, cwd: root, log })
  closeSync(log)
  const stopFollowing = follow(files.log)
  const stopListening = endOnSignal(group)
  const code = await codeWithin(group.ended, part.minutes * MINUTE_MS)
  await stopped
  const left = await group.end()
  stopListening()
  stopFollowing()
  if (code === undefined) return lateResult(part, files.count, left)
  if (left.length > 0) console.log(`Left behind, and ended: ${left.join('; ')}`)
  return endedResult(part, files, code)
}

/** The exit code; undefined: the time is over. */
async function codeWithin(ended, ms) {
  const timer = new AbortController()
  const late = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)
  const code = await Promise.race([ended, late])
  timer.abort()
  return code
}

/** Returns a function that ends it. */
function endOnSignal(group) {
  const end = () => (stopped = group.end().then(() => process.exit(1)))
  process.on('SIGINT', end).on('SIGTERM', end)
  return () => process.off('SIGINT', end).off('SIGTERM', end)
}

function endedResult({ name, tests }, files, code) {
  const isTests = tests !== undefined
  if (isTests && !existsSync(files.result))
    return cutShort(files.count, `${name}: ended with code ${code} without a result`)
  const result = isTests ? JSON.parse(readFileSync(files.result, 'utf8')) : NO_RESULT
  const hasReason = result.failures.length > 0 || code === 0
  return hasReason ? result : { ...result, failures: [`${name}: ended with code ${code}`] }
}

function lateResult({ name, minutes }, countFile, left) {
  const { running = [] } = readCount(countFile)
  const shown = running.map(
    ({ file, since, tests }) =>
      `${file} for ${Math.round((Date.now() - since) / 1000)} s${tests.map((test) => ` > ${test}`).join('')}`,
  )
  console.log(`Ended: ${name} has not ended within ${minutes} min. Its processes:`)
  for (const line of left) console.log(`  ${line}`)
  const what = shown.length > 0 ? shown.join('; ') : 'no test'
  return cutShort(countFile, `${name}: did not end within ${minutes} min. It ran: ${what}`)
}

/** The result of tests that did not come to their closing line. */
function cutShort(countFile, failure) {
  const { files = [], slowest = [] } = readCount(countFile)
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  return { ...NO_RESULT, passed, slowest, failures: [...files.flatMap((file) => file.failures), failure] }
}

function readCount(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}
