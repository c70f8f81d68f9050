import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectGrpc } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

let server: Waypost
beforeAll(async () => void (server = await startWaypost()))
afterAll(() => server.stop())

describe('a client that connects', () => {
  test('receives the id of its connection, and that abilities are negotiated', async () => {
    const client = await connectGrpc(server, { setup: false })
    const { type, body } = await client.ask('ServerCheckRequest', { requestId: 'x' })
    expect(type).toBe('ServerCheckResponse')
    expect(body).toEqual({
      resultCode: 200,
      errorCode: 0,
      success: true,
      requestId: 'x',
      connectionId: expect.stringMatching(/^\d+_127\.0\.0\.1_\d+$/) as string,
      supportAbilityNegotiation: true,
    })
    await client.close()
  })

  test('gets the abilities of the server if it sends its own, even if they are none', async () => {
    const client = await connectGrpc(server, { setup: { abilityTable: {} } })
    const { body } = await client.next('SetupAckRequest')
    expect(body).toMatchObject({ abilityTable: expect.any(Object) as object })
    await client.close()
  })

  test('gets no abilities if it sends none', async () => {
    const client = await connectGrpc(server)
    await client.ask('HealthCheckRequest')
    expect(client.waiting).toEqual([])
    await client.close()
  })
})

test('a server without a port for gRPC listens on none', async () => {
  const other = await startWaypost({ settings: { 'grpc-port': 0 } })
  await expect(connectGrpc(other)).rejects.toThrow('ECONNREFUSED')
  await other.stop()
})

test('a server that stops ends its connections', async () => {
  const other = await startWaypost()
  const client = await connectGrpc(other)
  await Promise.all([other.stop(), client.ended])
})
