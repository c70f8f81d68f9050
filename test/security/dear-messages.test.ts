/** Messages of many keys over gRPC: their values take many times the bytes of their text. */
import { expect, test } from 'vitest'
import { connectGrpc } from '../support/grpc-client.ts'
import { startWaypost } from '../support/waypost.ts'

const CLIENTS = 8
const KEYS = 250_000

test('eight clients with 250,000 keys each do not end a server with a heap of 128 MiB', async () => {
  const waypost = await startWaypost({ env: { NODE_OPTIONS: '--max-old-space-size=128' } })
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectGrpc(waypost)))
  const instances = Array.from({ length: KEYS }, (_, at) => ({ [`key${at}`]: 1 }))
  const body = { serviceName: 's', groupName: 'g', type: 'batchRegisterInstance', instances }
  const outcomes = await Promise.allSettled(clients.map((client) => client.ask('BatchInstanceRequest', body)))
  // Bodies without room are refused before they are read.
  const read = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  expect(read.length).toBeGreaterThan(0)
  for (const answer of read)
    expect(answer).toMatchObject({ type: 'BatchInstanceResponse', body: { errorCode: 400 } })
  const instance = { ip: '10.0.0.1', port: 80 }
  const small = { serviceName: 's', groupName: 'g', type: 'registerInstance', instance }
  expect(await clients[0]!.ask('InstanceRequest', small)).toMatchObject({ body: { resultCode: 200 } })
  for (const client of clients) await client.close()
  expect(await waypost.stop()).toBe(0)
}, 120_000)
