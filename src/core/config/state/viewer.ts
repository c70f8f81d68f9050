/**
 * The client that asks for an item: all that rules of gray versions may look at. Where a client is connected, `ip` is
 * the address that it says of itself; elsewhere it is where the request comes from.
 */
export interface Viewer {
  readonly ip: string
  /** The tag of the client, or the one that it asks for. */
  readonly tag?: string | undefined
  /** The client asks for the version of `tag` only: its labels do not count, and it never gets the formal version. */
  readonly asksForTag?: boolean | undefined
  /** By their names, in the spelling of `labelName`. */
  readonly labels?: ReadonlyMap<string, string> | undefined
}
