import type { PlanHead, PlanLine } from '../plan/plan.ts'
import { grouped } from './time-left.ts'

/** The number of lines of a kind, if the head of the plan has another number. */
interface OtherCount {
  readonly head: number
  readonly file: number
}

/** Compares the lines of a plan with the counts in its head. Fewer lines are no error: people may take lines out. */
export class LineCounts {
  #head: PlanHead['counts'] = {}
  readonly #file: Record<string, number> = {}

  add(line: PlanLine): void {
    if (line.kind === 'plan') this.#head = line.counts
    else this.#file[line.kind] = (this.#file[line.kind] ?? 0) + 1
  }

  /** The kinds whose number of lines differs from the number in the head. */
  others(): Readonly<Record<string, OtherCount>> {
    const kinds = [...new Set([...Object.keys(this.#head), ...Object.keys(this.#file)])]
    const counts = kinds.map((kind): [string, OtherCount] => [
      kind,
      { head: this.#head[kind] ?? 0, file: this.#file[kind] ?? 0 },
    ])
    return Object.fromEntries(counts.filter(([, { head, file }]) => head !== file))
  }
}

/** A line for each kind. */
export function otherCountsText(others: ReturnType<LineCounts['others']>): string {
  return Object.entries(others)
    .map(([kind, { head, file }]) => {
      const difference = Math.abs(head - file)
      const which =
        file < head ? 'less than its head says: taken out, or lost' : 'more than its head says: added'
      return `note: the plan has ${grouped(file)} ${file === 1 ? 'line' : 'lines'} of kind ${kind}, ${grouped(difference)} ${which}\n`
    })
    .join('')
}
