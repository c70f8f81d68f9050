import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../core/refusal.ts'
import { readArchive } from './config-archive.ts'
import { openZip } from './zip-reader.ts'
import { fitsInZip, zipChunks, type ZipFile } from './zip-writer.ts'

const LIMITS = { maxEntries: 100, maxEntryBytes: 1_000_000, maxTotalBytes: 2_000_000 }

async function zipOf(files: readonly ZipFile[]): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipChunks(files)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const file = (name: string, content: string | Buffer): ZipFile => ({
  name,
  content: Buffer.from(content as string),
  modifiedMs: Date.UTC(2026, 10, 21),
})

async function contentsOf(zip: Buffer): Promise<Record<string, string>> {
  const read = (await openZip(zip, LIMITS)).map(async (entry) => [
    entry.name,
    (await entry.read()).toString('utf8'),
  ])
  return Object.fromEntries(await Promise.all(read)) as Record<string, string>
}

/** A zip with changed bytes in the directory entry or the local header of its first file. */
async function altered(change: (zip: Buffer, directory: number) => Buffer | void): Promise<Buffer> {
  const zip = await zipOf([file('G/a', 'content content content content'), file('G/b', 'other')])
  const directory = zip.readUInt32LE(zip.length - 6)
  return change(zip, directory) ?? zip
}

test('a zip that was written can be read', async () => {
  const big = 'long '.repeat(100_000)
  const zip = await zipOf([file('G/a.json', '{}'), file('Größe/日本.yml', 'ключ: ⚙'), file('G/big', big)])
  expect(await contentsOf(zip)).toEqual({ 'G/a.json': '{}', 'Größe/日本.yml': 'ключ: ⚙', 'G/big': big })
})

test('a link is named, and its path is no content', async () => {
  const zip = await altered((bytes, at) => {
    bytes.writeUInt8(3, at + 5)
    bytes.writeUInt16LE(0o120777, at + 40)
  })
  const { items, unrecognized } = await readArchive(await openZip(zip, LIMITS))
  expect(items.map(({ metadata }) => metadata)).toEqual([{ group: 'G', dataId: 'b' }])
  expect(unrecognized).toEqual([{ name: 'G/a', reason: 'link' }])
})

test('a zip without files is empty', async () => {
  expect(await openZip(await zipOf([]), LIMITS)).toEqual([])
})

