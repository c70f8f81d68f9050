import {
  FIRST_RELEASED,
  includes,
  rangeText,
  type VersionRange,
} from '../../../core/cluster/members/versions.ts'
import type { Revision } from '../../../core/engine/ports.ts'
import { fieldsOf, numberIn, textIn } from '../../../core/records/shape.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import { NotExaminable } from '../../local-file.ts'
import type { KeyValue } from '../client/messages.ts'
import type { KeyChange } from '../client/whole-revisions.ts'
import { createOnce } from './create-once.ts'
import { refuseMissingFormat } from './missing-format.ts'
import { refuseNested } from './nested-prefixes.ts'
import type { Keys } from '../keys/keys.ts'
import { readingOf } from '../failures/unreadable.ts'

/**
 * The layouts of keys and values that this version of Waypost reads and writes. A record that older servers cannot read,
 * or must not lose, needs a new layout: docs/recipes/add-a-layout.md.
 */
export const LAYOUTS: VersionRange = { from: FIRST_RELEASED, to: FIRST_RELEASED }

/** The data in etcd has a layout that this server cannot use. */
export class UnknownLayout extends NotExaminable {
  override readonly name = 'UnknownLayout'
}

/** The dependencies of `LayoutInUse`. */
export interface LayoutParts {
  readonly client: Pick<EtcdClient, 'range' | 'txn' | 'pages'>
  readonly keys: Keys
  /** The layouts that this server reads and writes; by default {@link LAYOUTS}. */
  readonly understood?: VersionRange | undefined
}

/** The layout in which the data in etcd is written. It is a key that only rises (docs/decisions/0053). */
export class LayoutInUse {
  readonly #parts: LayoutParts
  readonly #key: string
  readonly #understood: VersionRange
  #current = 0

  constructor(parts: LayoutParts) {
    const { keys, understood = LAYOUTS } = parts
    this.#parts = parts
    this.#key = keys.of({ of: 'format' })
    this.#understood = understood
  }

  /** The layout in use, as this server has seen it last; 0: not yet. */
  get current(): number {
    return this.#current
  }

  /** Notes the layout in an empty store: the oldest that this server writes. Throws {@link UnknownLayout}, NestedPrefix and MissingFormat. */
  async begin(): Promise<void> {
    const { client, keys } = this.#parts
    const { kvs } = await client.range({ key: this.#key })
    if (kvs.length === 0) {
      await refuseNested(client, keys)
      await refuseMissingFormat(client, keys)
    }
    this.#saw(await createOnce(client, this.#key, () => String(this.#understood.from)))
  }

  /** Reads the layout again, with the revision at which everything can be loaded. Throws {@link UnknownLayout}. */
  async look(): Promise<Revision> {
    const { revision, kvs } = await this.#parts.client.range({ key: this.#key })
    this.saw(kvs[0])
    return revision
  }

  /** The key of the layout, at any time. Throws {@link UnknownLayout} if this server cannot use it. */
  saw(format: KeyValue | undefined): void {
    if (format !== undefined) this.#saw(Buffer.from(format.value).toString())
  }

  /** The next revision. Throws {@link UnknownLayout}: then it must not be applied. */
  readonly follow = (events: readonly KeyChange[]): void => {
    for (const event of events) if (event.kind === 'put' && event.kv.key === this.#key) this.saw(event.kv)
  }

  #saw(text: string): void {
    this.#current = readLayout(this.#key, text, this.#understood)
  }
}

/** The key of the layout while a copy fills the store: no server can use the store then, also no older one. */
export interface UnderCopy {
  /** The place that is copied, and its revision. */
  readonly source: string
  readonly revision: Revision
}

/** The copy that the text of the layout's key names; undefined without a copy. Throws `UnreadableValue`. */
export function copyIn(key: string, text: string): UnderCopy | undefined {
  return readingOf(key, () => readCopy(text))
}

function readCopy(text: string): UnderCopy | undefined {
  if (!text.startsWith('{')) return undefined
  const { copy } = JSON.parse(text) as { copy?: UnderCopy }
  if (copy === undefined) return undefined
  const fields = fieldsOf(copy)
  textIn(fields, 'source')
  numberIn(fields, 'revision')
  fieldsOf(fields['sums'])
  return copy
}

/** The number in the text of a layout. Throws {@link UnknownLayout} if it is not understood. */
export function readLayout(key: string, text: string, understood: VersionRange): number {
  const copy = copyIn(key, text)
  if (copy !== undefined)
    throw new UnknownLayout(
      `The keys of etcd under this prefix are half filled by a copy of ${copy.source} (key ${key}). Continue the copy with ` +
        '`waypost copy-store`, or remove the keys.',
    )
  if (!/^[1-9]\d*$/.test(text))
    throw new UnknownLayout(
      `The key ${key} of etcd has the layout ${JSON.stringify(text.slice(0, 40))}, which is no number: the keys under ` +
        'this prefix are not those of a Waypost. Choose another prefix.',
    )
  const layout = Number(text)
  if (includes(understood, layout)) return layout
  throw new UnknownLayout(
    `The data in etcd has the layout ${text} (key ${key}); this version of Waypost knows layout ` +
      `${rangeText(understood)}. ${remedyFor(layout, understood)}`,
  )
}

function remedyFor(layout: number, understood: VersionRange): string {
  if (layout > understood.to) return 'Use the version that wrote it, or a later one.'
  if (layout >= FIRST_RELEASED)
    return 'Start a version between the two first, which reads the old layout and writes a later one.'
  return (
    'A development build from before Waypost 0.1.0 wrote it. Either choose another prefix, or keep the configurations: start that ' +
    'build, run `waypost export` there, and `waypost import` against a server of this version with another prefix.'
  )
}
