import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { SharedSlices } from '../core/work/shared-slices.ts'
import { PollComparison } from './poll-comparison.ts'
import type { HeldPoll, Poll } from './held-polls.ts'
import type { Looks } from './looks.ts'

/** The dependencies of {@link PollComparisons}. */
export interface PollComparisonParts {
  readonly looks: Looks
  readonly slices: SharedSlices
  /** Answers a held poll that is compared: it differs, or its time is over (`ends`). */
  readonly compared: (held: HeldPoll, changed: readonly WatchedItem[], ends: boolean) => void
}

/** Compares polls: at once where there is room, else in slices while they are held. */
export class PollComparisons {
  readonly #parts: PollComparisonParts

  constructor(parts: PollComparisonParts) {
    this.#parts = parts
  }

  /** A comparison that has not begun. */
  of(poll: Poll): PollComparison {
    return new PollComparison(poll.items, poll, this.#parts.looks.md5Of)
  }

  /** Compares the rest in slices. `ends`: the poll is answered then, whether it differs or not. */
  later(held: HeldPoll, comparison: PollComparison, ends: boolean): void {
    held.comparing = { comparison, ends }
    this.#parts.slices.add({ step: () => this.#step(held), failed: () => held.giveUp() })
  }

  /** An item of a held poll has changed. Where it differs, all items are compared: the answer names all that differ. */
  woken(held: HeldPoll, keyText: string): void {
    const { comparing, poll } = held
    if (comparing !== undefined) comparing.comparison.changed(keyText)
    else if (poll !== undefined) {
      const comparison = this.of(poll)
      if (comparison.changed(keyText)) this.#toAnswer(held, comparison, false)
    }
  }

  /** The time of a held poll is over. */
  expired(held: HeldPoll): void {
    const { comparing, poll } = held
    if (comparing !== undefined) comparing.ends = true
    else if (poll !== undefined) this.#toAnswer(held, this.of(poll), true)
  }

  #toAnswer(held: HeldPoll, comparison: PollComparison, ends: boolean): void {
    comparison.compare(this.#parts.looks.inStep())
    if (comparison.isDone) this.#parts.compared(held, comparison.differing(), ends)
    else this.later(held, comparison, ends)
  }

  /** Compares some items of a held poll. True: there are more. */
  #step(held: HeldPoll): boolean {
    const { comparing, poll } = held
    if (comparing === undefined || poll === undefined) return false
    const { comparison, ends } = comparing
    comparison.compare(this.#parts.looks.inStep())
    if (!comparison.isDone) return true
    held.comparing = undefined
    this.#parts.compared(held, comparison.differing(), ends)
    return false
  }
}
