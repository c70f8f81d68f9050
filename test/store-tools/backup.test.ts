import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { sha256OfFile } from '../../src/store/embedded/backup/backup-facts.ts'
import { Backups } from '../../src/store/embedded/backup/backups.ts'
import {
  runWaypost,
  startWaypost,
  temporaryDirectory,
  type Waypost,
  type WaypostOptions,
} from '../support/waypost.ts'
import { FORMAT } from '../../src/store/embedded/database/format.ts'
import { alter, contentsOf, diagnose, fileOf, flipBit, sampleStore } from './damage.ts'

const started: Waypost[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill()
})

async function startOne(options: WaypostOptions = {}): Promise<Waypost> {
  const server = await startWaypost(options)
  started.push(server)
  return server
}

async function publish(url: string, dataId: string, content: string): Promise<boolean> {
  const body = new URLSearchParams({ dataId, group: 'g', content })
  const answer = await fetch(`${url}/svc/v1/cs/configs`, { method: 'POST', body })
  return answer.status === 200
}

function backUp(url: string, label = ''): Promise<Response> {
  return fetch(`${url}/svc/v1/operator/backup${label && `?label=${label}`}`, { method: 'POST' })
}

describe('a backup of a running server', () => {
  test('has all changes acknowledged before its start, each completely, while writes continue', async () => {
    // A slow copy, so that there is time to write.
    const server = await startOne({ settings: { 'backup-rate': '1MiB' } })
    for (let at = 0; at < 40; at++) await publish(server.url, `before-${at}`, `${at}`.padEnd(60_000, 'x'))
    let writing = true
    const during = { acknowledged: 0, longestMs: 0 }
    const writers = [1, 2, 3, 4].map(async (writer) => {
      for (let version = 0; writing; version++) {
        const began = performance.now()
        // Both items of a writer get each version in turn: the first is never behind the second.
        if (await publish(server.url, `pair-${writer}-a`, `${version}`)) during.acknowledged++
        await publish(server.url, `pair-${writer}-b`, `${version}`)
        during.longestMs = Math.max(during.longestMs, performance.now() - began)
      }
    })
    await sleep(200)
    const acknowledgedBefore = during.acknowledged
    const to = join(temporaryDirectory('backup-'), 'made')
    const { code, stdout, stderr } = await runWaypost(['backup', '--url', server.url, '--to', to, '--json'])
    const acknowledgedAfter = during.acknowledged
    writing = false
    await Promise.all(writers)
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const made = JSON.parse(stdout)
    expect(made).toMatchObject({ path: to, size: expect.any(Number), revision: expect.any(Number) })
    expect(made.checksum).toMatch(/^sha256:[0-9a-f]{64}$/)
    // Writes were not held while the file was.
    expect(made.heldMs).toBeGreaterThan(1_000)
    expect(acknowledgedAfter - acknowledgedBefore).toBeGreaterThan(50)
    expect(during.longestMs).toBeLessThan(made.heldMs)
    expect(readdirSync(to).sort()).toEqual(['backup.json', 'waypost.db', 'waypost.json'])
    expect(readdirSync(join(server.dataDir, 'backups'))).toEqual([])
    const contents = await contentsOf(copyOf(to))
    for (let at = 0; at < 40; at++) expect(contents.get(`before-${at}`)?.length).toBe(60_000)
    for (const writer of [1, 2, 3, 4]) {
      const [a, b] = ['a', 'b'].map((item) => Number(contents.get(`pair-${writer}-${item}`) ?? -1))
      expect([0, 1]).toContain((a ?? 0) - (b ?? 0))
    }
    expect(diagnose(copyOf(to)).findings).toEqual([])
    await server.stop()
    expect(diagnose(server.dataDir).damage).toEqual([])
  }, 60_000)

  test('reports its progress, and a second one at the same time is refused', async () => {
    const server = await startOne({ settings: { 'backup-rate': '1MiB' } })
    for (let at = 0; at < 60; at++) await publish(server.url, `item-${at}`, 'x'.repeat(60_000))
    const first = backUp(server.url, 'one')
    const progress = async () => (await fetch(`${server.url}/svc/v1/operator/backup`)).json()
    await expect
      .poll(progress, { timeout: 10_000 })
      .toMatchObject({ running: true, step: 'copying', total: expect.any(Number) })
    const second = await backUp(server.url)
    expect([second.status, await second.json()]).toMatchObject([
      409,
      { detail: expect.stringContaining('made already') },
    ])
    expect((await first).status).toBe(200)
    expect(await progress()).toEqual({ running: false })
    expect(readdirSync(join(server.dataDir, 'backups'))).toEqual([
      expect.stringMatching(/Z-one-[0-9a-f]{6}$/),
    ])
  })

  test('is cancelled by a stop of the server, and leaves nothing behind', async () => {
    const server = await startOne({ settings: { 'backup-rate': '1MiB' } })
    for (let at = 0; at < 60; at++) await publish(server.url, `item-${at}`, 'x'.repeat(60_000))
    const cut = backUp(server.url).then(
      (answer) => answer.status,
      () => 'closed',
    )
    await sleep(500)
    expect(await server.stop()).toBe(0)
    expect([500, 409, 'closed']).toContain(await cut)
    expect(readdirSync(join(server.dataDir, 'backups'))).toEqual([])
    expect(diagnose(server.dataDir).damage).toEqual([])
  })

  test('accepts only a label from clients, and respects the number of backups', async () => {
    const server = await startOne({ settings: { 'max-backups': 1 } })
    expect((await backUp(server.url, '..%2Fout')).status).toBe(400)
    expect((await backUp(server.url)).status).toBe(200)
    const refused = await backUp(server.url)
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { detail: expect.stringContaining('max-backups') },
    ])
  })

  test('is in the directory of backup-dir, where incomplete ones of a killed server are removed', async () => {
    const backups = temporaryDirectory('backups-')
    mkdirSync(join(backups, '.draft-old'))
    const server = await startOne({ settings: { 'backup-dir': backups } })
    expect((await backUp(server.url)).status).toBe(200)
    expect(readdirSync(backups)).toHaveLength(1)
    expect(existsSync(join(server.dataDir, 'backups'))).toBe(false)
  })
})

