import type { Instance } from './instance.ts'

/** Longer texts are not worth their memory: they are read each time. */
const LONGEST_TEXT = 1_024

/**
 * The beats that were read already, word for word, and whom they renewed. A client sends the same text every few
 * seconds for as long as its instance lives, so that all but the first need not be read again. Each instance has
 * one text, the last that was read, and takes it along when it leaves.
 */
export class KnownBeats {
  readonly #instances = new Map<string, Instance>()

  /** Whom this text renews; undefined: it has to be read. */
  find(text: string): Instance | undefined {
    return this.#instances.get(text)
  }

  /** Notes that this text renews this instance and no other one, and can never mean anything else. */
  note(text: string, instance: Instance): void {
    if (text.length > LONGEST_TEXT) return
    this.forget(instance)
    instance.beatText = text
    this.#instances.set(text, instance)
  }

  /** The instance leaves. */
  forget(instance: Instance): void {
    if (instance.beatText === undefined) return
    this.#instances.delete(instance.beatText)
    instance.beatText = undefined
  }
}
