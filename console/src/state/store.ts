import { useEffect, useState } from 'preact/hooks'

/** A value that views follow. */
export class Store<T> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  /** Calls the listener after each change, until the returned function is called. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The present value of a store; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState({})
  const drawn = store.value
  useEffect(() => {
    // It may have changed between drawing and this.
    if (!Object.is(drawn, store.value)) redraw({})
    return store.follow(() => redraw({}))
  }, [store])
  return drawn
}
