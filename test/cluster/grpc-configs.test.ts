/** Configurations over gRPC where the clients are connected to several servers. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { clusterForTests } from '../support/cluster.ts'
import { until } from '../interface/client.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

const KEY = { dataId: 'over-grpc', group: 'G' }

describeOnEtcd('two servers with clients that use gRPC', 60_000, () => {
  const cluster = clusterForTests({ servers: 2 })
  let listener: GrpcClient
  let other: GrpcClient

  beforeAll(async () => {
    const [one, two] = cluster.servers
    listener = await connectGrpc(one!, { setup: { clientVersion: 'Nacos-Go-Client:v2.3.5' } })
    other = await connectGrpc(two!)
  }, ETCD_HOOK_MS)
  afterEach(async () => {
    await other.ask('ConfigRemoveRequest', KEY)
    // A pattern at the other server would find what is still there.
    await until(
      () => listener.ask('ConfigQueryRequest', KEY),
      ({ body }) => body['resultCode'] !== 200,
    )
  })
  afterAll(async () => {
    await Promise.all([listener?.close(), other?.close()])
  })

  test('a listener on one is notified of a publish on the other, and is listed there with its library', async () => {
    await listener.ask('ConfigBatchListenRequest', { configListenContexts: [{ ...KEY, md5: '' }] })
    await other.ask('ConfigPublishRequest', { ...KEY, content: 'x' })
    expect((await listener.next('ConfigChangeNotifyRequest')).body).toMatchObject(KEY)
    const names = new URLSearchParams(KEY).toString()
    const shown = async () =>
      (await fetch(`${cluster.servers[1]!.url}/svc/v1/console/config/watchers?${names}`)).json()
    await expect.poll(shown).toMatchObject({
      watchers: [{ ip: '127.0.0.1', agent: 'Nacos-Go-Client:v2.3.5', via: 'stream', upToDate: false }],
      missingServers: [],
    })
  })

  test('a pattern that is watched on one finds a new item on the other', async () => {
    const request = { groupKeyPattern: 'public>>G>>over-*', watchType: 'WATCH', initializing: true }
    await listener.ask('ConfigFuzzyWatchRequest', request)
    await other.ask('ConfigPublishRequest', { ...KEY, content: 'x' })
    expect((await listener.next('ConfigFuzzyWatchChangeNotifyRequest')).body).toMatchObject({
      groupKey: 'over-grpc+G+public',
      changeType: 'CONFIG_CHANGED',
    })
  })
})
