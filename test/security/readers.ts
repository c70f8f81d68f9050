import { parseMetadata as parseArchiveMetadata } from '../../src/archive/metadata-reader.ts'
import { MetadataError, parseMetaLines } from '../../src/archive/config-metadata.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { hitsIn } from '../../src/operations/console/content-search.ts'
import { parseBody } from '../../src/protocols/grpc/wire/body-reader.ts'
import { parseListeningConfigs } from '../../src/protocols/http/endpoints/config/listening-configs.ts'
import { parseSelection } from '../../src/protocols/http/endpoints/transfer/import-endpoint.ts'
import * as fields from '../../src/protocols/parameters/fields.ts'
import { parseFormBody, parseQuery, FormValues } from '../../src/protocols/parameters/form-parser.ts'
import { findFields } from '../../src/protocols/parameters/form-search.ts'
import {
  parseBeat,
  parseInstanceLocators,
  parseMetadata,
} from '../../src/protocols/parameters/json-fields.ts'
import { compileField, type FieldSchema } from '../../src/protocols/parameters/parameter-field.ts'
import { SVC_RULES } from '../../src/protocols/parameters/schema.ts'
import { FORM_SHAPES, joined, LETTERS, LINE_SHAPES, repeated, type Shape, SHAPES } from './input-shapes.ts'

/** The readers of the texts that clients send, and texts that they may find hard: for tests of the cost of reading. */

const KIB = 1024
const MIB = 1024 * KIB
const RULES = { ...SVC_RULES, maxJsonDepth: 32 }
const CREDENTIALS = ['accessToken', 'username', 'password'].map((name) => ({ name, longestValue: 1_000 }))

/** Reads the value of a parameter, as a route with this field does. */
export function fieldReader(name: string, schema: object): (text: string) => string {
  return compileField(name, schema as FieldSchema, RULES) as (text: string) => string
}

const beat = fieldReader('beat', fields.beat)
/** Reads a list of instances. */
export const instances = fieldReader('instances', fields.instances)
const metadata = fieldReader('metadata', fields.metadata)

/** A reader of a text. */
export interface Reader {
  /** The longest text that it is given, in bytes. */
  readonly largest: number
  /** A text that is short for it, in bytes; 4 KiB where none is named. It reads in pieces, or refuses long parts. */
  readonly short?: number
  readonly read: (text: string) => unknown
}

const searchBy =
  (wanted: { readonly content?: string; readonly key?: string }) =>
  (text: string): unknown => [...hitsIn(Buffer.from(text), { content: '', key: '', ...wanted })]

/** By their names. */
export const READERS: Readonly<Record<string, Reader>> = {
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
  // Its values are counted where it has more than 10,000 characters.
  beat: { largest: MIB, short: 16 * KIB, read: (text) => parseBeat(beat(text), { maxMetadataBytes: 8_192 }) },
  instances: { largest: 2 * MIB, read: (text) => parseInstanceLocators(instances(text)) },
  clone: { largest: 2 * MIB, read: parseSelection },
  'message of gRPC': { largest: 4 * MIB, read: (text) => parseBody(Buffer.from(text)) },
  'content that is searched': { largest: 3 * MIB, short: 16 * KIB, read: searchBy({ content: 'none such' }) },
  'content that is searched by a key': { largest: 3 * MIB, short: 16 * KIB, read: searchBy({ key: 'k.a' }) },
  '.meta.yml': { largest: 4 * MIB, read: (text) => parseMetaLines(text, new Set(['a.b.app'])) },
  '.metadata.yml': {
    largest: 4 * MIB,
    // Its items have at most 256 KiB.
    short: 64 * KIB,
    read: (text) => parseArchiveMetadata(`metadata:\n- dataId: a\n  group: G\n${text}`),
  },
}

/** The shapes of values, forms and lines, and some of other readers. */
export const ALL_SHAPES: Readonly<Record<string, Shape>> = {
  ...FORM_SHAPES,
  ...SHAPES,
  ...LINE_SHAPES,
  letters: LETTERS,
  'listened items': joined((at) => `d${at}\u0002g\u0002\u0001`),
  'ends of items': repeated('\u0001'),
  braces: repeated('{"a":'),
  backslashes: repeated('\\'),
  numbers: repeated('0,'),
  'quotes in lists': (bytes) => `["${repeated('\\"')(bytes)}"]`,
}

/** JSON begins with a bracket. */
export const STARTS = ['', '[', '{']

/** Reads a text. That it is refused is a result, too. */
export async function readOrRefuse(read: Reader['read'], text: string): Promise<void> {
  try {
    await read(text)
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof MetadataError)) throw error
  }
}
