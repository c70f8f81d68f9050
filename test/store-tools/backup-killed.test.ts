import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const started: Waypost[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill()
})

/** A server in the middle of a backup, which takes about two seconds; its answer, undefined where none came. */
async function backingUp() {
  const server = await startWaypost({ settings: { 'backup-rate': '1MiB' } })
  started.push(server)
  for (let at = 0; at < 30; at++) {
    const body = new URLSearchParams({ dataId: `item-${at}`, group: 'g', content: 'x'.repeat(60_000) })
    await fetch(`${server.url}/svc/v1/cs/configs`, { method: 'POST', body })
  }
  const there = () => namesIn(join(server.dataDir, 'backups'))
  const answer = backUp(server).catch(() => undefined)
  await eventually(() => there().some((name) => name.startsWith('.draft-')))
  return { server, answer, there }
}

function backUp({ url }: Waypost): Promise<Response> {
  return fetch(`${url}/svc/v1/operator/backup`, { method: 'POST' })
}

// Linux tells of processes in files.
test.skipIf(!existsSync('/proc/self/stat'))(
  'a backup whose copying process is killed fails and leaves nothing, and the next one is made',
  async () => {
    const { server, answer, there } = await backingUp()
    const copiers = processesOf(server.pid)
    expect(copiers).toHaveLength(1)
    process.kill(copiers[0]!, 'SIGKILL')
    const failed = await answer
    expect([failed?.status, await failed?.json()]).toMatchObject([
      500,
      { detail: expect.stringContaining('the process that copies has ended') },
    ])
    expect(there()).toEqual([])
    expect((await backUp(server)).status).toBe(200)
    expect(there()).toHaveLength(1)
    expect(processesOf(server.pid)).toEqual([])
  },
)

test('a server that is killed during a backup leaves no complete backup and no process', async () => {
  const { server, answer, there } = await backingUp()
  await server.kill()
  expect(await answer).toBeUndefined()
  // The process that copies ends with the server, and takes the draft away.
  await eventually(() => there().length === 0)
})

/** The processes that a process has started and that are not gone. */
function processesOf(pid: number): number[] {
  const parentOf = (id: string) => {
    try {
      // After the name of the program, in brackets: state and parent.
      return Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
    } catch {
      return undefined
    }
  }
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}

/** Asks until it is so; the limit of the test ends it. */
async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10)
}
