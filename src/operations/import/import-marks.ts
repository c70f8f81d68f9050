import { hash } from 'node:crypto'
import { instanceText, settingsText } from '../../core/naming/commands/import-naming.ts'
import { serviceKeyText } from '../../core/naming/state/service.ts'
import { addressText } from '../../core/naming/state/instance.ts'
import { NAMESPACE } from '../../core/namespaces/namespace.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import { SWITCH } from '../../core/switches/switch-records.ts'
import type { ImportedThing, ImportLine } from './imported-things.ts'

/** What marks are kept in, and read from. */
export interface MarkParts {
  readonly state: Pick<State, 'record' | 'service' | 'instance'>
  readonly store: Pick<KeptRecords, 'remember' | 'recall'>
}

/** The marks are spread over this many values: a call writes those that it changes. */
const VALUES = 16

/**
 * Remembers how an import has left namespaces, switches, services and instances: as digests, because their records have no room for
 * it. A mark is written after its thing. Where a crash loses marks, a later import keeps what is here.
 */
export class ImportMarks {
  readonly #parts: MarkParts
  readonly #values = new Map<number, Record<string, string>>()
  readonly #changed = new Set<number>()

  /** For one call: another server may import as well. */
  constructor(parts: MarkParts) {
    this.#parts = parts
  }

  /** Reads the marks of these lines. */
  async prepare(lines: readonly ImportLine[]): Promise<void> {
    const needed = new Set(lines.flatMap(({ thing }) => (isMarked(thing) ? [placeOf(thing).value] : [])))
    for (const value of needed) {
      if (this.#values.has(value)) continue
      const text = await this.#parts.store.recall(`imported-${value}`)
      this.#values.set(value, text === undefined ? {} : (JSON.parse(text) as Record<string, string>))
    }
  }

  /** Whether the thing is here as an import has left it. */
  isAsImported(thing: ImportLine['thing']): boolean {
    if (!isMarked(thing)) return false
    const place = placeOf(thing)
    const mark = this.#values.get(place.value)?.[place.digest]
    return mark !== undefined && mark === this.#present(thing)
  }

  /** An import has written the thing just now. */
  note(thing: ImportLine['thing']): void {
    if (!isMarked(thing)) return
    const place = placeOf(thing)
    const present = this.#present(thing)
    const marks = this.#values.get(place.value)
    if (marks === undefined || present === undefined) return
    marks[place.digest] = present
    this.#changed.add(place.value)
  }

  /** Writes what was noted. */
  async save(): Promise<void> {
    for (const value of this.#changed)
      await this.#parts.store.remember(`imported-${value}`, JSON.stringify(this.#values.get(value)))
    this.#changed.clear()
  }

  #present(thing: Marked): string | undefined {
    const text = this.#textOf(thing)
    return text === undefined ? undefined : digestOf(text)
  }

  /** The thing as it is here now. */
  #textOf(thing: Marked): string | undefined {
    const { state } = this.#parts
    switch (thing.kind) {
      case 'namespace':
        return JSON.stringify(state.record(NAMESPACE, thing.namespace.id))
      case 'switch':
        return JSON.stringify(state.record(SWITCH, thing.entry))
      case 'service': {
        const service = state.service(thing.service.key)
        return service && settingsText(service)
      }
      case 'instance': {
        const known = state.instance(thing.instance.serviceKey, thing.instance.address)
        return known && instanceText(known.record)
      }
    }
  }
}

/** The things that have their marks here. Those of other kinds have them in their records. */
type Marked = Extract<ImportedThing, { readonly kind: 'namespace' | 'switch' | 'service' | 'instance' }>

function isMarked(thing: ImportLine['thing']): thing is Marked {
  return ['namespace', 'switch', 'service', 'instance'].includes(thing.kind)
}

function nameOf(thing: Marked): string {
  switch (thing.kind) {
    case 'namespace':
      return `namespace ${thing.namespace.id}`
    case 'switch':
      return `switch ${thing.entry}`
    case 'service':
      return `service ${serviceKeyText(thing.service.key)}`
    case 'instance':
      return `instance ${serviceKeyText(thing.instance.serviceKey)} ${addressText(thing.instance.address)}`
  }
}

interface MarkPlace {
  readonly value: number
  readonly digest: string
}

function placeOf(thing: Marked): MarkPlace {
  const digest = digestOf(nameOf(thing))
  return { value: Buffer.from(digest, 'base64url')[0]! % VALUES, digest }
}

/** Ninety bits: of some ten thousand things no two have the same. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 15)
}
