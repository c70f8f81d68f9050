/** A small heap whose share for data is full: large answers, abandoned work and slow readers do not end the server. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, type Params } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const MIB = 1024 * 1024
const SETTINGS = {
  'log-level': 'error',
  'max-form-body': '64MiB',
  'max-instance-metadata': '8KiB',
  'max-content-memory': '512MiB',
}
const LIMIT_MS = 600_000

let server: Waypost
let client: Client
/** The ids of the versions of an item with large contents. */
let versions: string[]

const wide = (start: string, length: number): string => `→${start}`.padEnd(length, 'x')
const small = (index: number): Params => ({ group: 'G', dataId: `${index}`.padEnd(200, 'n'), content: 'x' })
const bin = (index: number): Params => ({ group: 'BIN', dataId: `b${index}`.padEnd(200, 'n'), content: 'x' })

beforeAll(async () => {
  server = await startWaypost({
    env: { NODE_OPTIONS: '--max-old-space-size=128' },
    settings: SETTINGS,
    startMs: 120_000,
  })
  client = new Client(`${server.url}/svc/v1`)
  for (const turn of [1, 2, 3])
    expect(
      (await client.post('/cs/configs', { ...LARGE, content: wide(`${turn}`, 10 * MIB - 3) })).status,
    ).toBe(200)
  const page = await client.get('/console/config/versions', { ...LARGE, pageNo: 1, pageSize: 10 })
  versions = page.json().pageItems.map(({ historyId }: { historyId: string }) => historyId)
  await Promise.all(Array.from({ length: 600 }, (_, index) => client.post('/cs/configs', bin(index))))
  const deleted = (index: number) => client.delete('/cs/configs', { ...bin(index), content: undefined })
  await Promise.all(Array.from({ length: 600 }, (_, index) => deleted(index)))
  await fill()
}, LIMIT_MS)

afterAll(async () => {
  client?.close()
  await server?.stop()
})

const LARGE: Params = { group: 'L', dataId: 'large' }

/** Publishes small items until one is refused. */
async function fill(): Promise<void> {
  let [next, isFull] = [0, false]
  const publish = async (): Promise<void> => {
    while (!isFull) {
      const { status, text } = await client.post('/cs/configs', small(next++))
      if (status === 507) isFull = true
      else if (status === 503) await sleep(50)
      else expect([status, text]).toEqual([200, 'true'])
    }
  }
  await Promise.all(Array.from({ length: 16 }, publish))
}

/** Runs a load, with a writer and a reader beside it. The server answers both, and lives. */
async function beside(load: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const work = load().finally(() => (isOver = true))
  const statuses = { written: new Set<number>(), read: new Set<number>() }
  let content = 0
  while (!isOver) {
    const key = small(0)
    statuses.written.add((await client.post('/cs/configs', { ...key, content: `${content++ % 10}` })).status)
    statuses.read.add((await client.get('/cs/configs', { ...key, content: undefined })).status)
    await sleep(20)
  }
  await work
  expect([[...statuses.written], [...statuses.read]]).toEqual([[200], [200]])
  expect((await client.get('/console/configs', { pageNo: 1, pageSize: 10 })).status).toBe(200)
  expect(() => process.kill(server.pid, 0)).not.toThrow()
}

test('the share is full', async () => {
  expect((await client.post('/cs/configs', small(-1))).status).toBe(507)
  expect(await (await fetch(`${server.url}/readyz`)).text()).toContain('memory')
})

const LISTS: readonly (readonly [string, Params])[] = [
  ['/console/configs', {}],
  ['/console/configs', { content: 'x' }],
  ['/console/bin', {}],
  ['/cs/configs', { search: 'blur', dataId: '*', group: 'G' }],
]

test.each(LISTS)(
  '24 lists of 500 at once: %s %o',
  async (path, query) => {
    await beside(async () => {
      for (let round = 0; round < 3; round++) {
        const asked = Array.from({ length: 24 }, () =>
          client.get(path, { ...query, pageNo: 1, pageSize: 500 }),
        )
        for (const { status } of await Promise.all(asked)) expect([200, 429, 503]).toContain(status)
      }
    })
  },
  LIMIT_MS,
)

/** A request whose answer is read slowly, or not at all. */
function asked(path: string): Socket {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
  socket.pause()
  socket.write(`GET /svc/v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  return socket
}

const version = (index: number): string =>
  `/console/config/version?group=L&dataId=large&historyId=${versions[index % versions.length]}`

test.each([
  ['versions of large contents', version],
  ['comparisons of namespaces', () => '/console/compare?from=&to='],
  ['searches', (index: number) => `/console/search?text=absent${index}`],
  ['histories', () => '/cs/history?search=accurate&group=L&dataId=large&pageNo=1&pageSize=500'],
])(
  '60 abandoned %s at a time',
  async (_name, pathOf) => {
    await beside(async () => {
      for (let round = 0; round < 20; round++) {
        const sockets = Array.from({ length: 60 }, (_, index) => asked(pathOf(index)))
        await sleep(50)
        for (const socket of sockets) socket.destroy()
      }
    })
  },
  LIMIT_MS,
)

test(
  '1,000 slow readers of large versions',
  async () => {
    const sockets: Socket[] = []
    await beside(async () => {
      for (let index = 0; index < 1_000; index++) {
        sockets.push(asked(version(index)))
        if (index % 10 === 9) await sleep(20)
      }
      for (let second = 0; second < 20; second++) {
        for (const socket of sockets) socket.read(1_024)
        await sleep(1_000)
      }
    })
    for (const socket of sockets) socket.destroy()
    expect(residentBytes(server.pid)).toBeLessThan(1_024 * MIB)
  },
  LIMIT_MS,
)

function residentBytes(pid: number): number {
  return 1_024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
}
