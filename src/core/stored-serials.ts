import type { Change } from './changes.ts'

/**
 * Which services and instances the store has, as far as that is open: those that are written behind may not
 * be there yet. Every serial that is not named here is on disk, or was never meant to be.
 */
export class StoredSerials {
  /** Nothing of these has been sent to the store. */
  readonly #unsent = new Set<number>()
  /** These were sent, and the store has not said that it has them. */
  readonly #unsure = new Set<number>()

  /** It was made, and will be written behind. */
  made(serial: number): void {
    this.#unsent.add(serial)
  }

  /** It is on its way to the store. */
  sent(serial: number): void {
    if (this.#unsent.delete(serial)) this.#unsure.add(serial)
  }

  /** The store has written it, or its removal; or there is nothing of it any more. */
  settled(serial: number): void {
    this.#unsent.delete(serial)
    this.#unsure.delete(serial)
  }

  /** The store has written this change. */
  written(change: Change): void {
    if (change.kind === 'service-saved') this.settled(change.service.serial)
    else if (change.kind === 'instance-saved') this.settled(change.record.serial)
    else if ('serial' in change) this.settled(change.serial)
  }

  /** Whether the store may have it, so that its removal must be written. */
  maybeStored(serial: number): boolean {
    return !this.#unsent.has(serial)
  }

  /** Whether the store has it, so that what is written may rely on it. */
  surelyStored(serial: number): boolean {
    return !this.#unsent.has(serial) && !this.#unsure.has(serial)
  }
}
