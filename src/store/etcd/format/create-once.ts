import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { TxnOperation } from '@waypost/etcd-client/messages'

const MOST_TRIES = 3

/**
 * The value of a key; a missing one is created. Servers that do this at once get the same value. If its answer was lost, it
 * may be sent again: the second request finds the value of the first.
 */
export async function createOnce(
  client: Pick<EtcdClient, 'range' | 'txn'>,
  key: string,
  make: () => string,
): Promise<string> {
  const { kvs } = await client.range({ key })
  if (kvs[0] !== undefined) return Buffer.from(kvs[0].value).toString()
  const value = make()
  for (let tries = 1; ; tries++)
    try {
      return (await create(client, key, value)) ?? value
    } catch (error) {
      const isInDoubt = error instanceof EtcdError && error.inDoubt
      if (!isInDoubt || tries === MOST_TRIES) throw error
    }
}

/** The value that was there already; undefined if this one is there now. */
async function create(
  client: Pick<EtcdClient, 'txn'>,
  key: string,
  value: string,
): Promise<string | undefined> {
  const put: TxnOperation = { do: 'put', key, value: Buffer.from(value) }
  const { succeeded, results } = await client.txn({
    compare: [{ key, of: 'create', is: '=', to: 0 }],
    success: [put],
    failure: [{ do: 'range', key }],
  })
  const found = !succeeded && results[0]?.did === 'range' ? results[0].kvs[0] : undefined
  return found && Buffer.from(found.value).toString()
}
