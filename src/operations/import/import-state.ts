import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { importPermission, importRole, importUser } from '../../core/access/import-access.ts'
import {
  importConfig,
  type ImportedConfig,
  type ImportedRecord,
} from '../../core/config/commands/import-config.ts'
import { importGray } from '../../core/config/commands/import-gray.ts'
import type { Command } from '../../core/decisions/decision.ts'
import type { ImportOutcome } from '../../core/decisions/import-outcome.ts'
import type { Engine } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import { importNamespace } from '../../core/namespaces/namespace-commands.ts'
import type { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import { importInstance, importService } from '../../core/naming/commands/import-naming.ts'
import { raiseLists } from '../../core/naming/commands/raise-lists.ts'
import { importSwitch } from '../../core/operator/set-switch.ts'
import { Refusal, type RefusalCode } from '../../core/refusal.ts'
import { inParts } from '../../core/work/in-parts.ts'
import { accessResource, WRITE_ACCESS } from '../access/users.ts'
import type { Guard } from '../guard.ts'
import type { AuditedOutcome } from '../operation-audit.ts'
import { requireServing } from '../server/serving.ts'
import { type PasswordImportParts, refusePassword } from './import-passwords.ts'
import { HistoryImport, type HistoryImportParts, type PendingChanges } from './import-history.ts'
import { ImportMarks, type MarkParts } from './import-marks.ts'
import type { ImportedState, ImportedThing, ImportLine, LeftLine } from './imported-things.ts'

interface ImportParts {
  readonly state: HistoryImportParts['state'] &
    PasswordImportParts['state'] &
    MarkParts['state'] &
    Pick<State, 'switches'>
  readonly store: HistoryImportParts['store'] & MarkParts['store']
  readonly signIn: PasswordImportParts['signIn']
  readonly guard: Guard
  readonly engine: Pick<Engine, 'execute'>
  /** The process of this server. */
  readonly connectionInstances: Pick<ConnectionInstances, 'process'>
}

/** The lines to import, and the options. */
export interface ImportStateRequest {
  /** Reads the lines, once the caller is permitted. */
  readonly read: () => Promise<ImportedLines>
  /** Whether it replaces things that were changed here. */
  readonly overwrite: boolean
  /** The users who become administrators here. */
  readonly administrators: ReadonlySet<string>
}

/** The lines that were sent to an import. */
export interface ImportedLines {
  /** The present time of the old server's clock, epoch ms; 0: not known. */
  readonly lastRefMs: number
  readonly lines: readonly ImportLine[]
}

/** Lines that are decided together: others have their turns between the parts. */
const MOST_AT_ONCE = 100

/** How often a line is tried, and the first pause between. */
const MOST_TRIES = 6
const PAUSE_MS = 200

/** Makes the operation that imports the state of another server. For administrators: it has users, too. */
export function importOperations(parts: ImportParts) {
  const pending: PendingChanges = new Map()
  /** Settles when the call is done that has the turn: the next one must see its records and marks. */
  let turn: Promise<unknown> = Promise.resolve()
  return {
    /**
     * Imports lines in order, each for itself; a line may come again. It throws only if another try may help. Calls take
     * turns: a client that has had no answer sends its call again.
     */
    state: parts.guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'import state', cameTo: auditedImport },
      resources: accessResource,
      run: (request: ImportStateRequest): Promise<ImportedState> => {
        const imported = turn.then(() => new StateImport(parts, request, pending).run())
        turn = imported.catch(() => undefined)
        return imported
      },
    }),
  }
}

/** The import of one call. */
class StateImport {
  readonly #parts: ImportParts
  readonly #request: ImportStateRequest
  readonly #pending: PendingChanges
  readonly #history: HistoryImport
  readonly #marks: ImportMarks
  readonly #counts = { taken: 0, unchanged: 0, kept: 0, refused: 0 }
  readonly #left: LeftLine[] = []

  constructor(parts: ImportParts, request: ImportStateRequest, pending: PendingChanges) {
    this.#parts = parts
    this.#request = request
    this.#pending = pending
    this.#history = new HistoryImport(parts, pending)
    this.#marks = new ImportMarks(parts)
  }

  async run(): Promise<ImportedState> {
    try {
      const { lastRefMs, lines } = await this.#request.read()
      if (lastRefMs > 0) await this.#parts.engine.execute(raiseLists(lastRefMs))
      for (const part of inParts(lines, MOST_AT_ONCE)) await this.#takePart(part)
    } finally {
      await this.#marks.save()
    }
    return { ...this.#counts, lines: this.#left }
  }

  async #takePart(part: readonly ImportLine[]): Promise<void> {
    await this.#history.prepare(itemsOf(part))
    await this.#marks.prepare(part)
    for (const some of togetherOf(part)) await this.#takeTogether(some)
    await nextTurn()
  }

