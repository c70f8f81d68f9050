/** A server of ours for one suite of the Java server. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from './prepare.js'

const START_LIMIT_MS = 20_000
const GRPC_OFFSET = 1_000
/** Some suites name no port: clients use this one then. */
const DEFAULT_PORT = 8848
const FIRST_PORT = 30_000

const running = new Set()
const taken = new Set()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

/** Ends the child with this process, however that ends. */
export function endWithUs(child) {
  running.add(child)
  child.on('exit', () => running.delete(child))
}

/**
 * Starts a server with an empty data directory in the folder, and waits until it answers. `needs` says what the suite
 * expects: `signIn` (its users sign in, and `nacos` is the administrator) and `defaultPort`.
 */
export async function startSuiteServer(folder, needs) {
  const port = needs.defaultPort ? DEFAULT_PORT : await freePort()
  const flags = [
    '--port',
    String(port),
    '--data-dir',
    join(folder, 'data'),
    // The suites sign in with the passwords of the Java server.
    '--password-rule=off',
    '--auth',
    needs.signIn ? 'on' : 'off',
  ]
  const main = join(root, 'dist', 'main.js')
  const child = spawn(process.execPath, [main, 'start', ...flags])
  endWithUs(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const deadline = Date.now() + START_LIMIT_MS
  const code = () => /code=([\w-]+)/.exec(output)?.[1]
  while (!(await answers(port)) || (needs.signIn && code() === undefined)) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the server did not start:\n${output}`)
    await sleep(50)
  }
  if (needs.signIn) await addAdministrator(port, code())
  return { port, stop: () => stop(child) }
}

async function addAdministrator(port, code) {
  const body = new URLSearchParams({ code, password: 'nacos' })
  const answer = await fetch(`http://127.0.0.1:${port}/svc/v1/auth/users/admin`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`there is no first administrator: ${await answer.text()}`)
}

async function stop(child) {
  if (child.exitCode !== null) return
  const ended = new Promise((done) => child.once('close', done))
  child.kill('SIGTERM')
  await ended
}

function answers(port) {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function freePort() {
  for (let port = FIRST_PORT; port < FIRST_PORT + GRPC_OFFSET; port++) {
    if (taken.has(port) || !(await isFree(port)) || !(await isFree(port + GRPC_OFFSET))) continue
    taken.add(port)
    return port
  }
  throw new Error('no port is free')
}

function isFree(port) {
  const probe = createServer()
  return new Promise((done) => {
    probe.once('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)))
  })
}
