/** Shorter texts are copied by the engine anyway when they are cut out of longer ones. */
const SHORTEST_CUT = 13

/**
 * Copies a text that is kept for long. V8 keeps a piece of a text as a reference into the whole. So an address of
 * fifteen characters would keep its request in memory.
 */
export function ownText(text: string): string {
  // Joined, because a piece of a text put together with `+` would be a reference into that.
  return text.length < SHORTEST_CUT ? text : [text.slice(0, 1), text.slice(1)].join('')
}

/** The same for a text or null. */
export function ownTextOrNull(text: string | null): string | null {
  return text === null ? null : ownText(text)
}
