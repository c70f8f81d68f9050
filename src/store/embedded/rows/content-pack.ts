/** Puts the contents of a message into one transferred buffer. Cloning a Buffer could copy the whole pool around it. */
export class ContentPack {
  readonly #contents: Buffer[] = []
  #length = 0

  /** How many bytes there are so far. */
  get length(): number {
    return this.#length
  }

  /** Adds a content; returns its place in the pack. Throws for anything but a Buffer. */
  add(content: Buffer): number {
    if (!Buffer.isBuffer(content)) throw new TypeError('The content of a configuration must be a Buffer')
    const at = this.#length
    this.#contents.push(content)
    this.#length += content.length
    return at
  }

  /** The contents one after another, in memory of their own. */
  pack(): ArrayBuffer {
    const packed = new ArrayBuffer(this.#length)
    const bytes = new Uint8Array(packed)
    let at = 0
    for (const content of this.#contents) {
      bytes.set(content, at)
      at += content.length
    }
    return packed
  }
}
