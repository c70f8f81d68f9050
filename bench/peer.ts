import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, childOf } from './child.ts'
import { GRPC_OFFSET } from './grpc-clients.ts'
import { cleanEnvironment, directoryFor, firstAnswer, type Launch } from './target.ts'

/** Below the range of client ports, where a socket in TIME_WAIT could occupy the port. */
const FIRST_PORT = 18_848
const LAST_PORT = 19_700
let nextPort = FIRST_PORT

/** About one start in seven acknowledges writes and never stores them. It is replaced by another start. */
const MOST_STARTS = 8
const TAKES_WRITES_MS = 3_000

/** Starts the Rust peer from its binary, on the loopback address. */
export function launchPeer(binary: string): Launch {
  return async ({ dataDir } = {}) => {
    for (let start = 1; ; start++) {
      const data = directoryFor(dataDir)
      const port = await freePort()
      const began = performance.now()
      const child = startPeer(binary, { port, directory: data.path })
      const base = `http://127.0.0.1:${port}/nacos/v1`
      const answered = firstAnswer(`${base}/console/namespaces`).then(() => true)
      const up = await Promise.race([answered, child.gone.then(() => false)])
      const startMs = performance.now() - began
      const stop = (signal?: 'SIGKILL'): Promise<void> => child.stop(signal).then(data.remove)
      const nothing = (): Promise<undefined> => Promise.resolve(undefined)
      if (up && (await takesWrites(base)))
        return {
          name: 'peer',
          kind: 'peer',
          base,
          pid: child.pid,
          startMs,
          inside: nothing,
          collect: nothing,
          stop,
        }
      await stop()
      if (start === MOST_STARTS) throw new Error(`The peer took no writes in ${start} starts.`)
    }
  }
}

function startPeer(binary: string, { port, directory }: { port: number; directory: string }): Child {
  const env = {
    ...cleanEnvironment(),
    RNACOS_SDK_HOST: '127.0.0.1',
    RNACOS_CONSOLE_HOST: '127.0.0.1',
    RNACOS_HTTP_PORT: String(port),
    RNACOS_GRPC_PORT: String(port + GRPC_OFFSET),
    RNACOS_HTTP_CONSOLE_PORT: '0',
    RNACOS_DATA_DIR: directory,
  }
  return childOf(spawn(binary, [], { stdio: 'ignore', env, cwd: directory }))
}

/** The next free port. If another server used the port, that one would be measured. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries <= LAST_PORT - FIRST_PORT; tries++) {
    const port = nextPort
    nextPort = port >= LAST_PORT ? FIRST_PORT : port + 1
    if ((await isFree(port)) && (await isFree(port + GRPC_OFFSET))) return port
  }
  throw new Error(`No port from ${FIRST_PORT} to ${LAST_PORT} is free for the peer.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Whether a publish can be read within some seconds. The peer answers before it has elected itself. */
async function takesWrites(base: string): Promise<boolean> {
  const item = 'dataId=takes-writes&group=DEFAULT_GROUP'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const until = performance.now() + TAKES_WRITES_MS
  while (performance.now() < until) {
    const signal = AbortSignal.timeout(TAKES_WRITES_MS)
    const request = { method: 'POST', headers, body: `${item}&content=yes`, signal }
    const read = await fetch(`${base}/cs/configs`, request)
      .then((answer) => answer.text())
      .then(() => fetch(`${base}/cs/configs?${item}`, { signal }))
      .then((answer) => answer.text())
      .catch(() => '')
    if (read === 'yes') return true
    await sleep(50)
  }
  return false
}
