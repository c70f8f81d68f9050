import { createReadStream, rmSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  isThing,
  nameOf,
  PLAN_VERSION,
  type PlanHead,
  type PlanLine,
  type PlanNote,
  type PlanThing,
} from '../plan/plan.ts'
import { ShapeError } from '../core/records/shape.ts'
import { checkedLine, readPlanLine } from '../plan/read-plan.ts'
import { EXIT, UsageError } from '../command/command-line.ts'
import { readingError } from '../command/system-errors.ts'
import { missedNote } from './reading.ts'

/** Lines are collected up to this size before they are written. */
const PIECE_BYTES = 262_144
/** Room for the head, which is written last: it has the counts. Spaces fill it up. */
const HEAD_BYTES = 8_192

/** Only the owner may read a plan: it has configurations and hashes of passwords. */
const OWNER_ONLY = 0o600

/** The facts of a plan that are known before its lines. */
export type PlanBegin = Omit<PlanHead, 'kind' | 'format' | 'counts' | 'lastRefMs' | 'endedMs'>

/** Writes a plan. The file gets its name when it is whole. */
export class PlanWriter {
  readonly #name: string
  readonly #file: FileHandle
  readonly #counts: Record<string, number> = {}
  #at = HEAD_BYTES
  #piece: string[] = []
  #pieceBytes = 0

  private constructor(name: string, file: FileHandle) {
    this.#name = name
    this.#file = file
  }

  /** Begins a file beside the file with this name. */
  static async begin(name: string): Promise<PlanWriter> {
    const there = statSync(name, { throwIfNoEntry: false })
    if (there?.isDirectory() === true) throw new UsageError(`${name} is a directory: name a file in it`)
    if (there !== undefined) throw new UsageError(`${name} exists already: remove it, or choose another name`)
    const part = partOf(name)
    const file = await open(part, 'wx', OWNER_ONLY).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT')
        throw new UsageError(`${dirname(name)} does not exist: make the directory, or choose another place`)
      if (error.code !== 'EEXIST') throw error
      throw new UsageError(
        `${part} exists: another run writes this plan, or one was killed. Then remove the file`,
      )
    })
    removeAtSignal(part)
    const writer = new PlanWriter(name, file)
    try {
      await writer.#writeBytes(Buffer.alloc(HEAD_BYTES, ' '), 0)
    } catch (error) {
      await writer.abandon()
      throw error
    }
    return writer
  }

  /** The lines of each kind so far. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }

  /** Adds a line. If the format does not allow it, writes a note instead and resolves with that. */
  async add(line: PlanThing | PlanNote): Promise<PlanThing | PlanNote> {
    const written = isThing(line) ? writable(line) : line
    await this.#write(written)
    return written
  }

  async #write(line: PlanThing | PlanNote): Promise<void> {
    this.#counts[line.kind] = (this.#counts[line.kind] ?? 0) + 1
    const text = `${JSON.stringify(line)}\n`
    if (text.length >= PIECE_BYTES) await this.#flush()
    this.#piece.push(text)
    this.#pieceBytes += text.length
    if (this.#pieceBytes >= PIECE_BYTES) await this.#flush()
  }

  /** Writes the head, and gives the file its name. `aheadMs`: how far the clocks of the sources are ahead; undefined: not known. */
  async end(begin: PlanBegin, aheadMs: number | undefined): Promise<void> {
    this.#piece.push(`${JSON.stringify({ kind: 'end' })}\n`)
    await this.#flush()
    const endedMs = Date.now()
    const lastRefMs = aheadMs === undefined ? 0 : endedMs + aheadMs
    const times = { lastRefMs, endedMs }
    const head: PlanHead = { kind: 'plan', format: PLAN_VERSION, ...begin, counts: this.#counts, ...times }
    const bytes = Buffer.alloc(HEAD_BYTES, ' ')
    const text = JSON.stringify(head)
    if (Buffer.byteLength(text) >= HEAD_BYTES) throw new ShapeError('the plan has too many sources')
    bytes.write(text)
    bytes.write('\n', HEAD_BYTES - 1)
    await this.#writeBytes(bytes, 0)
    await this.#naming(this.#file.sync())
    await this.#file.close()
    await rename(partOf(this.#name), this.#name)
  }

  /** Closes and removes the unfinished file. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => undefined)
    await rm(partOf(this.#name), { force: true })
  }

  async #flush(): Promise<void> {
    // A large line is a piece of its own: then nothing is copied.
    const text = this.#piece.length === 1 ? this.#piece[0]! : this.#piece.join('')
    const bytes = Buffer.from(text)
    this.#piece = []
    this.#pieceBytes = 0
    await this.#writeBytes(bytes, this.#at)
    this.#at += bytes.length
  }

  async #writeBytes(bytes: Buffer, at: number): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#naming(
        this.#file.write(bytes, done, bytes.length - done, at + done),
      )
      done += bytesWritten
    }
  }

  /** Adds the name of the file to errors of writing, such as a full disk. */
  async #naming<T>(written: Promise<T>): Promise<T> {
    return written.catch((error: Error) => {
      throw new Error(readingError(this.#name, error), { cause: error })
    })
  }
}

/** An interrupted run leaves nothing: the contents are secret, and the next run begins again. */
function removeAtSignal(part: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      rmSync(part, { force: true })
      process.exit(EXIT.notFoundOut)
    })
}

/** A source may have a user without a name, or half a letter. */
function writable(line: PlanThing): PlanThing | PlanNote {
  try {
    checkedLine(line)
    return line
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return missedNote(line.kind, nameOf(line).toWellFormed(), error.message)
  }
}

function partOf(name: string): string {
  return `${name}.part`
}

/** A line of a file, as bytes and as it was read; `number` begins at 1. */
export interface NumberedLine {
  readonly number: number
  /** Without the line feed. */
  readonly bytes: Buffer
  readonly line: PlanLine
}

/**
 * The lines of a plan, each checked, without the last. Somebody may have edited it: empty lines and a byte order mark are
 * ignored. Throws ShapeError for the first invalid line, and for a plan that is cut.
 */
export async function* readPlan(name: string): AsyncGenerator<NumberedLine> {
  let number = 0
  let isWhole = false
  for await (const read of linesOf(name)) {
    const bytes = ++number === 1 && read.indexOf(BYTE_ORDER_MARK) === 0 ? read.subarray(3) : read
    const text = textOf(bytes, number)
    if (number > 1 && text.trim() === '') continue
    if (isWhole) throw new ShapeError(`line ${number} of the plan: it comes after the line of kind end`)
    const line = readPlanLine(text, number)
    isWhole = line.kind === 'end'
    if (!isWhole) yield { number, bytes, line }
  }
  if (number === 0) throw new ShapeError(`${name} is empty: it is no plan`)
  if (!isWhole) throw new ShapeError(`${name} has no line of kind end as its last: it is cut`)
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const LINE_END = 10

/** Lines end with a line feed only, because texts may contain other line ends. They stay bytes: a line may have 10 MiB. */
async function* linesOf(name: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const chunk of chunksOf(name)) {
    let bytes = chunk
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END)) {
      const last = bytes.subarray(0, end)
      yield rest.length === 0 ? last : Buffer.concat([...rest, last])
      rest = []
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > 0) rest.push(bytes)
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

async function* chunksOf(name: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(name, { highWaterMark: PIECE_BYTES })
  } catch (error) {
    throw new Error(readingError(name, error as Error), { cause: error })
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Buffer, number: number): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new ShapeError(`line ${number} of the plan: it is not UTF-8`)
  }
}
