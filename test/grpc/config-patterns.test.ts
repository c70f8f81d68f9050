/** Patterns of names that clients of generation 3 watch (grpc-compat.md section 4). */
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique } from '../interface/client.ts'
import type { Body, GrpcClient, Spoken } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

const waypost = serverForThisFile()
const connect = grpcClients(() => waypost.server)

const SYNC = 'ConfigFuzzyWatchSyncRequest'
const CHANGE = 'ConfigFuzzyWatchChangeNotifyRequest'

const publish = (dataId: string, tenant = '') =>
  waypost.nacos.post('/cs/configs', { dataId, group: 'G', tenant, content: unique('content') })
const remove = (dataId: string) => waypost.nacos.delete('/cs/configs', { dataId, group: 'G' })

async function watch(client: GrpcClient, groupKeyPattern: string, more: Body = {}): Promise<Spoken> {
  const request = { groupKeyPattern, receivedGroupKeys: [], watchType: 'WATCH', initializing: true, ...more }
  return client.ask('ConfigFuzzyWatchRequest', request)
}

const done = { type: 'ConfigFuzzyWatchResponse', body: { resultCode: 200, errorCode: 0, success: true } }

describe('a client that watches a pattern', () => {
  test('receives what there is, that this is all, and then new and deleted items', async () => {
    const prefix = unique('app')
    const pattern = `public>>G>>${prefix}*`
    await publish(`${prefix}-a`)
    await publish(`${prefix}-b`, 'dev')
    const client = await connect()
    expect(await watch(client, pattern)).toMatchObject(done)
    expect((await client.next(SYNC)).body).toMatchObject({
      syncType: 'FUZZY_WATCH_INIT_NOTIFY',
      groupKeyPattern: pattern,
      contexts: [{ groupKey: `${prefix}-a+G+public`, changedType: 'ADD_CONFIG' }],
      totalBatch: 1,
      currentBatch: 1,
    })
    expect((await client.next(SYNC)).body).toMatchObject({
      syncType: 'FINISH_FUZZY_WATCH_INIT_NOTIFY',
      groupKeyPattern: pattern,
    })
    await publish(`${prefix}-c`)
    expect((await client.next(CHANGE)).body).toMatchObject({
      groupKey: `${prefix}-c+G+public`,
      changeType: 'CONFIG_CHANGED',
    })
    // Another version is no news: patterns are about names.
    await publish(`${prefix}-c`)
    await remove(`${prefix}-c`)
    expect((await client.next(CHANGE)).body).toMatchObject({ changeType: 'DELETE_CONFIG' })
    expect(client.waiting).toEqual([])
  })
})

test('a connection watches so many patterns and no more', async () => {
  const client = await connect()
  for (let index = 0; index < 100; index++) await watch(client, `dev>>G>>none-${index}`)
  expect(await watch(client, 'dev>>G>>one-more')).toMatchObject({
    type: 'ConfigFuzzyWatchResponse',
    body: { resultCode: 500, errorCode: 50310, success: false },
  })
  expect(await watch(client, 'dev>>G>>none-7')).toMatchObject(done)
})
