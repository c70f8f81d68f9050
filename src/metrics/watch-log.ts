/** Where faults are told: facts for machines, a sentence of our own for people. A pino logger fits. */
export interface WatchLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
