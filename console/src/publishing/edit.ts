import type { ConfigName, ConfigNotes } from '../server/configs.ts'

/** A version that the author has seen; its md5 is empty where there was none. */
export interface Base extends ConfigName, ConfigNotes {
  readonly content: string
  readonly md5: string
  readonly encryptedDataKey?: string
}

/** The version that the author wants to publish. */
export interface Edit extends ConfigNotes {
  readonly content: string
}
