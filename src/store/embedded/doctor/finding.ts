/** One thing that an examination found. Whole sentences, for people. */
export interface Finding {
  /** `damage` needs a person; a `note` is normal, or heals itself. */
  readonly severity: 'damage' | 'note'
  /** Where: file, table, row or page. */
  readonly place: string
  readonly problem: string
  /** What it means for who uses the server. */
  readonly effect: string
  /** What a repair makes of it. */
  readonly remedy?: string
}

const MOST_KEPT = 1_000

/** Gathers findings: all are counted, the first ones are kept. */
export class Findings {
  readonly #kept: Finding[] = []
  #damage = 0
  #notes = 0

  add(finding: Finding): void {
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

  /** The first thousand. */
  get kept(): readonly Finding[] {
    return this.#kept
  }
}

/** Called with the progress of long work; `total` is 0 if it is unknown. */
export type OnProgress = (step: string, done: number, total: number) => void