describe('a full disk', () => {
  // Only root may mount a small file system.
  test.skipIf(process.getuid?.() !== 0)(
    'leaves no incomplete backup, and the server continues',
    async ({ skip }) => {
      const disk = temporaryDirectory('disk-')
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', disk], { stdio: 'pipe' })
      } catch {
        skip('this machine does not allow to mount a file system')
      }
      try {
        const server = await startOne({ settings: { 'backup-dir': disk } })
        for (let at = 0; at < 60; at++) await publish(server.url, `item-${at}`, 'x'.repeat(60_000))
        const answer = await backUp(server.url)
        expect([answer.status, await answer.json()]).toMatchObject([
          500,
          { detail: expect.stringContaining('Free some space') },
        ])
        await fillsUpMeanwhile(disk, server.dataDir)
        expect(readdirSync(disk)).toEqual([])
        expect(await publish(server.url, 'after', 'all is well')).toBe(true)
        await server.stop()
        expect(diagnose(server.dataDir).damage).toEqual([])
      } finally {
        execFileSync('umount', [disk])
      }
    },
  )
})

describe('backup and restore by command', () => {
  test('of a stopped server work, and a server starts on the result', async () => {
    const directory = await sampleStore(20)
    const base = temporaryDirectory('round-')
    const [to, back] = [join(base, 'backup'), join(base, 'back')]
    expect(await runWaypost(['backup', '--data-dir', directory, '--to', to, '--label', 'x'])).toMatchObject({
      code: 0,
    })
    expect(JSON.parse(readFileSync(join(to, 'backup.json'), 'utf8'))).toMatchObject({
      format: FORMAT,
      label: 'x',
      version: expect.any(String),
    })
    const restored = await runWaypost(['restore', '--from', to, '--data-dir', back, '--json'])
    expect([restored.code, JSON.parse(restored.stdout)]).toMatchObject([0, { directory: back }])
    expect(await contentsOf(back)).toEqual(await contentsOf(copyOf(directory)))
    const server = await startOne({ dataDir: copyOf(back) })
    expect((await fetch(`${server.url}/svc/v1/cs/configs?dataId=item-3&group=g`)).status).toBe(200)
  })

  test('write files for their owner alone, also into directories that others may enter', async () => {
    const base = temporaryDirectory('modes-')
    const [to, back] = [join(base, 'backup'), join(base, 'back')]
    mkdirSync(back, { mode: 0o755 })
    const server = await startOne()
    await publish(server.url, 'a', 'secret')
    expect(await runWaypost(['backup', '--url', server.url, '--to', to])).toMatchObject({ code: 0 })
    expect(modesOf(to)).toEqual({
      '.': '700',
      'backup.json': '600',
      'waypost.db': '600',
      'waypost.json': '600',
    })
    expect(await runWaypost(['restore', '--from', to, '--data-dir', back])).toMatchObject({ code: 0 })
    expect(modesOf(back)).toEqual({ '.': '755', 'waypost.db': '600', 'waypost.json': '600' })
  })

  test('backup and restore refuse what a development build wrote', async () => {
    const directory = await sampleStore(5)
    alter(directory, `PRAGMA application_id = ${0x57415950}; PRAGMA user_version = 4`)
    writeFileSync(join(directory, 'waypost.json'), '{"format":4}')
    const base = temporaryDirectory('development-')
    const made = await runWaypost(['backup', '--data-dir', directory, '--to', join(base, 'backup')])
    expect([made.code, made.stderr]).toEqual([2, expect.stringContaining('development build')])
    const sha256 = sha256OfFile(fileOf(directory), 'reading', () => {})
    writeFileSync(join(directory, 'backup.json'), JSON.stringify({ format: 4, size: 1, sha256 }))
    const restored = await runWaypost(['restore', '--from', directory, '--data-dir', join(base, 'new')])
    expect([restored.code, restored.stderr]).toEqual([2, expect.stringContaining('development build')])
    expect(readdirSync(base)).toEqual([])
  })

  test('backup of a damaged store is refused, and nothing is left', async () => {
    const directory = await sampleStore(5)
    const to = join(temporaryDirectory('none-'), 'backup')
    flipBit(fileOf(directory), readFileSync(fileOf(directory)).indexOf('content of 3 in version 2') + 3)
    const { code, stderr } = await runWaypost(['backup', '--data-dir', directory, '--to', to])
    expect([code, stderr]).toEqual([1, expect.stringContaining('the store is damaged')])
    expect(existsSync(to)).toBe(false)
  })

  test.each([
    [['--data-dir', '/x'], /--to is required/],
    [['--url', 'http://127.0.0.1:1', '--data-dir', '/x'], /either a server, or --data-dir/],
    [['--etcd-endpoints', 'http://127.0.0.1:2379'], /--to is required/],
    [
      ['--etcd-endpoints', 'http://127.0.0.1:2379', '--data-dir', '/x'],
      /either --data-dir, or --etcd-endpoints/,
    ],
    [['--etcd-endpoints', 'nonsense', '--to', '/x/y'], /etcd-endpoints/],
    [['--url', 'nonsense'], /--server must be an address/],
    [['--url', 'http://127.0.0.1:1', '--label', '../x'], /A label has/],
  ])('backup %j exits with 2', async (args, message) => {
    const { code, stderr } = await runWaypost(['backup', ...args])
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
  })
})

/** A backup that has space at first and none later: the size that it checks first is 0. */
async function fillsUpMeanwhile(disk: string, dataDirectory: string): Promise<void> {
  let released = 0
  const file = {
    hold: async () => ({ revision: 1, bytes: 0 }),
    release: async () => ++released > 0,
  }
  const backups = new Backups({ file, dataDirectory, version: '0', bytesPerSecond: 0, reserveBytes: 0 })
  await expect(backups.make(join(disk, 'made'))).rejects.toThrow(/ENOSPC/)
  expect(released).toBe(1)
}

function copyOf(directory: string): string {
  const copy = temporaryDirectory('copy-')
  cpSync(directory, copy, { recursive: true })
  return copy
}

function modesOf(directory: string): Record<string, string> {
  const modeOf = (name: string) => (statSync(join(directory, name)).mode & 0o777).toString(8)
  return Object.fromEntries(['.', ...readdirSync(directory)].map((name) => [name, modeOf(name)]))
}
