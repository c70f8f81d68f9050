import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { tcpProbe } from '../../src/probes/probe.ts'

/** A MariaDB server on loopback with a data directory of its own, gone after `stop`. */
export interface TemporaryMariadb {
  readonly port: number
  stop(): Promise<void>
}

const READY_WITHIN_MS = 30_000
const PATH = `${process.env['PATH']}:/usr/sbin:/usr/local/sbin`

/**
 * Makes an empty database, runs these statements in it and serves it with more options, if any; needs `mariadbd` and
 * `mariadb-install-db`.
 */
export async function startMariadb(
  statements: readonly string[],
  more: readonly string[] = [],
): Promise<TemporaryMariadb> {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-db-'))
  const options = ['--no-defaults', `--datadir=${join(directory, 'data')}`, ...userOption()]
  await promisify(execFile)('mariadb-install-db', [...options, '--skip-test-db'], {
    env: { ...process.env, PATH },
  })
  writeFileSync(join(directory, 'init.sql'), `${statements.join(';\n')};\n`)
  const port = await freePort()
  const server = spawn('mariadbd', [...options, ...servingOptions(directory, port), ...more], {
    env: { ...process.env, PATH },
    stdio: 'ignore',
  })
  const stop = (): Promise<void> => stopServer(server, directory)
  try {
    await untilReady(server, port, join(directory, 'error.log'))
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}

/** The server runs as the user of the test. Root must be named. */
function userOption(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}

function servingOptions(directory: string, port: number): string[] {
  return [
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    '--innodb-buffer-pool-size=8M',
    `--socket=${join(directory, 's')}`,
    `--pid-file=${join(directory, 'pid')}`,
    `--log-error=${join(directory, 'error.log')}`,
    `--init-file=${join(directory, 'init.sql')}`,
  ]
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

async function untilReady(server: ChildProcess, port: number, log: string): Promise<void> {
  const end = performance.now() + READY_WITHIN_MS
  while (performance.now() < end && server.exitCode === null) {
    const { outcome } = await tcpProbe({ host: '127.0.0.1', port, checker: { type: 'TCP' } }, 500)
    if (outcome === 'up') return
    await sleep(50)
  }
  throw new Error(`mariadbd did not start: ${readFileSync(log, 'utf8').slice(-2000)}`)
}

async function stopServer(server: ChildProcess, directory: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const exited = new Promise((done) => server.once('exit', done))
    server.kill('SIGTERM')
    const force = setTimeout(() => server.kill('SIGKILL'), 10_000)
    await exited
    clearTimeout(force)
  }
  rmSync(directory, { recursive: true, force: true })
}
