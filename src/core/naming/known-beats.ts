import type { Instance } from './instance.ts'

/**
 * The beats that were read already and whom they renewed, by fingerprint: what stands for a request word for word.
 * A client sends the same words every few seconds for as long as its instance lives, so that all but the first
 * need not be read again. Each instance has one fingerprint, the last that was read, and takes it along when it
 * leaves.
 */
export class KnownBeats {
  readonly #instances = new Map<string, Instance>()

  /** Whom this beat renews; undefined: it has to be read. */
  find(fingerprint: string): Instance | undefined {
    return this.#instances.get(fingerprint)
  }

  /** Notes that this beat renews this instance and no other one, and can never mean anything else. */
  note(fingerprint: string, instance: Instance): void {
    this.forget(instance)
    instance.beatFingerprint = fingerprint
    this.#instances.set(fingerprint, instance)
  }

  /** The instance leaves. */
  forget(instance: Instance): void {
    if (instance.beatFingerprint === undefined) return
    this.#instances.delete(instance.beatFingerprint)
    instance.beatFingerprint = undefined
  }
}
