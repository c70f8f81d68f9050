/** HPACK against the library of PyPI: what one encodes the other decodes, and both judge broken blocks alike. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { CompressionError, HeaderDecoder } from '@waypost/http2/header-decoder'
import { headerBlockOf } from '@waypost/http2/header-encoder'
import { STATIC_TABLE } from '@waypost/http2/header-table'
import { Random } from '../fuzz/random.ts'
import { mutated } from '../fuzz/mutate.ts'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { execute, IN_PYTHON, prepare, PREPARE_LIMIT_MS, preparedFolder } from './prepared-program.ts'

const python = needTool('python3')
const PROGRAM = { ...IN_PYTHON, folder: 'hpack' }
const SEED = Number(process.env['FUZZ_SEED'] ?? 4)
const CONNECTIONS = 300
const LIST_BYTES = 1_000_000

type Field = [name: string, value: string, isSensitive: boolean]
type Fields = [name: string, value: string][]
interface Block {
  readonly tableSize: number | null
  readonly huffman: boolean
  readonly fields: Field[]
}

const text = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
  maxLength: 30,
})
// Few names and values, so that the tables are used.
const field: fc.Arbitrary<Field> = fc.tuple(
  fc.oneof(text, fc.constantFrom('x-one', 'x-two', ...STATIC_TABLE.map(({ name }) => name))),
  fc.oneof(text, fc.constantFrom('a', 'b', 'c'.repeat(1_500), '200', 'POST', '/')),
  fc.boolean(),
)
const block: fc.Arbitrary<Block> = fc.record({
  tableSize: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, fc.constantFrom(0, 100, 2_000, 4_096)),
  huffman: fc.boolean(),
  fields: fc.array(field, { maxLength: 8 }),
})
const connections = fc.sample(fc.array(block, { minLength: 1, maxLength: 6 }), {
  numRuns: CONNECTIONS,
  seed: SEED,
})

/** The lists of the blocks that one decoder sees, up to the first that is wrong, which is null. */
function decodedHere(blocks: readonly Buffer[]): { lists: (Fields | null)[]; isLimit: boolean } {
  const decoder = new HeaderDecoder(LIST_BYTES)
  const lists: (Fields | null)[] = []
  try {
    for (const each of blocks) lists.push(decoder.decode(each).fields.map(({ name, value }) => [name, value]))
  } catch (error) {
    if (!(error instanceof CompressionError)) throw error
    return { lists: [...lists, null], isLimit: error.isLimit }
  }
  return { lists, isLimit: false }
}

describe.skipIf(python.skip)('HPACK and that of PyPI', () => {
  beforeAll(() => prepare(PROGRAM), PREPARE_LIMIT_MS)

  /** The headers that the library reads from blocks. */
  async function there(encode: readonly Block[][], decode: readonly Buffer[][]) {
    const file = join(temporaryDirectory('hpack-'), 'wanted.json')
    writeFileSync(
      file,
      JSON.stringify({ encode, decode: decode.map((blocks) => blocks.map((each) => each.toString('hex'))) }),
    )
    const limits = { cwd: preparedFolder(PROGRAM), env: process.env, limitMs: 60_000 }
    const done = JSON.parse(await execute(['venv/bin/python', 'program.py', file], limits)) as {
      encode: string[][]
      decode: (Fields | null)[][]
    }
    const encoded = done.encode.map((blocks) => blocks.map((each) => Buffer.from(each, 'hex')))
    return { encoded, decoded: done.decode }
  }

  const fieldsOf = (blocks: readonly Block[]): Fields[] =>
    blocks.map(({ fields }) => fields.map(([name, value]) => [name, value]))

  test('decode what the other encodes', async () => {
    const ours = connections.map((blocks) =>
      blocks.map(({ fields }) => headerBlockOf(fields.map(([name, value]) => ({ name, value })))),
    )
    const { encoded, decoded } = await there(connections, ours)
    expect(decoded).toEqual(connections.map(fieldsOf))
    expect(encoded.map((blocks) => decodedHere(blocks).lists)).toEqual(connections.map(fieldsOf))
  }, 90_000)

  test('judge blocks alike that are cut and changed', async () => {
    const { encoded } = await there(connections, [])
    const random = new Random(SEED)
    const broken = encoded.flatMap((blocks) =>
      Array.from({ length: 10 }, () =>
        blocks.map((each) => {
          if (each.length === 0 || random.chance(0.4)) return each
          return random.chance(0.3) ? each.subarray(0, random.below(each.length)) : mutated([each], random)
        }),
      ),
    )
    const { decoded } = await there([], broken)
    let [well, wrong] = [0, 0]
    for (const [index, blocks] of broken.entries()) {
      const here = decodedHere(blocks)
      // A limit of ours ends what the library still decodes.
      const known = here.isLimit ? here.lists.length - 1 : Infinity
      expect(here.lists.slice(0, known), `${index}`).toEqual(decoded[index]!.slice(0, known))
      if (here.lists.includes(null)) wrong++
      else well++
    }
    expect(Math.min(well, wrong)).toBeGreaterThan(100)
  }, 90_000)
})
