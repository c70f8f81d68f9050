/** The cause that ends the work on a store that several servers share, as a promise. */
export class Ending {
  readonly ended: Promise<Error>
  #end: (error: Error) => void = () => undefined

  constructor() {
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  readonly failed = (error: unknown): void => {
    this.#end(error instanceof Error ? error : new Error(String(error)))
  }
}
