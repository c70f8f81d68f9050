import type * as applyKeysModule from '../../../src/formats/apply-keys.ts'
import type * as changedKeysModule from '../../../src/formats/changed-keys.ts'
import type * as checkModule from '../../../src/formats/check.ts'
import type * as secretsModule from '../../../src/formats/secrets.ts'

/** The functions of the worker. */
export type Checks = Pick<typeof checkModule, 'check'> &
  Pick<typeof changedKeysModule, 'changedKeys' | 'keysOf'> &
  Pick<typeof applyKeysModule, 'applyKeys'> &
  Pick<typeof secretsModule, 'secretRanges'>

/** A request to the worker: the type of the texts, and the texts. */
export interface CheckRequest {
  readonly id: number
  readonly kind: keyof Checks
  readonly texts: readonly [type: string, ...texts: string[]]
}

/** The answer of the worker. */
export interface CheckAnswer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}
