import { isUtf8 } from 'node:buffer'
import { GRAY_TEXT } from '../../../core/config/state/gray-version.ts'
import type { Change, HistoryImported } from '../../../core/decisions/changes.ts'
import { CHUNK_BYTES, MOST_INLINE_BYTES, type SharedText, type TextsElsewhere } from './large-contents.ts'

/**
 * The texts that the history records of a unit share with gray versions. A large text of a gray version is in etcd
 * already, in pieces, or is written with the same unit. Its records name those pieces (docs/decisions/0060). When the
 * version gets another text or ends, the record of that change takes the pieces over.
 */
export class SharedTexts implements TextsElsewhere {
  readonly #shareable: ReadonlySet<Change>
  /** The last record that shows each text. */
  readonly #last = new Map<string, HistoryImported>()
  readonly #gone: ReadonlySet<string>

  /** Most units have no texts to share. */
  static readonly #none = new SharedTexts([])

  /** The texts of a unit with these changes. */
  static of(changes: readonly Change[]): SharedTexts {
    const mayShare = changes.some(({ kind }) => kind === 'history-imported' || kind === 'record-removed')
    return mayShare ? new SharedTexts(changes) : SharedTexts.#none
  }

  private constructor(changes: readonly Change[]) {
    this.#gone = new Set(changes.flatMap(goneText))
    const shareable = changes.filter(isShareable)
    this.#shareable = new Set(shareable)
    for (const change of shareable) this.#last.set(change.textId, change)
  }

  has(change: Change): boolean {
    return this.#shareable.has(change)
  }

  of(change: Change): SharedText | undefined {
    if (!this.#shareable.has(change)) return undefined
    const { textId, record } = change as Shareable
    // The JSON has some more bytes: to find out how many would take longer than all the rest.
    const count = Math.ceil(record.content.length / CHUNK_BYTES)
    const isOwner = this.#gone.has(textId) && this.#last.get(textId) === change
    return { parts: { stamp: Number(textId), count, of: 'gray-text' }, isOwner }
  }

  /** Whether a record keeps the pieces of this text, because the version now has another text or has ended. */
  keeps(textId: string): boolean {
    return this.#last.has(textId)
  }
}

/** The pieces of a text, as they are, as the text of a history record. */
export function textOfPieces(pieces: Uint8Array): Buffer {
  const json: unknown = JSON.parse(
    Buffer.from(pieces.buffer, pieces.byteOffset, pieces.byteLength).toString(),
  )
  return GRAY_TEXT.decode(json, '').content
}

type Shareable = HistoryImported & { readonly textId: string }

/** A text of this size is certainly in pieces, and reading it gives the same bytes. */
function isShareable(change: Change): change is Shareable {
  if (change.kind !== 'history-imported' || change.textId === undefined) return false
  const { content } = change.record
  return content.length > MOST_INLINE_BYTES && isUtf8(content)
}

function goneText(change: Change): string[] {
  return change.kind === 'record-removed' && change.recordKind === GRAY_TEXT.name ? [change.id] : []
}
