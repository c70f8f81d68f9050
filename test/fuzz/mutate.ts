import { PIECES } from './corpus.ts'
import type { Random } from './random.ts'

type Mutation = (bytes: Buffer, random: Random, corpus: readonly Buffer[]) => Buffer

const spliced = (bytes: Buffer, { from, to }: { from: number; to: number }, piece: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(to)])

const NOTHING = Buffer.alloc(0)

const MUTATIONS: readonly Mutation[] = [
  // One bit.
  (bytes, random) => {
    const copy = Buffer.from(bytes)
    const at = random.below(copy.length)
    copy[at] = copy[at]! ^ (1 << random.below(8))
    return copy
  },
  // One byte.
  (bytes, random) => {
    const copy = Buffer.from(bytes)
    copy[random.below(copy.length)] = random.below(256)
    return copy
  },
  // A piece in between, or in the place of something.
  (bytes, random) => {
    const at = random.below(bytes.length)
    return spliced(
      bytes,
      { from: at, to: at + (random.chance(0.5) ? random.below(8) : 0) },
      random.of(PIECES),
    )
  },
  // A piece in the place of a value.
  (bytes, random) => {
    const equals = [...indexesOf(bytes, '=')]
    if (equals.length === 0) return bytes
    const from = random.of(equals) + 1
    const ends = ['&', ' ', '\r'].map((end) => bytes.indexOf(end, from)).filter((end) => end >= 0)
    return spliced(bytes, { from, to: Math.min(bytes.length, ...ends) }, random.of(PIECES))
  },
  // Something left out.
  (bytes, random) => {
    const from = random.below(bytes.length)
    return spliced(bytes, { from, to: Math.min(bytes.length, from + 1 + random.below(20)) }, NOTHING)
  },
  // Something twice, or many times.
  (bytes, random) => {
    const from = random.below(bytes.length)
    const piece = bytes.subarray(from, from + 1 + random.below(40))
    const times = random.chance(0.1) ? 200 : 1 + random.below(3)
    return spliced(bytes, { from, to: from }, Buffer.concat(Array<Buffer>(times).fill(piece)))
  },
  // The length of the body, wrong.
  (bytes, random) => {
    const text = bytes.toString('latin1')
    const lengths = [
      '0',
      '1',
      '00007',
      '-5',
      '5, 5',
      '0x10',
      '1e3',
      String(random.below(500)),
      '18446744073709551616',
    ]
    return Buffer.from(text.replace(/(Content-Length: )\d+/, `$1${random.of(lengths)}`), 'latin1')
  },
  // The end of another request.
  (bytes, random, corpus) => {
    const other = random.of(corpus)
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length)),
      other.subarray(random.below(other.length)),
    ])
  },
  // The query of one request on the path of another.
  (bytes, random, corpus) => {
    const [mine, other] = [bytes.indexOf('?'), random.of(corpus)]
    const theirs = other.indexOf('?')
    if (mine < 0 || theirs < 0) return bytes
    return Buffer.concat([bytes.subarray(0, mine), other.subarray(theirs)])
  },
]

/**
 * A request with one to four mutations: anywhere, or in its parameters alone, so that it gets past the parser of HTTP.
 * One in ten stays as it is, so that the state has something in it.
 */
export function mutated(corpus: readonly Buffer[], random: Random): Buffer {
  const bytes = random.of(corpus)
  if (random.chance(0.1)) return bytes
  const changed = random.chance(0.7)
    ? withOtherParameters(bytes, corpus, random)
    : changedOften(bytes, corpus, random)
  return changed.length > 60_000 ? changed.subarray(0, 60_000) : changed
}

function changedOften(start: Buffer, corpus: readonly Buffer[], random: Random): Buffer {
  let bytes = start
  for (let count = 1 + random.below(4); count > 0 && bytes.length > 0; count--) {
    bytes = random.of(MUTATIONS)(bytes, random, corpus)
  }
  return bytes
}

/** Changes query and body, escapes the query, and sets the length of the body. */
function withOtherParameters(bytes: Buffer, corpus: readonly Buffer[], random: Random): Buffer {
  const text = bytes.toString('latin1')
  const [, method, path, query, headers, body] =
    /^(\S+) ([^ ?]+)(\?\S*)? (HTTP[^]*?)\r\n\r\n([^]*)$/.exec(text) ?? []
  if (method === undefined) return bytes
  const change = (part: string) =>
    part === '' ? part : changedOften(Buffer.from(part, 'latin1'), corpus, random).toString('latin1')
  // oxlint-disable-next-line no-control-regex
  const newQuery = change(query ?? '').replace(
    /[^\x21-\x7e]/g,
    (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  const newBody = change(body ?? '')
  const newHeaders = headers!.replace(/(Content-Length: )\d+/, `$1${newBody.length}`)
  return Buffer.from(`${method} ${path}${newQuery} ${newHeaders}\r\n\r\n${newBody}`, 'latin1')
}

function* indexesOf(bytes: Buffer, text: string): Generator<number> {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) yield at
}
