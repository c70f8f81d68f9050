/**
 * The limits that multiply where clients look at items, in one table: `looks.test.ts` tries each operation with the limits
 * that meet in it at their largest. A look is the question which version of an item a client sees.
 */
export const LOOK_LIMITS = {
  /** Gray versions of an item. */
  versions: 10,
  /** Conditions of a rule of labels, and its letters: each look may ask each condition. */
  conditions: 64,
  labelLetters: 2_048,
  /** Letters of a rule of any other kind. */
  ruleLetters: 8_192,
  /** Looks in one turn of the loop for polls and listeners as they come. The others wait for slices. */
  looksInTurn: 256,
  /** Looks for a poll as it comes that never wait: they cost less than its request. */
  looksOfFewItems: 4,
  /** Looks in a step of a slice. */
  looksInStep: 32,
  /** Items that all polls and listeners watch together by default: some 300 bytes each. */
  watchedItems: 1_000_000,
  /** Polls that are remembered after their end, and the items in them. */
  rememberedPolls: 10_000,
  rememberedItems: 500_000,
} as const
