/** As many items as a library listens to on one connection. */
import { expect, test } from 'vitest'
import { md5, serverForThisFile, unique } from '../interface/client.ts'
import { type Body, type GrpcClient, type Spoken } from '../support/grpc-client.ts'
import { clientsOfTests } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

const ITEMS = 3_000
const AT_ONCE = 100

async function inParts(count: number, run: (index: number) => Promise<Spoken>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(from + index)))
}

const changedIn = ({ body }: Spoken): Body[] => body['changedConfigs'] as Body[]
const listen = (client: GrpcClient, configListenContexts: Body[], more: Body = {}) =>
  client.ask('ConfigBatchListenRequest', { configListenContexts, ...more })

test('a client of 3,000 items is notified of each, and afterwards of none', { timeout: 60_000 }, async () => {
  const [{ grpc: client }, { grpc: sender }] = [await connected(), await connected()]
  const prefix = unique('item')
  const keys = Array.from({ length: ITEMS }, (_, index) => ({
    dataId: `${prefix}-${index}`,
    group: 'G',
    tenant: '',
  }))
  const contentOf = ({ dataId }: { dataId: string }): string => `of ${dataId}`
  await inParts(ITEMS / 2, (index) => sender.ask('ConfigPublishRequest', { ...keys[index], content: 'old' }))

  // Half of the items are there. A listener without md5 is notified of these, a listener with another md5 also of the missing ones.
  const first = await listen(
    client,
    keys.map((key) => ({ ...key, md5: '' })),
  )
  expect(changedIn(first)).toEqual(keys.slice(0, ITEMS / 2))
  const wrong = await listen(
    client,
    keys.map((key) => ({ ...key, md5: md5('other') })),
  )
  expect(changedIn(wrong)).toHaveLength(ITEMS)

  await inParts(ITEMS, (index) => {
    return sender.ask('ConfigPublishRequest', { ...keys[index], content: contentOf(keys[index]!) })
  })
  const heard = new Set<unknown>()
  while (heard.size < ITEMS) heard.add((await client.next('ConfigChangeNotifyRequest')).body['dataId'])
  const known = keys.map((key) => ({ ...key, md5: md5(contentOf(key)) }))
  expect(changedIn(await listen(client, known))).toEqual([])

  await listen(client, known, { listen: false })
  // A slow machine may have reminded the client before it said what it knows.
  client.waiting.splice(0)
  await inParts(AT_ONCE, (index) => sender.ask('ConfigRemoveRequest', keys[index]!))
  await listen(client, [{ ...keys[ITEMS - 1]!, md5: '' }])
  await sender.ask('ConfigRemoveRequest', keys[ITEMS - 1]!)
  const last = await client.next('ConfigChangeNotifyRequest')
  expect(last.body).toMatchObject(keys[ITEMS - 1]!)
  expect(client.waiting).toEqual([])
})
