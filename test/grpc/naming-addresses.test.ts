/** An address that several publish: a list never lacks it while one of them lives. */
import { describe, expect, test } from 'vitest'
import { type Json, serverForThisFile, unique } from '../interface/client.ts'
import { clientsOfTests, instanceOf, type NamingClient } from './naming-fixture.ts'

const PORT = 8080
const WHERE = { ip: '10.0.0.1', port: PORT }
const OLDER = { weight: 3, metadata: { of: 'older' } }

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

interface Publisher {
  readonly leave: () => Promise<unknown>
}

type Kind = (serviceName: string, fields: typeof OLDER) => Promise<Publisher>

const send = (serviceName: string, fields: typeof OLDER, ephemeral: boolean) =>
  waypost.nacos.post('/ns/instance', {
    serviceName,
    ...WHERE,
    weight: fields.weight,
    metadata: JSON.stringify(fields.metadata),
    ephemeral,
  })

const overConnection = async (serviceName: string, fields: typeof OLDER): Promise<NamingClient> => {
  const client = await connected()
  await client.register(serviceName, { ...fields })
  return client
}

const PUBLISHERS: Readonly<Record<string, Kind>> = {
  'a connection that closes': async (serviceName, fields) => {
    const client = await overConnection(serviceName, fields)
    return { leave: () => client.grpc.close() }
  },
  'a connection that deregisters': async (serviceName, fields) => {
    const client = await overConnection(serviceName, fields)
    return { leave: () => client.deregister(serviceName) }
  },
  'a connection that publishes others': async (serviceName, fields) => {
    const client = await connected()
    const instances = [instanceOf({ ...fields }), instanceOf({ ...fields, port: 9 })]
    await client.ask('BatchInstanceRequest', { serviceName, type: 'batchRegisterInstance', instances })
    return { leave: () => client.batch(serviceName, [9]) }
  },
  'a registration over HTTP': async (serviceName, fields) => {
    await send(serviceName, fields, true)
    return { leave: () => waypost.nacos.delete('/ns/instance', { serviceName, ...WHERE }) }
  },
  'a persistent registration': async (serviceName, fields) => {
    await send(serviceName, fields, false)
    return {
      leave: () => waypost.nacos.delete('/ns/instance', { serviceName, ...WHERE, ephemeral: false }),
    }
  },
}

const isHttp = (name: string): boolean => !name.includes('connection')
const pairs = Object.keys(PUBLISHERS).flatMap((older) =>
  Object.keys(PUBLISHERS).flatMap((newer) =>
    isHttp(older) && isHttp(newer) ? [] : [[newer, older] as const],
  ),
)

const atAddress = ({ hosts }: Json): Json => hosts.find(({ port }: Json) => port === PORT)

describe('an address that two publish', () => {
  test.for(pairs)('goes from %s back to %s with one push', async ([newer, older]) => {
    const serviceName = unique('svc')
    const first = await PUBLISHERS[older]!(serviceName, OLDER)
    const second = await PUBLISHERS[newer]!(serviceName, { weight: 1, metadata: { of: 'newer' } })
    const consumer = await connected()
    expect(atAddress(await consumer.subscribe(serviceName))).toMatchObject({ metadata: { of: 'newer' } })
    await consumer.pushed()
    await second.leave()
    // The next list has it already.
    expect(atAddress(await consumer.pushed())).toMatchObject({ healthy: true, ...OLDER })
    await first.leave()
    const gone = await consumer.pushedUntil((list) => atAddress(list) === undefined)
    expect(gone.name).toContain(serviceName)
  })

  test.for(pairs)('stays with %s when %s leaves, and nothing is pushed', async ([newer, older]) => {
    const serviceName = unique('svc')
    const first = await PUBLISHERS[older]!(serviceName, OLDER)
    const second = await PUBLISHERS[newer]!(serviceName, { weight: 1, metadata: { of: 'newer' } })
    const consumer = await connected()
    await consumer.subscribe(serviceName)
    await consumer.pushed()
    const before = (await consumer.query(serviceName)).lastRefTime
    // The other address of a batch changes then.
    const isAlone = older !== 'a connection that publishes others'
    await first.leave()
    await expect.poll(async () => (await shown(serviceName))?.claims, { timeout: 20_000 }).toBe(0)
    const list = await consumer.query(serviceName)
    expect(atAddress(list)).toMatchObject({ metadata: { of: 'newer' } })
    if (isAlone) expect(list.lastRefTime).toBe(before)
    await second.leave()
    const isGone = (service: Json): boolean => atAddress(service) === undefined
    const last = isAlone ? await consumer.pushed() : await consumer.pushedUntil(isGone)
    expect(isGone(last)).toBe(true)
  })
})

test('the timeline says that another publisher took over', async () => {
  const serviceName = unique('svc')
  await overConnection(serviceName, OLDER)
  const second = await overConnection(serviceName, OLDER)
  expect(await shown(serviceName)).toMatchObject({ claims: 1 })
  await second.deregister(serviceName)
  const answer = await waypost.svc.get('/console/timeline', { serviceName })
  expect((await answer.json()).entries).toContainEqual(
    expect.objectContaining({ kind: 'registered', cause: 'claim' }),
  )
})

async function shown(serviceName: string): Promise<Json> {
  const answer = await waypost.svc.get('/console/instances', { serviceName })
  return (await answer.json()).pageItems.find(({ port }: Json) => port === PORT)
}
