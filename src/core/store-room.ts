import type { Command } from './decision.ts'
import type { Engine } from './engine.ts'
import { Refusal } from './refusal.ts'

/** How much room the store has for what makes it larger. */
export interface Room {
  /** Bytes until the reserve is reached; 0 or less: there is no room. */
  readonly leftBytes: number
  /** What takes the room, and what to do, as sentences for a person. */
  readonly advice: string
}

/** A change takes several times its size for a while: in the log, as history, and as what etcd keeps until it is compacted. */
const TIMES = 3
/** About what a change takes besides its content. */
const CHANGE_BYTES = 4 * 1024
/** So much room, or a sixteenth of the reserve, must be there before a full store takes changes again. */
const AGAIN_BYTES = 16 * 1024 * 1024

/**
 * Keeps the last room of the store for what must go on: registrations, sessions, deletions. The room is measured now and then;
 * what was let through since then is subtracted.
 */
export class StoreRoom {
  readonly #againBytes: number
  #leftBytes = Infinity
  #full: string | undefined

  constructor(reserveBytes: number) {
    this.#againBytes = Math.min(AGAIN_BYTES, reserveBytes / 16)
  }

  /** Why there is no room, with what to do; undefined: there is. */
  get shortage(): string | undefined {
    return this.#full
  }

  /** Bytes until the reserve is reached. */
  get leftBytes(): number {
    return Math.max(0, this.#leftBytes)
  }

  /** The room was measured. */
  measured({ leftBytes, advice }: Room): void {
    const isFull = leftBytes <= (this.#full === undefined ? 0 : this.#againBytes)
    this.#leftBytes = leftBytes
    this.#full = isFull ? advice : undefined
  }

  /** Throws Refusal `store-full` if the store has no room for this. */
  require(bytes: number): void {
    const needed = TIMES * bytes + CHANGE_BYTES
    if (this.#full !== undefined) throw storeFull(this.#full)
    if (needed > this.#leftBytes) throw storeFull('The store is nearly full, and this does not fit.')
    this.#leftBytes -= needed
  }
}

/** An engine that refuses what makes the store larger while the store has no room. */
export function withinRoom(engine: Engine, room: Pick<StoreRoom, 'require'>): Engine {
  return {
    mostAtOnce: engine.mostAtOnce,
    get backlog() {
      return engine.backlog
    },
    execute<T>(command: Command<T>): T | Promise<T> {
      if (command.growsBy !== undefined) room.require(command.growsBy)
      return engine.execute(command)
    },
    applyBehind: (changes) => engine.applyBehind(changes),
    tick: () => engine.tick(),
    close: () => engine.close(),
  }
}

function storeFull(advice: string): Refusal {
  return new Refusal(
    'store-full',
    `${advice} Until then configurations and metadata are not accepted; registrations and deletions are.`,
    { retryAfterSeconds: 5 },
  )
}
