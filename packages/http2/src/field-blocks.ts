import { type Frame, dependsOnItself, withoutPadding } from './frame-reader.ts'
import { CompressionError, HeaderDecoder, type HeaderList } from './header-decoder.ts'
import {
  type LimitReason,
  MAX_CONTINUATIONS,
  MAX_HEADER_BLOCK_BYTES,
  MAX_HEADER_LIST_BYTES,
} from './limits.ts'
import { ERROR, FLAG, FRAME } from './protocol.ts'
import { type RequestHead, requestHeadOf } from './request-head.ts'

/** The fields of a whole header block. */
export interface ReceivedFields {
  readonly streamId: number
  readonly endStream: boolean
  readonly list: HeaderList
  /** HEADERS had a priority that names the stream itself. */
  readonly dependsOnItself: boolean
}

/** The error of a header block: the code of a connection error, and the limit of ours that caused it. */
export interface FieldsError {
  readonly errorCode: number
  readonly reason: LimitReason | undefined
}

/** A header block with missing fragments. */
interface OpenBlock {
  readonly streamId: number
  readonly endStream: boolean
  readonly dependsOnItself: boolean
  readonly beganMs: number
  readonly fragments: readonly Buffer[]
}

/** A list and the head that it means. */
interface KnownHead {
  readonly list: HeaderList
  readonly head: RequestHead | undefined
}

/** The bytes of a priority in HEADERS (RFC 9113, section 6.2). */
const PRIORITY_BYTES = 5

/** Puts header blocks together that come in HEADERS and CONTINUATION, and decodes them (section 4.3). */
export class FieldBlocks {
  readonly #decoder = new HeaderDecoder(MAX_HEADER_LIST_BYTES)
  #open: OpenBlock | undefined
  /** Clients repeat their requests, and the decoder gives the same list then. */
  #known: KnownHead | undefined

  /** Since when a block is not complete. */
  get openSinceMs(): number | undefined {
    return this.#open?.beganMs
  }

  /** Whether a frame may come now: only the next fragment, while a block is not complete (section 6.10). */
  allows({ type, streamId }: Frame): boolean {
    return (type === FRAME.continuation ? streamId : undefined) === this.#open?.streamId
  }

  /** A HEADERS frame begins a block. Undefined: fragments are missing. */
  begin(frame: Frame, nowMs: number): ReceivedFields | FieldsError | undefined {
    const { streamId, flags } = frame
    const payload = withoutPadding(frame)
    const hasPriority = (flags & FLAG.priority) !== 0
    if (payload === undefined || (hasPriority && payload.length < PRIORITY_BYTES))
      return { errorCode: ERROR.protocolError, reason: undefined }
    const block = {
      streamId,
      endStream: (flags & FLAG.endStream) !== 0,
      dependsOnItself: hasPriority && dependsOnItself(payload, streamId),
      beganMs: nowMs,
      fragments: [payload.subarray(hasPriority ? PRIORITY_BYTES : 0)],
    }
    return this.#take(block, flags)
  }

  /** A CONTINUATION frame adds to the block. Undefined: fragments are missing. */
  continue({ flags, payload }: Frame): ReceivedFields | FieldsError | undefined {
    const block = this.#open!
    return this.#take({ ...block, fragments: [...block.fragments, payload] }, flags)
  }

  /** The head of a request with these fields. Undefined: it is malformed. */
  headOf(list: HeaderList): RequestHead | undefined {
    if (this.#known?.list !== list) this.#known = knownHead(list)
    return this.#known.head
  }

  #take(block: OpenBlock, flags: number): ReceivedFields | FieldsError | undefined {
    const { fragments, streamId, endStream, dependsOnItself: isWrong } = block
    const reason = exceededBy(fragments)
    if (reason !== undefined) return { errorCode: ERROR.enhanceYourCalm, reason }
    if ((flags & FLAG.endHeaders) === 0) {
      // The last fragment is a view of received bytes: copy it.
      this.#open = { ...block, fragments: [...fragments.slice(0, -1), Buffer.from(fragments.at(-1)!)] }
      return undefined
    }
    this.#open = undefined
    const decoded = this.#decode(fragments.length === 1 ? fragments[0]! : Buffer.concat(fragments))
    if ('errorCode' in decoded) return decoded
    return { streamId, endStream, list: decoded, dependsOnItself: isWrong }
  }

  #decode(block: Buffer): HeaderList | FieldsError {
    try {
      return this.#decoder.decode(block)
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error
      return { errorCode: ERROR.compressionError, reason: error.isLimit ? 'table-sizes' : undefined }
    }
  }
}

/** Connections share lists, so they share heads too. */
const heads = new WeakMap<HeaderList, KnownHead>()

function knownHead(list: HeaderList): KnownHead {
  const known = heads.get(list)
  if (known !== undefined) return known
  const made = { list, head: requestHeadOf(list.fields) }
  heads.set(list, made)
  return made
}

function exceededBy(fragments: readonly Buffer[]): LimitReason | undefined {
  if (fragments.length > 1 + MAX_CONTINUATIONS) return 'continuations'
  const bytes = fragments.reduce((sum, { length }) => sum + length, 0)
  return bytes > MAX_HEADER_BLOCK_BYTES ? 'header-bytes' : undefined
}
