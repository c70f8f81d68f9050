/** Another process has taken the place of this server, which must stop. */
export class PlaceTaken extends Error {
  override readonly name = 'PlaceTaken'

  /** `key`: where the other process was found. */
  constructor(key: string) {
    super(`Another process has taken the place of this server (${key}): this one must stop.`)
  }
}
