import type { Revision } from '../core/ports.ts'

/** The file of a store while it does not change: it is complete, and its log is empty. */
export interface HeldFile {
  /** The last revision that it holds. */
  readonly revision: Revision
  readonly bytes: number
}

/**
 * The second port of a store, beside `Store`: for stores that keep their data in a local file, so that a running server can
 * be backed up. A store for several servers has none, and its operators use that store's own tools. The composition root
 * joins the two ports.
 */
export interface LocalFile {
  /**
   * Brings everything into the one file and leaves that alone until `release`: writes go on, into the log only, which
   * grows meanwhile. Throws if that cannot be done now.
   */
  hold(): Promise<HeldFile>
  /** Lets the file change again. False if it was not held all the time: the store was opened again meanwhile. */
  release(): Promise<boolean>
}