  /** Imports lines together, and again if the store is slow or away for a moment. */
  async #takeTogether(lines: readonly ImportLine[]): Promise<void> {
    let left = lines
    for (let tries = 1; left.length > 0; tries++) {
      const outcomes = await Promise.allSettled(left.map(({ thing }) => this.#take(thing)))
      const isAgain = (index: number): boolean => tries < MOST_TRIES && isUnavailable(outcomes[index]!)
      for (const [index, outcome] of outcomes.entries())
        if (!isAgain(index)) this.#note(left[index]!.line, outcome)
      left = left.filter((_, index) => isAgain(index))
      if (left.length === 0) return
      await pause(PAUSE_MS * tries)
      await this.#history.prepareAgain(recordsOf(left))
    }
  }

  #note(line: number, settled: PromiseSettledResult<ImportOutcome>): void {
    if (settled.status === 'fulfilled') {
      const { value } = settled
      this.#counts[value.outcome]++
      if (value.outcome === 'kept') this.#left.push({ line, ...value })
      return
    }
    const reason: unknown = settled.reason
    if (!(reason instanceof Refusal) || TRANSIENT.has(reason.code)) throw reason
    this.#counts.refused++
    this.#left.push({ line, outcome: 'refused', reason: reason.message })
  }

  async #take(thing: ImportLine['thing']): Promise<ImportOutcome> {
    const { engine } = this.#parts
    if (thing.kind === 'refused') throw new Refusal('invalid-parameter', thing.reason)
    // As for every other write of naming: an operator may have closed it.
    if (thing.kind === 'service' || thing.kind === 'instance')
      requireServing(this.#parts.state)({ resource: 'naming', action: 'write' })
    if (!this.#request.overwrite && this.#marks.isDeletedHere(thing)) return DELETED_HERE
    if (thing.kind === 'user') await refusePassword(this.#parts, thing)
    const overwrite = this.#request.overwrite || this.#marks.isAsImported(thing)
    const command = this.#commandOf(thing, overwrite)
    const outcome = await engine.execute({ ...command, takesNames: true })
    if (thing.kind === 'history') this.#history.stored(thing.record)
    if (thing.kind === 'config') this.#pending.delete(thing.config.key.text)
    else if (outcome.outcome === 'taken') this.#marks.note(thing)
    return outcome
  }

  #commandOf(thing: ImportedThing, overwrite: boolean): Command<ImportOutcome> {
    const { administrators } = this.#request
    switch (thing.kind) {
      case 'namespace':
        return importNamespace(thing.namespace, overwrite)
      case 'switch':
        return importSwitch(thing.entry, thing.value, overwrite)
      case 'user': {
        const isAdministrator = administrators.has(thing.username)
        return importUser({ ...thing, isAdministrator }, overwrite)
      }
      case 'role':
        return importRole(thing.role, administrators.has(thing.role.username))
      case 'permission':
        return importPermission(thing.permission)
      case 'history':
        return this.#history.commandOf(thing.record)
      case 'config': {
        const change = this.#history.changeBefore(thing.config.key)
        return importConfig(thing.config, { overwrite, change })
      }
      case 'gray':
        return importGray(thing.gray, overwrite)
      case 'service':
        return importService(thing.service, overwrite)
      case 'instance':
        return importInstance(thing.instance, {
          overwrite,
          importer: this.#parts.connectionInstances.process,
        })
    }
  }
}

const DELETED_HERE: ImportOutcome = { outcome: 'kept', reason: 'it was deleted here since the last import' }

/** Users come one by one: their passwords are checked, and the roles after them need them. */
function togetherOf(lines: readonly ImportLine[]): readonly (readonly ImportLine[])[] {
  return lines.some(({ thing }) => thing.kind === 'user') ? lines.map((line) => [line]) : [lines]
}

/** The items that the lines are about, or whose history. */
function itemsOf(lines: readonly ImportLine[]): (ImportedConfig | ImportedRecord)[] {
  return lines.flatMap(({ thing }): (ImportedConfig | ImportedRecord)[] => {
    if (thing.kind === 'config') return [thing.config]
    return thing.kind === 'history' ? [thing.record] : []
  })
}

function recordsOf(lines: readonly ImportLine[]): ImportedRecord[] {
  return lines.flatMap(({ thing }) => (thing.kind === 'history' ? [thing.record] : []))
}

function isUnavailable(settled: PromiseSettledResult<ImportOutcome>): boolean {
  if (settled.status === 'fulfilled') return false
  return settled.reason instanceof Refusal && settled.reason.code === 'store-unavailable'
}

/** Refusals that are not about a line: the call may be repeated. */
const TRANSIENT: ReadonlySet<RefusalCode> = new Set([
  'store-full',
  'store-unavailable',
  'cut-off',
  'server-status',
  'stopping',
  'sign-in-slowed',
])

function auditedImport({ taken, unchanged, kept, refused }: ImportedState): AuditedOutcome {
  const detail = `taken ${taken}, unchanged ${unchanged}, kept ${kept}, refused ${refused}`
  return { result: 'done', detail }
}
