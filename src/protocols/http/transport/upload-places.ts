import { Refusal } from '../../../core/refusal.ts'

/** Uploads are large and stay in memory until they are answered, so only a few are accepted at once. */
const MAX_UPLOADS = 2

/** Counts the requests with a raw body that are not answered yet. */
export class UploadPlaces {
  #taken = 0

  /** Returns true, or throws Refusal `server-status` when all places are taken. */
  take(): true {
    if (this.#taken >= MAX_UPLOADS) {
      const message = `The server takes ${MAX_UPLOADS} uploads at once: try again in a moment.`
      throw new Refusal('server-status', message, { names: { status: 'BUSY' } })
    }
    this.#taken++
    return true
  }

  leave(): void {
    this.#taken--
  }
}
