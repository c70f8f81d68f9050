import { createHash } from 'node:crypto'
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { needSmallDisk, SmallDisk } from './disks/small-disk.ts'
import { report, roundsOf, seed, times } from './fault-run.ts'
import { differences, pictureOf } from './load/picture.ts'
import type { Picture } from './load/picture.ts'
import { between, randomFrom } from './random.ts'
import type { Random } from './random.ts'

const rounds = times('FAULT_DAMAGES', { short: 6, long: 100 })
const PAGE = 8192
const DATABASE = 'waypost.db'
const MARKER = 'waypost.json'
/** Where the header of a SQLite file keeps `user_version`, which is the format here. */
const FORMAT_AT = 60
const ITEMS = 40

let sound: string
let before: Picture

beforeAll(async () => {
  sound = temporaryDirectory('sound-')
  const server = await startWaypost({ dataDir: sound })
  const client = new Client(`${server.url}/svc/v1`)
  try {
    for (let item = 0; item < ITEMS; item++)
      for (const version of ['one', 'two', 'three'])
        await client.post('/cs/configs', {
          dataId: `item.${item}`,
          group: 'G',
          content: `${version} `.repeat(item * 9 + 1),
        })
    await client.post('/console/namespaces', { customNamespaceId: 'blue', namespaceName: 'Blue' })
    for (let port = 1; port <= 20; port++)
      await client.post('/ns/instance', { serviceName: 'kept', ip: '127.0.0.9', port, ephemeral: false })
    before = await pictureOf(client)
  } finally {
    client.close()
    await server.stop()
  }
})

describe('a data directory that is not as it was left', { timeout: 40_000 }, () => {
  test.each([
    [
      'a missing database',
      (directory: string) => rmSync(join(directory, DATABASE)),
      /missing or empty.*waypost\.json/s,
    ],
    [
      'an empty database',
      (directory: string) => truncateSync(join(directory, DATABASE), 0),
      /missing or empty/,
    ],
    [
      'a database of a newer format',
      (directory: string) => overwrite(join(directory, DATABASE), FORMAT_AT, [0, 0, 0, 9]),
      /format 9.*a later one/s,
    ],
    [
      'a marker of a newer format',
      (directory: string) => writeFileSync(join(directory, MARKER), '{"store":"WPST","format":9}'),
      /format 9.*a later one/s,
    ],
    ['an empty marker', (directory: string) => writeFileSync(join(directory, MARKER), ''), /waypost\.json/],
    [
      'a database cut to half a page',
      (directory: string) => truncateSync(join(directory, DATABASE), PAGE / 2),
      /damaged.*waypost doctor/s,
    ],
    [
      'a database cut inside its last page',
      (directory: string) =>
        truncateSync(join(directory, DATABASE), statSync(join(directory, DATABASE)).size - 2_383),
      /damaged.*cut off.*waypost doctor/s,
    ],
    [
      'another file in place of the database',
      (directory: string) => writeFileSync(join(directory, DATABASE), 'x'.repeat(9_000)),
      /damaged.*waypost doctor/s,
    ],
  ])('%s is refused with a reason, and nothing is destroyed', async (_, damage, reason) => {
    const directory = copyOf(sound)
    damage(directory)
    const left = digestsOf(directory)
    await expect(startWaypost({ dataDir: directory })).rejects.toThrow(reason)
    expect(digestsOf(directory)).toMatchObject(left)
  })

  test('a second server is refused, and the first one works on', async () => {
    const directory = copyOf(sound)
    const first = await startWaypost({ dataDir: directory })
    const client = new Client(`${first.url}/svc/v1`)
    try {
      await expect(startWaypost({ dataDir: directory })).rejects.toThrow(/in use: another Waypost server/)
      expect((await client.post('/cs/configs', { dataId: 'more', group: 'G', content: 'x' })).text).toBe(
        'true',
      )
    } finally {
      client.close()
      await first.stop()
    }
  })

  test('a directory that cannot be written is refused with a reason', async ({ skip }) => {
    const needed = needSmallDisk()
    skip(needed.skip, needed.reason)
    const disk = new SmallDisk(temporaryDirectory('read-only-'), 32)
    try {
      const dataDir = join(disk.directory, 'data')
      cpSync(sound, dataDir, { recursive: true })
      disk.setReadOnly(true)
      await expect(startWaypost({ dataDir })).rejects.toThrow(/cannot be written|read-only/i)
      disk.setReadOnly(false)
      expect(await openedDifferences(dataDir)).toEqual([])
    } finally {
      disk.close()
    }
  })

  test(
    'damage anywhere in the database is refused or answered 500',
    { timeout: 20_000 + rounds * 8_000 },
    async () => {
      const random = randomFrom(seed)
      const outcomes = { refused: 0, harmless: 0, partly: 0 }
      for (const round of roundsOf(rounds)) {
        const directory = copyOf(sound)
        const what = damageSomewhere(join(directory, DATABASE), random)
        const wrong = await openedDifferences(directory).catch((error: unknown) => String(error))
        if (typeof wrong === 'string') {
          expect(wrong, what).toMatch(/damaged|doctor|format|another program|not a database/)
          outcomes.refused++
        } else {
          expect(
            wrong.filter((line) => !isKnown(line)),
            `${what}, round ${round}, seed ${seed}`,
          ).toEqual([])
          outcomes[wrong.length === 0 ? 'harmless' : 'partly']++
        }
        rmSync(directory, { recursive: true })
      }
      const { refused, partly, harmless } = outcomes
      report(
        `damaged database: ${refused} refused at the start, ${partly} in some answers, ${harmless} without effect`,
      )
    },
  )
})

