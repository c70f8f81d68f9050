/** The log of the store: facts for machines, a sentence for people. */
export interface StoreLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