test('any files are written and read without a change', async () => {
  const files = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.uint8Array()), {
    selector: ([name]) => name,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(files, async (named) => {
      const usable = named.filter(([name]) => !name.endsWith('/'))
      const zip = await zipOf(usable.map(([name, bytes]) => file(name, Buffer.from(bytes))))
      const entries = await openZip(zip, LIMITS)
      expect(entries.map(({ name }) => name)).toEqual(usable.map(([name]) => name))
      for (const [index, entry] of entries.entries())
        expect(Buffer.compare(await entry.read(), Buffer.from(usable[index]![1]))).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('reading a damaged zip ends with the contents or with a refusal, for any changed bytes', async () => {
  const whole = await zipOf([
    file('G/a', 'some text '.repeat(50)),
    file('G/b', 'x'),
    file('.meta.yml', 'G.a.app=s'),
  ])
  const places = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(places, fc.nat(whole.length), async (changes, length) => {
      const zip = Buffer.from(whole.subarray(0, length % 3 === 0 ? length : whole.length))
      for (const [at, value] of changes) if (at < zip.length) zip[at] = value
      await contentsOf(zip).catch((error: unknown) => expect(error).toBeInstanceOf(Refusal))
    }),
    { numRuns: 500 },
  )
})

describe('refused is', () => {
  const cases: [string, (zip: Buffer, directory: number) => Buffer | void, RegExp][] = [
    ['a file that is no zip', () => Buffer.from('hello'), /no zip file/],
    ['nothing at all', () => Buffer.alloc(0), /no zip file/],
    ['a cut zip', (zip) => zip.subarray(0, zip.length - 30), /no zip file/],
    ['an encrypted entry', (zip, at) => void zip.writeUInt16LE(0x0801, at + 8), /encrypted/],
    ['another method', (zip, at) => void zip.writeUInt16LE(14, at + 10), /by method 14/],
    ['an entry beyond the end', (zip, at) => void zip.writeUInt32LE(99_999, at + 42), /points to nothing/],
    ['two names of one entry', (zip) => void zip.write('X', 30), /two names for one entry/],
    ['zip64', (zip) => void zip.writeUInt16LE(0xffff, zip.length - 12), /zip64/],
    ['an entry of zip64', (zip, at) => void zip.writeUInt32LE(0xffffffff, at + 24), /zip64/],
    [
      'a wrong count',
      (zip) => (zip.writeUInt16LE(3, zip.length - 12), void zip.writeUInt16LE(3, zip.length - 14)),
      /damaged directory/,
    ],
  ]
  test.each(cases)('%s', async (_name, change, message) => {
    const zip = await altered(change)
    await expect(openZip(zip, LIMITS)).rejects.toThrow(message)
  })

  test('a name that comes twice', async () => {
    const zip = await zipOf([file('G/a', '1'), file('G/a', '2')])
    await expect(openZip(zip, LIMITS)).rejects.toThrow(/two entries named "G\/a"/)
  })

  test('entries that share their data', async () => {
    const zip = await zipOf([file('G/a', '1'), file('G/b', '2')])
    const directory = zip.readUInt32LE(zip.length - 6)
    const second = directory + 46 + 3
    const same = Buffer.concat([
      zip.subarray(0, second),
      zip.subarray(directory, second),
      zip.subarray(second + 49),
    ])
    same.write('G/a', second + 46)
    await expect(openZip(same, LIMITS)).rejects.toThrow(/two entries/)
  })

  test('damaged data', async () => {
    const zip = await altered((bytes) => void (bytes[34]! ^= 0xff))
    await expect((await openZip(zip, LIMITS))[0]!.read()).rejects.toThrow(/damaged in "G\/a"/)
  })

  test('a zip beyond the limits, before anything is unpacked', async () => {
    const zip = await zipOf([file('G/a', 'a'.repeat(600_000)), file('G/b', 'b'.repeat(600_000))])
    expect(zip.length).toBeLessThan(5_000)
    await expect(openZip(zip, { ...LIMITS, maxEntryBytes: 500_000 })).rejects.toThrow(
      /at most 500000 bytes in one entry/,
    )
    await expect(openZip(zip, { ...LIMITS, maxTotalBytes: 1_000_000 })).rejects.toThrow(
      /at most 1000000 bytes in all/,
    )
    await expect(openZip(zip, { ...LIMITS, maxEntries: 1 })).rejects.toThrow(/at most 1 entries/)
  })

  test('an entry that unpacks to more than its declared size', async () => {
    const zip = await zipOf([file('G/a', Buffer.alloc(900_000))])
    zip.writeUInt32LE(1_000, zip.readUInt32LE(zip.length - 6) + 24)
    await expect((await openZip(zip, LIMITS))[0]!.read()).rejects.toThrow(/damaged in "G\/a"/)
  })
})

test('a name that is not UTF-8 is a name that no item has', async () => {
  const zip = await altered((bytes, at) => {
    for (const place of [at + 46, 30]) bytes.write('G/\xC5', place, 'latin1')
  })
  const { items, unrecognized } = await readArchive(await openZip(zip, LIMITS))
  expect(items.map(({ entry }) => entry.name)).toEqual(['G/b'])
  expect(unrecognized).toEqual([{ name: 'G/%C5', reason: 'bad-name' }])
})

test('directories are left out, also those that are there twice', async () => {
  const zip = await zipOf([file('G/', ''), file('G/a', 'x'), file('G/', '')])
  expect(await contentsOf(zip)).toEqual({ 'G/a': 'x' })
})

test('a zip that needs zip64 is refused before it is written', () => {
  const one = { name: 'G/a', bytes: 10_000_000 }
  expect(fitsInZip(Array(400).fill(one))).toBe(true)
  expect(fitsInZip(Array(430).fill(one))).toBe(false)
  expect(fitsInZip(Array(65_535).fill({ name: 'a', bytes: 1 }))).toBe(false)
})
