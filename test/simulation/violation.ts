/** Something happened in a simulation that must never happen. */
export class Violation extends Error {
  constructor(text: string) {
    super(text)
    this.name = 'Violation'
  }
}

/** Ends a simulation. */
export function violation(text: string): never {
  throw new Violation(text)
}
