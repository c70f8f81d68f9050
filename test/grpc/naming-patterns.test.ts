/** Patterns of names of services that clients of generation 3 watch (grpc-compat.md section 3). */
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique } from '../interface/client.ts'
import type { Body } from '../support/grpc-client.ts'
import { clientsOfTests, type NamingClient } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

const SYNC = 'NamingFuzzyWatchSyncRequest'
const CHANGE = 'NamingFuzzyWatchChangeNotifyRequest'

const create = (serviceName: string, namespaceId = 'public') =>
  waypost.nacos.post('/ns/service', { serviceName, groupName: 'G', namespaceId })

function watch(client: NamingClient, groupKeyPattern: string, more: Body = {}) {
  const request = { groupKeyPattern, receivedGroupKeys: [], watchType: 'WATCH', initializing: true, ...more }
  return client.ask('NamingFuzzyWatchRequest', request)
}

describe('a client that watches a pattern of services', () => {
  test('receives which there are, that these are all, and then new and removed ones', async () => {
    const prefix = unique('app')
    const groupKeyPattern = `public>>G>>${prefix}*`
    await create(`${prefix}-a`)
    await create(`${prefix}-b`, 'dev')
    const client = await connected()
    await watch(client, groupKeyPattern)
    expect((await client.grpc.next(SYNC)).body).toMatchObject({
      syncType: 'FUZZY_WATCH_INIT_NOTIFY',
      groupKeyPattern,
      contexts: [{ serviceKey: `public@@G@@${prefix}-a`, changedType: 'ADD_SERVICE' }],
      totalBatch: 1,
      currentBatch: 1,
    })
    const finish = (await client.grpc.next(SYNC)).body
    expect(finish).toMatchObject({ syncType: 'FINISH_FUZZY_WATCH_INIT_NOTIFY', groupKeyPattern })
    await client.register(`${prefix}-c`, {})
    await create(`${prefix}-d`)
    const added = { serviceKey: `public@@G@@${prefix}-d`, changedType: 'ADD_SERVICE' }
    expect((await client.grpc.next(CHANGE)).body).toMatchObject({
      ...added,
      syncType: 'FUZZY_WATCH_RESOURCE_CHANGED',
    })
    await waypost.nacos.delete('/ns/service', { serviceName: `${prefix}-d`, groupName: 'G' })
    expect((await client.grpc.next(CHANGE)).body).toMatchObject({ ...added, changedType: 'DELETE_SERVICE' })
  })

  test('is notified of a service that an instance makes', async () => {
    const serviceName = unique('app')
    const client = await connected()
    await watch(client, `public>>*>>${serviceName}`)
    await client.grpc.next(SYNC)
    await client.register(serviceName)
    const { body } = await client.grpc.next(CHANGE)
    expect(body).toMatchObject({
      serviceKey: `public@@DEFAULT_GROUP@@${serviceName}`,
      changedType: 'ADD_SERVICE',
    })
  })

  test('learns that the server can do that', async () => {
    const client = await connected({ setup: { abilityTable: {} } })
    const { body } = await client.grpc.next('SetupAckRequest')
    expect(body).toMatchObject({ abilityTable: { fuzzyWatch: true } })
  })
})
