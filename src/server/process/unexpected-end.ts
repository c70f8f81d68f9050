import type { Logger } from 'pino'

/** The code of a process that ends by a fault of its own: EX_SOFTWARE of sysexits.h. Service managers start it again. */
const FAULT_EXIT = 70

/** The cause of a server's own end. */
export interface ServerEnd {
  readonly message: string
  /** The exit code of the process. */
  readonly exitCode: number
}

/** Ends a server that nobody stops: its installation has ended, or no boundary has caught a fault (decision 0045). */
export class UnexpectedEnd {
  /** Resolves with the first cause. */
  readonly ended: Promise<ServerEnd>
  /** Whether it ended by a fault, so that nobody knows what still works. */
  hasFailed = false
  /** Whether memory may be wrong: then nothing more is written from it. */
  isStateBroken = false
  readonly #log: Pick<Logger, 'fatal'>
  #end: (ended: ServerEnd) => void = () => undefined

  /** `ended` resolves when the installation has ended, such as by the loss of its store. */
  constructor(log: Pick<Logger, 'fatal'>, ended: Promise<Error>) {
    this.#log = log
    this.ended = new Promise((resolve) => (this.#end = resolve))
    void ended.then(({ message }) => this.#end({ message, exitCode: 1 }))
  }

  /** Ends the process in order: something was thrown past all boundaries. */
  readonly fail = (error: unknown, text: string): void => {
    this.hasFailed = true
    this.#log.fatal({ err: error }, `${text}: the process ends with exit code ${FAULT_EXIT}`)
    const message = error instanceof Error ? error.message : String(error)
    this.#end({ message: `${text}: ${message}`, exitCode: FAULT_EXIT })
  }

  /** The same for a fault that left memory half changed. */
  readonly failState = (error: unknown, text: string): void => {
    this.isStateBroken = true
    this.fail(error, text)
  }
}
