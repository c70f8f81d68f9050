/** Choices that the browser keeps. Where it keeps nothing (a private window, a full store), they last as long as the page. */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(`waypost-${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps a choice. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`waypost-${name}`, value)
  } catch {
    // It lasts as long as the page, then.
  }
}

/** Forgets a choice. */
export function forget(name: string): void {
  try {
    localStorage.removeItem(`waypost-${name}`)
  } catch {
    // There was nothing kept.
  }
}

/** The names of kept values that begin with a text. */
export function keptNames(start: string): string[] {
  try {
    const prefix = `waypost-${start}`
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice('waypost-'.length))
  } catch {
    return []
  }
}
