import type { Finding } from './local-file.ts'

const MOST_KEPT = 1_000

/** Gathers findings: all are counted, the first ones are kept, and apart from them the first ones that leave something out. */
export class Findings {
  readonly #kept: Finding[] = []
  #damage = 0
  #notes = 0
  #leftOut = 0

  add(finding: Finding): void {
    const leavesOut = finding.leavesOut !== undefined
    const before = leavesOut ? this.#leftOut : this.#damage + this.#notes - this.#leftOut
    if (before < MOST_KEPT) this.#kept.push(finding)
    if (leavesOut) this.#leftOut++
    if (finding.severity === 'damage') this.#damage++
    else this.#notes++
  }

  /** Adds damage. */
  damage(place: string, finding: Omit<Finding, 'severity' | 'place'>): void {
    this.add({ severity: 'damage', place, ...finding })
  }

  /** Adds a note. */
  note(place: string, finding: Omit<Finding, 'severity' | 'place'>): void {
    this.add({ severity: 'note', place, ...finding })
  }

  /** How many there were in all. */
  get counts(): { readonly damage: number; readonly notes: number } {
    return { damage: this.#damage, notes: this.#notes }
  }

  /** The number of findings with a `leavesOut`. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** The first thousand with a `leavesOut`, and the first thousand without. */
  get kept(): readonly Finding[] {
    return this.#kept
  }
}
