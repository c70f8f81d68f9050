import { hash } from 'node:crypto'
import { permissionId } from '../../core/access/access-commands.ts'
import { idOf, ROLE_PERMISSION, USER, USER_ROLE } from '../../core/access/access-records.ts'
import { GRAY, grayNamed } from '../../core/config/state/gray-version.ts'
import { instanceText, settingsText } from '../../core/naming/commands/import-naming.ts'
import { SERVICE_DEFAULTS, serviceKeyText } from '../../core/naming/state/service.ts'
import { addressText } from '../../core/naming/state/instance.ts'
import { NAMESPACE } from '../../core/namespaces/namespace.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import { Refusal } from '../../core/refusal.ts'
import { importMarks, readOrNone, type RememberedKind } from '../../core/engine/remembered-values.ts'
import { SWITCH } from '../../core/switches/switch-records.ts'
import type { ImportedThing, ImportLine } from './imported-things.ts'

/** Dependencies of {@link ImportMarks}. */
export interface MarkParts {
  readonly state: Pick<State, 'record' | 'service' | 'instance'>
  readonly store: Pick<KeptRecords, 'remember' | 'recall'>
}

/** The marks are spread over this many values: a call writes only the changed values. */
const VALUES = 16

/**
 * Remembers, as digests, the namespaces, switches, services and instances that an import has written: so a later import
 * knows which were deleted here. (Records of items and history say it themselves.) A mark is written after its thing.
 * If a crash loses marks, a later import keeps what is here, and imports again what was deleted.
 */
export class ImportMarks {
  readonly #parts: MarkParts
  readonly #values = new Map<number, Record<string, string>>()
  /** The marks of this call that are not written yet, by value. */
  readonly #noted = new Map<number, Record<string, string>>()

  /** For one call: another server may import as well. */
  constructor(parts: MarkParts) {
    this.#parts = parts
  }

  /** Reads the marks of these lines. */
  async prepare(lines: readonly ImportLine[]): Promise<void> {
    const needed = new Set(lines.flatMap(({ thing }) => (isMarked(thing) ? [placeOf(thing).value] : [])))
    for (const value of needed) {
      if (!this.#values.has(value)) this.#values.set(value, await this.#stored(value))
    }
  }

  /** Whether the thing is here as an import has left it. The records of users, gray versions and rights say it. */
  isAsImported(thing: ImportLine['thing']): boolean {
    if (!isMarked(thing) || isOnlyThere(thing)) return false
    const mark = this.#markOf(thing)
    return mark !== undefined && mark === this.#present(thing)
  }

  /** Whether the thing was imported, and then deleted here. A thing that leaves by itself is not deleted. */
  isDeletedHere(thing: ImportLine['thing']): boolean {
    if (!isMarked(thing) || leavesByItself(thing)) return false
    const mark = this.#markOf(thing)
    if (mark === undefined || this.#present(thing) !== undefined) return false
    return thing.kind !== 'service' || mark !== PLAIN_SERVICE
  }

  /** An import has written the thing just now. */
  note(thing: ImportLine['thing']): void {
    if (!isMarked(thing)) return
    const place = placeOf(thing)
    const present = this.#present(thing)
    const marks = this.#values.get(place.value)
    if (marks === undefined || present === undefined) return
    marks[place.digest] = present
    const noted = this.#noted.get(place.value) ?? {}
    noted[place.digest] = present
    this.#noted.set(place.value, noted)
  }

  /** Writes the noted marks, beside those marks that another server has written meanwhile. */
  async save(): Promise<void> {
    for (const [value, noted] of this.#noted) {
      const marks = { ...(await this.#stored(value)), ...noted }
      await this.#parts.store.remember(importMarks(value).name, JSON.stringify(marks))
    }
    this.#noted.clear()
  }

  async #stored(value: number): Promise<Record<string, string>> {
    const marks = importMarks(value)
    const text = await this.#parts.store.recall(marks.name)
    return text === undefined ? {} : marksIn(marks, text)
  }

  #markOf(thing: Marked): string | undefined {
    const place = placeOf(thing)
    return this.#values.get(place.value)?.[place.digest]
  }

  #present(thing: Marked): string | undefined {
    const text = this.#textOf(thing)
    return text === undefined ? undefined : digestOf(text)
  }

  #isThere(thing: OnlyThere): boolean {
    const { state } = this.#parts
    switch (thing.kind) {
      case 'user':
        return state.record(USER, thing.username) !== undefined
      case 'role':
        return state.record(USER_ROLE, idOf(thing.role.username, thing.role.role)) !== undefined
      case 'permission':
        return state.record(ROLE_PERMISSION, permissionId(thing.permission)) !== undefined
      case 'gray':
        return grayNamed(state.record(GRAY, thing.gray.key.text), thing.gray.name) !== undefined
    }
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
      case 'user':
      case 'role':
      case 'permission':
      case 'gray':
        return this.#isThere(thing) ? THERE : undefined
    }
  }
}

/** The things that have marks here. Items and records of history have them in their records. */
type Marked = Exclude<ImportedThing, { readonly kind: 'config' | 'history' }>

/** The things of which only is remembered that they came. */
type OnlyThere = Extract<Marked, { readonly kind: 'user' | 'role' | 'permission' | 'gray' }>

/** Without its marks an import would bring back what was deleted here. */
function marksIn(kind: RememberedKind<Record<string, string>>, text: string): Record<string, string> {
  const marks = readOrNone(kind, text)
  if (marks !== undefined) return marks
  throw new Refusal(
    'damaged',
    `The remembered value ${kind.name} is damaged, and this import depends on it. Restore a backup, or remove the value: ` +
      'then the import also brings back what was deleted here.',
  )
}

function isMarked(thing: ImportLine['thing']): thing is Marked {
  return thing.kind !== 'refused' && thing.kind !== 'config' && thing.kind !== 'history'
}

function isOnlyThere(thing: Marked): thing is OnlyThere {
  return ['user', 'role', 'permission', 'gray'].includes(thing.kind)
}

/** An ephemeral instance goes with its client. */
function leavesByItself(thing: Marked): boolean {
  return thing.kind === 'instance' && thing.instance.ephemeral
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
    case 'user':
      return `user ${thing.username}`
    case 'role':
      return `role ${idOf(thing.role.username, thing.role.role)}`
    case 'permission':
      return `permission ${permissionId(thing.permission)}`
    case 'gray':
      return `gray ${idOf(thing.gray.key.text, thing.gray.name)}`
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

/** The mark of a thing of which only the presence is compared. */
const THERE = 'there'

/** Ninety bits: of some ten thousand things no two have the same. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 15)
}

/** The mark of a service without any setting: it leaves when it is empty. */
const PLAIN_SERVICE = digestOf(settingsText(SERVICE_DEFAULTS))
