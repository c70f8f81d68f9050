/** Clients of gRPC whose certificates say who they are, while authentication is on. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { Authority } from '../support/certificates.ts'
import type { GrpcClient } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'
import { needTool } from '../support/need-tool.ts'

const openssl = needTool('openssl')

describe.skipIf(openssl.skip)('a client with a certificate', () => {
  let authority: Authority
  let managed: ManagedWaypost
  const connect = grpcClients(() => managed.waypost)
  beforeAll(async () => {
    authority = new Authority()
    const { cert, key } = authority.forServer()
    const settings = { 'tls-cert': cert, 'tls-key': key, 'tls-client-ca': authority.caFile }
    managed = await startManaged({ settings }, authority.caFile)
    const permissions = { ':G:config/*': 'rw' } as const
    await managed.addUser({ username: 'shop', password: 'secret', permissions })
  }, 60_000)
  afterAll(() => managed.waypost.stop())

  async function connectAs(username: string | undefined): Promise<GrpcClient> {
    const files = username === undefined ? undefined : authority.forUser(username)
    const shown = files && { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
    return connect({ tls: { ca: authority.ca, ...shown } })
  }

  const publish = async (client: GrpcClient, headers: Record<string, string> = {}) =>
    (await client.ask('ConfigPublishRequest', { dataId: 'item', group: 'G', content: 'x' }, headers)).body

  test('needs no token', async () => {
    expect(await publish(await connectAs('shop'))).toMatchObject({ success: true })
  })

  test('is who its token says, and nobody with a wrong one', async () => {
    expect(await publish(await connectAs('shop'), { accessToken: 'wrong' })).toMatchObject({ errorCode: 403 })
  })

  test.each(['unknown', undefined])('of a user that is not there (%s) may do nothing', async (username) => {
    expect(await publish(await connectAs(username))).toMatchObject({ errorCode: 403 })
  })

  test('is nobody any more once its user is removed', async () => {
    await managed.addUser({ username: 'guest', password: 'secret', permissions: { ':G:config/*': 'rw' } })
    const client = await connectAs('guest')
    expect(await publish(client)).toMatchObject({ success: true })
    await managed.ask('DELETE', '/svc/v1/auth/users?username=guest')
    // Soon the connection ends too, so this call may be too late for an answer.
    const publishing = publish(client).then(
      (body) => body['errorCode'],
      () => 'no answer',
    )
    expect([403, 'no answer']).toContain(await publishing)
    await client.ended
    expect(await publish(await connectAs('guest'))).toMatchObject({ errorCode: 403 })
  })
})
