/**
 * Input of clients is read in steps that grow with its length, whatever it is made of. `linear-readers.night.test.ts` has the
 * times.
 */
import { growth, MOST_GROWTH } from '../support/steps.ts'
import { describe, expect, test } from 'vitest'
import type { Metadata } from '../../src/core/naming/state/instance.ts'
import { selectByLabel } from '../../src/core/naming/state/label-selector.ts'
import type { Instance } from '../../src/core/naming/state/service-entry.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { parseListeningConfigs } from '../../src/protocols/http/endpoints/config/listening-configs.ts'
import * as fields from '../../src/protocols/parameters/fields.ts'
import { parseBeat, parseMetadata } from '../../src/protocols/parameters/json-fields.ts'
import { repeated, SHAPES } from './input-shapes.ts'
import { ALL_SHAPES, fieldReader, instances, READERS, readOrRefuse, STARTS } from './readers.ts'

const KIB = 1024
const MIB = KIB * KIB

describe.each(Object.entries(READERS))('%s', (_, { short = 4 * KIB, read }) => {
  test.each(Object.entries(ALL_SHAPES))('of %s', async (__, shape) => {
    const readAll = async (text: string): Promise<void> => {
      for (const start of STARTS) await readOrRefuse(read, start + text)
    }
    expect(await growth(readAll, [shape(short), shape(8 * short)])).toBeLessThan(MOST_GROWTH)
  })
})

/** Parts of texts that fields may find hard. */
const PARTS = ['a', ' ', '@', 'a@@', ',', '{', '9', '中', '\0', 'a,', 'a ']

test.each(Object.entries(fields).filter(([, schema]) => typeof schema === 'object'))(
  'a field: %s',
  async (name, schema) => {
    const read = fieldReader(name, schema as object)
    const readAll = async ({ length }: string): Promise<void> => {
      for (const part of PARTS)
        for (const end of ['', '!']) await readOrRefuse(read, repeated(part)(length) + end)
    }
    expect(await growth(readAll, [repeated('a')(KIB), repeated('a')(8 * KIB)])).toBeLessThan(MOST_GROWTH)
  },
)

test('a label selector over instances at one address', async () => {
  const here = (text: string): Instance[] => {
    const metadata: Metadata = {}
    return Array.from({ length: text.length }, (_, port) => {
      return { record: { address: { ip: '127.0.0.1', port, cluster: 'c' } }, metadata } as unknown as Instance
    })
  }
  const expression = Array.from({ length: 60 }, () => 'CONSUMER.label.zone = PROVIDER.label.zone').join(' & ')
  const select = (text: string): void => {
    const all = here(text)
    const labels = [...all.map((instance) => instance.metadata), { zone: 'other' }]
    const found = selectByLabel({ type: 'label', expression }, all, {
      ip: '127.0.0.2',
      labelsOf: (ip) => (ip === '127.0.0.2' ? [{ zone: 'mine' }] : labels),
    })
    expect(found).toHaveLength(text.length)
  }
  expect(await growth(select, ['x'.repeat(1_000), 'x'.repeat(8_000)])).toBeLessThan(MOST_GROWTH)
})

describe('what is too much is refused before it is read', () => {
  test.each([
    ['an item of listener keys', () => parseListeningConfigs(`${'\u0002'.repeat(MIB)}\u0001`, 10)],
    ['metadata of 60,000 keys', () => parseMetadata(SHAPES['key=value pairs']!(MIB), 'metadata', MIB)],
    ['the metadata of a beat', () => parseBeat(SHAPES['many keys']!(MIB), { maxMetadataBytes: 8_192 })],
    ['an array of a million', () => instances(`[${'0,'.repeat(MIB)}0]`)],
  ])('%s', (_, read) => {
    expect(read).toThrow(Refusal)
  })
})
