/** How long a member may leave questions unanswered, in ms: longer than its lease, so it still renews that. */
const ALARM_MS = 15_000
/** How many questions in a row it must have left unanswered. */
const ALARM_QUESTIONS = 5

interface Unanswering {
  readonly process: string
  readonly sinceMs: number
  questions: number
  isAlarming: boolean
}

/**
 * The members that do not answer. Most lose their lease soon, and are not members any longer. A silent member that keeps its
 * lease stops all removals for silence, so an operator must look at it.
 */
export class UnansweringPeers {
  readonly #peers = new Map<string, Unanswering>()

  /** The ids of the members that have not answered for long. */
  get alarming(): readonly string[] {
    return [...this.#peers].filter(([, { isAlarming }]) => isAlarming).map(([id]) => id)
  }

  /** A member has answered. */
  answered(id: string): void {
    this.#peers.delete(id)
  }

  /** A member has not answered. Returns true if it is alarming from now on. */
  unanswered(id: string, process: string, nowMs: number): boolean {
    const known = this.#peers.get(id)
    if (known?.process !== process) {
      this.#peers.set(id, { process, sinceMs: nowMs, questions: 1, isAlarming: false })
      return false
    }
    known.questions++
    if (known.isAlarming || known.questions < ALARM_QUESTIONS) return false
    known.isAlarming = nowMs - known.sinceMs >= ALARM_MS
    return known.isAlarming
  }

  /** Forgets servers that are not members any longer. */
  keepOnly(isMember: (id: string) => boolean): void {
    for (const id of this.#peers.keys()) if (!isMember(id)) this.#peers.delete(id)
  }
}
