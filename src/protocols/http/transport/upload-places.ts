import { Refusal } from '../../../core/refusal.ts'

/** Uploads are large and stay in memory until they are answered, so only a few are accepted at once. */
const MAX_UPLOADS = 2

/** Holds the owners of raw bodies that have arrived and are not answered yet. Each may have one. */
export class UploadPlaces {
  readonly #owners = new Set<string>()

  /** Takes the owner's place, and returns the owner. Throws Refusal `server-status` if it, or every place, is taken. */
  take(owner: string): string {
    if (this.#owners.has(owner)) throw busy('one upload of a user or address')
    if (this.#owners.size >= MAX_UPLOADS) throw busy(`${MAX_UPLOADS} uploads`)
    this.#owners.add(owner)
    return owner
  }

  leave(owner: string): void {
    this.#owners.delete(owner)
  }
}

function busy(most: string): Refusal {
  const message = `The server takes ${most} at once: try again in a moment.`
  return new Refusal('server-status', message, { names: { status: 'BUSY' } })
}