/**
 * A 500 is an answer that says so. Pages of history are read without contents, which the checksum of a record covers:
 * they can show a damaged time or address, unlike the record itself.
 */
function isKnown(line: string): boolean {
  return line.includes('status 500') || line.startsWith('/cs/history {"search"')
}

function copyOf(directory: string): string {
  const copy = temporaryDirectory('damaged-')
  cpSync(directory, copy, { recursive: true })
  return copy
}

function digestsOf(directory: string): Record<string, string> {
  const digest = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(directory, file)))
      .digest('hex')
  return Object.fromEntries(readdirSync(directory).map((file) => [file, digest(file)]))
}

async function openedDifferences(dataDir: string): Promise<string[]> {
  const server = await startWaypost({ dataDir })
  const client = new Client(`${server.url}/svc/v1`)
  try {
    return differences(before, await pictureOf(client, before))
  } finally {
    client.close()
    await server.kill()
  }
}

/** Flips a bit, zeroes a page or cuts the file; answers what it did. */
function damageSomewhere(file: string, random: Random): string {
  const { size } = statSync(file)
  const kind = between(random, 0, 2)
  if (kind === 0) {
    const at = between(random, 0, size - 1)
    const byte = Buffer.alloc(1)
    const fd = openSync(file, 'r')
    readSync(fd, byte, 0, 1, at)
    closeSync(fd)
    // The highest bit in half of all cases: it makes a text what is no UTF-8.
    overwrite(file, at, [byte[0]! ^ (1 << Math.min(7, between(random, 0, 14)))])
    return `a bit flipped in byte ${at}`
  }
  if (kind === 1) {
    const page = between(random, 0, size / PAGE - 1)
    overwrite(
      file,
      page * PAGE,
      Array.from({ length: PAGE }, () => 0),
    )
    return `page ${page} zeroed`
  }
  const length = between(random, 1, size - 1)
  truncateSync(file, length)
  return `cut to ${length} of ${size} bytes`
}

function overwrite(file: string, at: number, bytes: readonly number[]): void {
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.from(bytes), 0, bytes.length, at)
  closeSync(fd)
}
