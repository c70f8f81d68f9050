import type { Change } from '../decisions/changes.ts'

/**
 * Services and instances that the store may not have yet, because they are written behind. Every other serial is on disk,
 * or was never meant to be.
 */
export class StoredSerials {
  /** Never sent to the store. */
  readonly #unsent = new Set<number>()
  /** Sent to the store, not confirmed yet. */
  readonly #unsure = new Set<number>()

  /** A new record that will be written behind. */
  made(serial: number): void {
    this.#unsent.add(serial)
  }

  /** The record is sent to the store. */
  sent(serial: number): void {
    if (this.#unsent.delete(serial)) this.#unsure.add(serial)
  }

  /** The store has written the record or its removal, or the record has left unwritten. */
  settled(serial: number): void {
    this.#unsent.delete(serial)
    this.#unsure.delete(serial)
  }

  /** A change of a command is sent to the store: what it saves may be there from now on. */
  sentWith(change: Change): void {
    const serial = serialOf(change)
    if (serial !== undefined) this.sent(serial)
  }

  /** The store has written this change. */
  written(change: Change): void {
    const serial = serialOf(change)
    if (serial !== undefined) this.settled(serial)
  }

  /** Whether the store may have the record, so that its removal must be written. */
  maybeStored(serial: number): boolean {
    return !this.#unsent.has(serial)
  }

  /** Whether the store has the record for certain, so that other writes may depend on it. */
  surelyStored(serial: number): boolean {
    return !this.#unsent.has(serial) && !this.#unsure.has(serial)
  }
}

/** The serial of the service or instance that a change is about. */
function serialOf(change: Change): number | undefined {
  if (change.kind === 'service-saved') return change.service.serial
  if (change.kind === 'instance-saved') return change.record.serial
  return 'serial' in change ? change.serial : undefined
}
