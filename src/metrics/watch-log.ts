/** The log of the watch: facts for programs, a fixed sentence for people. A pino logger fits. */
export interface WatchLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
