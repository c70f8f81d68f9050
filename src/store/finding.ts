import type { Finding } from './local-file.ts'

const MOST_KEPT = 1_000

/** Gathers findings: all are counted, and the first ones of each group are kept: losses, other damage, and notes. */
export class Findings {
  readonly #kept: Finding[] = []
  #damage = 0
  #notes = 0
  readonly #ofGroup = { loss: 0, damage: 0, note: 0 }

  add(finding: Finding): void {
    // A thousand notes must not hide the damage after them.
    const group = finding.leavesOut === undefined ? finding.severity : 'loss'
    if (this.#ofGroup[group]++ < MOST_KEPT) this.#kept.push(finding)
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
    return this.#ofGroup.loss
  }

  /** The first thousand of each group. */
  get kept(): readonly Finding[] {
    return this.#kept
  }
}
