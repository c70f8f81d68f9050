/** Shorter texts are copied by the engine anyway when they are cut out of longer ones. */
const SHORTEST_CUT = 13

/**
 * The same text in memory of its own, for what is kept for long. V8 keeps a piece of a text as a reference
 * into the whole. So an address of fifteen characters would keep the request that it came in.
 */
export function ownText(text: string): string {
  // Joined, because a piece of a text put together with `+` would be a reference into that.
  return text.length < SHORTEST_CUT ? text : [text.slice(0, 1), text.slice(1)].join('')
}

/** The same for what may be absent. */
export function ownTextOrNull(text: string | null): string | null {
  return text === null ? null : ownText(text)
}
