import { UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { DamagedStore, placeProblemOf } from '../../local-file.ts'
import { MissingChunk } from '../contents/chunks.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { BrokenSeal } from './broken-seal.ts'
import { shownKey } from '@waypost/etcd-client/key-text'

/** No server has written this value in etcd. */
export class UnreadableValue extends DamagedStore {
  override readonly name = 'UnreadableValue'

  constructor(key: string, cause: Error) {
    super(
      `The value of the key ${shownKey(key)} in etcd is damaged: ${cause.message}. ` +
        '`waypost doctor --store etcd` finds all that are.',
      { cause },
    )
  }
}

/** The result of `read` for the value of a key. Throws, or rejects with, {@link UnreadableValue} if it cannot be read. */
export function readingOf<T>(key: string, read: () => T): T
export function readingOf<T>(key: string, read: () => T | Promise<T>): T | Promise<T> {
  const failed = (error: unknown): never => {
    throw isOfValue(error) ? new UnreadableValue(key, error) : error
  }
  try {
    const found = read()
    return found instanceof Promise ? found.catch(failed) : found
  } catch (error) {
    return failed(error)
  }
}

/** False if etcd does not answer, the value has changed meanwhile, or it is of a later version. */
export function isOfValue(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof EtcdError || error instanceof UnknownRecordKind)
    return false
  if (error instanceof BrokenSeal) return true
  return !(error instanceof MissingChunk) && placeProblemOf(error) === undefined
}
