import type { EtcdClient } from './client/etcd-client.ts'
import { createOnce } from './create-once.ts'
import type { Keys } from './keys.ts'

/** The version of the layout of keys and values that this version of Waypost reads and writes. */
const FORMAT = 1

/** The data in etcd is of a layout that this version of Waypost cannot use. */
class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat'
}

/** Notes the format in an empty store, and refuses to use another one. Throws {@link UnknownFormat}. */
export async function agreeOnFormat(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys): Promise<void> {
  const key = keys.of({ of: 'format' })
  refuseFormat(key, await createOnce(client, key, () => String(FORMAT)))
}

/** Throws {@link UnknownFormat} if the text is not the number of a format that can be used. */
export function refuseFormat(key: string, text: string): void {
  if (!/^[1-9]\d*$/.test(text))
    throw new UnknownFormat(
      `The key ${key} of etcd has the format ${JSON.stringify(text.slice(0, 40))}, which is no number: the keys under ` +
        'this prefix are not those of a Waypost. Choose another prefix.',
    )
  if (Number(text) <= FORMAT) return
  throw new UnknownFormat(
    `The data in etcd has the format ${text} (key ${key}); this version of Waypost knows formats up to ${FORMAT}. ` +
      'Use the version that wrote it, or a later one.',
  )
}
