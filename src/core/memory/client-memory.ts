import { textBytes } from './bytes-of.ts'

/** The objects, functions and places in tables of a watched thing, without its name. */
const WATCHED_BYTES = 450

/** The memory of a watched thing: its name is kept as one text, in parts, and as a client has spelled it. */
export function watchedBytes(name: string): number {
  return WATCHED_BYTES + 3 * textBytes(name)
}

/**
 * The memory of the things that clients of this server watch: items, services and patterns. It is no part of State: other servers
 * have other clients. It changes with each thing that is watched, and nobody walks over them.
 */
export class ClientMemory {
  readonly #limitBytes: number
  #bytes = 0

  constructor(limitBytes = Infinity) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Takes memory. Returns false if there is no room for it. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#limitBytes) return false
    this.#bytes += bytes
    return true
  }

  /** Gives taken memory back. */
  free(bytes: number): void {
    this.#bytes -= bytes
  }
}
