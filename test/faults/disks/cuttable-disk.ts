/** A disk whose power can be cut under a running server. */
export interface CuttableDisk {
  /** Where a server keeps its data until the next cut. */
  readonly dataDir: string
  /** The environment variables that the server needs. */
  readonly env: Readonly<Record<string, string>>
  /** Cuts the power under the server with this process id, which still runs then: what was not synced is lost. */
  cut(pid: number): void
  /** After the server has ended: the disk as it is found when the power is back, with another `dataDir`. */
  turnOn(): void
  /** Gives everything back; the server must have ended. */
  close(): void
}
