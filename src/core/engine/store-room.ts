import type { Command } from '../decisions/decision.ts'
import type { Engine } from './ports.ts'
import { Refusal } from '../refusal.ts'

/** The room of the store for growth. */
export interface Room {
  /** Bytes until the reserve is reached; below it: 0 or less. */
  readonly leftBytes: number
  /** How large the store is and how much must stay free: a sentence for a person. */
  readonly usage: string
  /** The advice to operators, and which commands are refused until then. */
  readonly advice: string
}

/** Says which commands are refused without room. */
export const REFUSED_WITHOUT_ROOM =
  'Until then configurations and metadata are refused; registrations and deletions are not.'

/** A change takes several times its size for a while: in the log, as history, and as kept earlier versions. */
const TIMES = 2
/** About the size of a change without its content. */
const CHANGE_BYTES = 4 * 1024
/** With this much or less not even a small change fits: the store is full. */
const FULL_BYTES = 2 * CHANGE_BYTES
/** So much room, or a sixteenth of the reserve, must be there before a full store takes changes again. */
const AGAIN_BYTES = 16 * 1024 * 1024

/**
 * Keeps the last room of the store for registrations, sessions and deletions, which must always work. The room is
 * measured now and then; admitted changes since then are subtracted.
 */
export class StoreRoom {
  readonly #againBytes: number
  #leftBytes = Infinity
  /** The size of the store, and the advice. */
  #text = ''
  #full: string | undefined

  constructor(reserveBytes: number) {
    this.#againBytes = Math.max(FULL_BYTES, Math.min(AGAIN_BYTES, reserveBytes / 16))
  }

  /** Why there is no room, with the advice; undefined: there is room. */
  get shortage(): string | undefined {
    return this.#full
  }

  /** Bytes until the reserve is reached. */
  get leftBytes(): number {
    return Math.max(0, this.#leftBytes)
  }

  /** The room was measured. */
  measured({ leftBytes, usage, advice }: Room): void {
    const isFull = leftBytes <= (this.#full === undefined ? FULL_BYTES : this.#againBytes)
    this.#leftBytes = leftBytes
    this.#text = `${usage} ${advice}`
    this.#full = isFull ? this.#text : undefined
  }

  /** Whether this may not fit after the changes since the last measurement: then measure again. */
  isUnsure(bytes: number): boolean {
    return this.#full === undefined && neededFor(bytes) > this.#leftBytes
  }

  /** Throws Refusal `store-full` if the store has no room for this. */
  require(bytes: number): void {
    const needed = neededFor(bytes)
    if (this.#full !== undefined) throw storeFull(this.#full)
    if (needed > this.#leftBytes)
      throw storeFull(`The store is nearly full: this does not fit. ${this.#text}`)
    this.#leftBytes -= needed
  }
}

/** An engine that refuses growth of the store while it has no room. `measure` measures the room now. */
export function withinRoom(
  engine: Engine,
  room: Pick<StoreRoom, 'require' | 'isUnsure'>,
  measure: () => Promise<void>,
): Engine {
  const executeMeasured = async <T>(command: Command<T>, bytes: number): Promise<T> => {
    await measure()
    room.require(bytes)
    return engine.execute(command)
  }
  return {
    mostAtOnce: engine.mostAtOnce,
    get backlog() {
      return engine.backlog
    },
    execute<T>(command: Command<T>): T | Promise<T> {
      const { growsBy } = command
      if (growsBy === undefined) return engine.execute(command)
      if (room.isUnsure(growsBy)) return executeMeasured(command, growsBy)
      room.require(growsBy)
      return engine.execute(command)
    },
    applyBehind: (changes) => engine.applyBehind(changes),
    tick: () => engine.tick(),
    close: () => engine.close(),
  }
}

function neededFor(bytes: number): number {
  return TIMES * bytes + CHANGE_BYTES
}

function storeFull(text: string): Refusal {
  return new Refusal('store-full', text, { retryAfterSeconds: 5 })
}
