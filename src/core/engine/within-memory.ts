import { DELETED_CONFIG } from '../config/state/deleted-config.ts'
import { GRAY } from '../config/state/gray-version.ts'
import type { Change } from '../decisions/changes.ts'
import type { Command, Decision } from '../decisions/decision.ts'
import type { Now } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'
import { growthOf } from '../memory/memory-account.ts'
import type { Growth, MemoryBudget } from '../memory/memory-budget.ts'
import { MEMORY_KINDS, memoryKindOf, type MemoryPart } from '../memory/memory-kinds.ts'
import type { Engine } from './ports.ts'
import type { State } from './state.ts'
import { WrappedCommand } from './wrapped-command.ts'

/** The dependencies of `withinMemory`. */
export interface MemoryParts {
  readonly state: State
  readonly budget: MemoryBudget
  readonly clock: () => Now
}

/**
 * An engine that refuses decisions for which there is no memory. Growth counts from its decision until the command is
 * answered; contents count from the time when the command was given.
 */
export function withinMemory(engine: Engine, parts: MemoryParts): Engine {
  return {
    mostAtOnce: engine.mostAtOnce,
    get backlog() {
      return engine.backlog
    },
    execute<T>(command: Command<T>): T | Promise<T> {
      const admission = new Admission(command, parts)
      let outcome: T | Promise<T>
      try {
        admission.begin()
        // It may be refused here, too.
        outcome = engine.execute(admission)
      } catch (error) {
        admission.end()
        throw error
      }
      if (outcome instanceof Promise) return outcome.finally(() => admission.end())
      admission.end()
      return outcome
    },
    applyBehind: (changes) => engine.applyBehind(changes),
    tick: () => engine.tick(),
    close: () => engine.close(),
  }
}

const NO_GROWTH: Growth = new Map()

/** A command whose decisions are refused without memory, from the time when it was given until it is answered. */
class Admission<T> extends WrappedCommand<T> {
  readonly #parts: MemoryParts
  #givenBytes = 0
  #waitingBytes = 0
  #growth = NO_GROWTH

  constructor(command: Command<T>, parts: MemoryParts) {
    super(command)
    this.#parts = parts
  }

  override decide(view: View, now: Now): Decision<T> {
    const decision = super.decide(view, now)
    this.#hold(decision.changes)
    return decision
  }

  /** The command is given. Throws Refusal if it need not even wait. */
  begin(): void {
    const { growsBy = 0 } = this
    if (growsBy === 0) return
    const { state, budget, clock } = this.#parts
    budget.given(growsBy)
    this.#givenBytes = growsBy
    if (budget.isTight(growsBy)) this.#hold(super.decide(state, clock()).changes)
    else this.#wait(growsBy)
  }

  /** The command is answered. */
  end(): void {
    this.#parts.budget.answered(this.#givenBytes)
    this.#givenBytes = 0
    this.#letGo()
  }

  #letGo(): void {
    this.#wait(0)
    this.#grow(NO_GROWTH)
  }

  /** A decision replaces an earlier one. */
  #hold(changes: readonly Change[]): void {
    this.#letGo()
    const needsNone = changes.length === 0 || isRemoval(changes)
    this.#grow(needsNone ? NO_GROWTH : growthOfAll(changes, this.#parts.state))
  }

  #grow(growth: Growth): void {
    const { budget } = this.#parts
    if (this.#growth !== NO_GROWTH) budget.release(this.#growth)
    this.#growth = NO_GROWTH
    if (growth === NO_GROWTH) return
    budget.hold(growth)
    this.#growth = growth
  }

  #wait(bytes: number): void {
    if (bytes === this.#waitingBytes) return
    this.#parts.budget.waits(bytes - this.#waitingBytes)
    this.#waitingBytes = bytes
  }
}

/** The kinds of records that a removal may leave behind. */
const LEFT_BEHIND: ReadonlySet<string> = new Set([GRAY.name, DELETED_CONFIG.name])

/** Whether changes remove something, and save only records that a removal leaves behind. */
function isRemoval(changes: readonly Change[]): boolean {
  let removes = false
  for (const change of changes) {
    if (change.kind === 'record-saved') {
      if (!LEFT_BEHIND.has(change.recordKind)) return false
    } else if (change.kind.endsWith('-saved') || change.kind === 'config-published') return false
    else removes ||= change.kind !== 'history-imported' && change.kind !== 'instance-health-changed'
  }
  return removes
}

function growthOfAll(changes: readonly Change[], state: State): Growth {
  const growth = new Map<MemoryPart, { heap: number; external: number }>()
  for (const change of changes) {
    const part = MEMORY_KINDS[memoryKindOf(change)]
    const { heap, external } = growthOf(change, state)
    const known = growth.get(part)
    if (known === undefined) growth.set(part, { heap, external })
    else {
      known.heap += heap
      known.external += external
    }
  }
  return growth
}
