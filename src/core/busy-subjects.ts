/** The subjects of commands that are not answered yet: those that come later for one of them are decided after them. */
export class BusySubjects {
  readonly #counts = new Map<string, number>()

  has(subject: string): boolean {
    return this.#counts.has(subject)
  }

  /** A command for this subject waits. */
  enter(subject: string): void {
    this.#counts.set(subject, (this.#counts.get(subject) ?? 0) + 1)
  }

  /** One is answered. */
  leave(subject: string): void {
    const left = (this.#counts.get(subject) ?? 1) - 1
    if (left === 0) this.#counts.delete(subject)
    else this.#counts.set(subject, left)
  }
}
