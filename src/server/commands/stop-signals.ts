/** How a parent process of the same program says that it wants to stop, and that this process ends with it. */
export const STOP_MESSAGE = 'waypost: stop'
export const END_WITH_ME_MESSAGE = 'waypost: end with me'

/**
 * The signals that end a server. The first one stops it in order, also during the start; a second one of the same sender
 * ends the process at once with 1. A supervisor may send a signal to the parent process and to this one. The parent
 * hands its signal on as a message. The two count as one signal.
 */
export class StopSignals {
  readonly received: Promise<void>
  #resolve: () => void = () => undefined
  #isReceived = false
  readonly #onSignal = this.#sender()

  constructor() {
    this.received = new Promise((resolve) => (this.#resolve = resolve))
    process.on('SIGTERM', this.#onSignal).on('SIGINT', this.#onSignal)
    if (process.send !== undefined) this.#followParent()
  }

  get isReceived(): boolean {
    return this.#isReceived
  }

  /** Leaves the signals to others. */
  leave(): void {
    process.off('SIGTERM', this.#onSignal).off('SIGINT', this.#onSignal)
  }

  #followParent(): void {
    const onStop = this.#sender()
    process.on('message', (message) => {
      if (message === STOP_MESSAGE) onStop()
      if (message === END_WITH_ME_MESSAGE) process.once('disconnect', onStop)
    })
  }

  #sender(): () => void {
    let isStopping = false
    return () => {
      if (isStopping) process.exit(1)
      isStopping = true
      this.#isReceived = true
      this.#resolve()
    }
  }
}
