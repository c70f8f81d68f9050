import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const openssl = needTool('openssl')

describe.skipIf(openssl.skip)('a server with a certificate', () => {
  let authority: Authority
  let server: Waypost
  beforeAll(async () => {
    authority = new Authority()
    const { cert, key } = authority.forServer()
    server = await startWaypost({
      settings: {
        'tls-cert': cert,
        'tls-key': key,
        'tls-client-ca': authority.caFile,
        'request-timeout': '5s',
      },
    })
  })
  afterAll(() => server.stop())

  test('speaks TLS with clients of gRPC, also large messages', async () => {
    const client = await connectGrpc(server, { tls: { ca: authority.ca } })
    const item = { dataId: 'large', group: 'G', tenant: '' }
    const content = 'x'.repeat(10 * 1024 * 1024)
    await client.ask('ConfigPublishRequest', { ...item, content })
    const { body } = await client.ask('ConfigQueryRequest', item)
    expect(body['content'] === content).toBe(true)
    await client.close()
  })

  test('takes clients that show a certificate', async () => {
    const files = authority.forUser('shop')
    const tls = {
      ca: authority.ca,
      cert: readFileSync(files.cert, 'utf8'),
      key: readFileSync(files.key, 'utf8'),
    }
    const client = await connectGrpc(server, { tls })
    expect((await client.ask('HealthCheckRequest')).type).toBe('HealthCheckResponse')
    await client.close()
  })

  test('waits for handshakes a while only, and serves others meanwhile', async () => {
    const stalled = Array.from({ length: 50 }, () => connect(server.port + 1_000, '127.0.0.1').resume())
    const ended = stalled.map((socket) => new Promise((resolve) => socket.on('close', resolve)))
    // The begin of a ClientHello.
    for (const socket of stalled.slice(25)) socket.write(Buffer.from('16030100f1010000ed0303', 'hex'))
    for (const socket of stalled) socket.on('error', () => undefined)
    const client = await connectGrpc(server, { tls: { ca: authority.ca } })
    expect(stalled.filter(({ closed }) => closed)).toEqual([])
    await Promise.all(ended)
    await client.close()
  })

  test('does not serve clients that speak without it', async () => {
    await expect(connectGrpc(server)).rejects.toThrow(Error)
  })
})
