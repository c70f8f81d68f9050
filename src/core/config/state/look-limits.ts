/**
 * The limits that multiply where clients look at items. `looks.test.ts` tries each operation with the limits that meet in it at
 * their largest. A look is the question which version of an item a client sees.
 */
export const LOOK_LIMITS = {
  /** Gray versions of an item. */
  versions: 10,
  /** Conditions of a rule of labels, and its letters: each look may ask each condition. */
  conditions: 64,
  labelLetters: 2_048,
  /** Letters of a rule of any other kind. */
  ruleLetters: 8_192,
  /** How long one turn of the loop looks for polls and listeners as they come. The others wait for slices. */
  turnMs: 5,
  /** How long one turn looks for the watchers of changed items. */
  changedMs: 30,
  /** How long a step of a slice looks. */
  stepMs: 1,
  /** Items that all polls and listeners watch together by default: some 300 bytes each. */
  watchedItems: 1_000_000,
  /** Polls that are remembered after their end, and the items in them. */
  rememberedPolls: 10_000,
  rememberedItems: 500_000,
} as const
