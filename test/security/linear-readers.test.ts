/** What clients send is read in time that grows with its length, whatever it is made of. */
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../src/core/refusal.ts'
import { parseListeningConfigs } from '../../src/protocols/http/endpoints/config/listening-configs.ts'
import { parseSelection } from '../../src/protocols/http/endpoints/transfer/clone-selection.ts'
import * as fields from '../../src/protocols/parameters/fields.ts'
import { parseFormBody, parseQuery } from '../../src/protocols/parameters/form-parser.ts'
import { findFields } from '../../src/protocols/parameters/form-search.ts'
import { FormValues } from '../../src/protocols/parameters/form-values.ts'
import {
  parseBeat,
  parseInstanceLocators,
  parseMetadata,
} from '../../src/protocols/parameters/json-fields.ts'
import { compileField, type FieldSchema } from '../../src/protocols/parameters/parameter-field.ts'
import { SVC_RULES } from '../../src/protocols/parameters/parameter-rules.ts'
import { FORM_SHAPES, joined, LETTERS, repeated, type Shape, SHAPES } from './input-shapes.ts'

const MIB = 1024 * 1024
const RULES = { ...SVC_RULES, maxJsonDepth: 32 }
const CREDENTIALS = ['accessToken', 'username', 'password'].map((name) => ({ name, longestValue: 1_000 }))

function checked(name: string, schema: object): (text: string) => string {
  return compileField(name, schema as FieldSchema, RULES) as (text: string) => string
}

const beat = checked('beat', fields.beat)
const instances = checked('instances', fields.instances)
const metadata = checked('metadata', fields.metadata)

interface Reader {
  readonly largest: number
  readonly read: (text: string) => unknown
}

const READERS: Readonly<Record<string, Reader>> = {
  form: {
    largest: 8 * MIB,
    read: (text) => parseFormBody(Buffer.from(text, 'latin1'), new FormValues(), 1_000),
  },
  'value of a form': {
    largest: 8 * MIB,
    read: (text) => parseFormBody(Buffer.from(`content=${text}`, 'latin1'), new FormValues(), 1_000),
  },
  search: {
    largest: 8 * MIB,
    read: (text) => findFields({ bytes: Buffer.from(text, 'latin1'), maxParameters: 1_000 }, CREDENTIALS),
  },
  query: { largest: MIB, read: (text) => parseQuery(`a=${text}`, new FormValues(), 1_000) },
  'listener keys': { largest: 2 * MIB, read: (text) => parseListeningConfigs(text, 10_000) },
  metadata: { largest: MIB, read: (text) => parseMetadata(metadata(text), 'metadata', MIB) },
  beat: { largest: MIB, read: (text) => parseBeat(beat(text), { maxMetadataBytes: 8_192 }) },
  instances: { largest: 2 * MIB, read: (text) => parseInstanceLocators(instances(text)) },
  clone: { largest: 2 * MIB, read: parseSelection },
}

/** Those of forms and of values, and some of other readers. */
const ALL_SHAPES: Readonly<Record<string, Shape>> = {
  ...FORM_SHAPES,
  ...SHAPES,
  letters: LETTERS,
  'listened items': joined((at) => `d${at}\u0002g\u0002\u0001`),
  'ends of items': repeated('\u0001'),
  braces: repeated('{"a":'),
  quotes: repeated('"'),
  backslashes: repeated('\\'),
  numbers: repeated('0,'),
}

/**
 * The processor time of reading a text, in ms: the least of some runs, because other threads of the process count too. The times
 * in `/proc` (`processor-time.ts`) are not those of this moment for a thread that is running.
 */
function cost(read: Reader['read'], text: string): number {
  const runs = [1, 2].map(() => {
    const before = process.cpuUsage()
    try {
      read(text)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...runs)
}

/** JSON begins with a bracket. */
const STARTS = ['', '[', '{']

/** Below this, differences are noise. */
const NOISE_MS = 15

/** How often a pair is measured: the garbage collection of a run may cost more than the reading. */
const MOST_PAIRS = 4

describe.each(Object.entries(READERS))('%s', (_, { largest, read }) => {
  test.each(Object.entries(ALL_SHAPES))('of %s', (__, shape) => {
    for (const start of STARTS) {
      const [small, large] = [start + shape(largest / 4), start + shape(largest * 0.99)]
      // The least of all runs counts, of both.
      let [least, most] = [Infinity, Infinity]
      for (let pair = 0; pair < MOST_PAIRS && (pair === 0 || most > 6 * least + NOISE_MS); pair++) {
        least = Math.min(least, cost(read, small))
        most = Math.min(most, cost(read, large))
      }
      expect(most, start).toBeLessThanOrEqual(6 * least + NOISE_MS)
    }
  })
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
