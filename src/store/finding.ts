import type { Finding } from './local-file.ts'

const MOST_KEPT = 1_000

/** Gathers findings: all are counted, the first ones are kept. */
export class Findings {
  readonly #kept: Finding[] = []
  #damage = 0
  #notes = 0
  #leftOut = 0

  add(finding: Finding): void {
    if (finding.leavesOut !== undefined) this.#leftOut++
    if (finding.severity === 'damage') this.#damage++
    else this.#notes++
    if (this.#kept.length < MOST_KEPT) this.#kept.push(finding)
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

  /** The first thousand. */
  get kept(): readonly Finding[] {
    return this.#kept
  }
}
