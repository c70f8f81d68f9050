/** A right that ends at one server ends for the connections of all (docs/security.md). */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { instanceOf, portsOf } from '../grpc/naming-fixture.ts'
import { type Json, unique, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

const PASSWORD = 'of-the-user'

describeOnEtcd('rights that end on one of two servers', 90_000, () => {
  const cluster = clusterForTests({ servers: 2, settings: { auth: 'on' } })
  /** The token of the administrator. */
  let admin: string | undefined

  /** `call`: method and path. */
  const send = async (server: number, call: string, form: Record<string, string> = {}) => {
    const [method = '', path = ''] = call.split(' ')
    const inQuery = method === 'GET' || method === 'DELETE'
    const query = inQuery ? `?${new URLSearchParams(form)}` : ''
    const response = await fetch(`${cluster.servers[server]!.url}/svc/v1${path}${query}`, {
      method,
      headers: admin === undefined ? {} : { authorization: `Bearer ${admin}` },
      ...(inQuery ? {} : { body: new URLSearchParams(form) }),
    })
    const text = await response.text()
    expect(response.status, `${call}: ${text}`).toBe(200)
    return text
  }

  const tokenOf = async (username: string, password: string): Promise<string> =>
    JSON.parse(await send(0, 'POST /auth/login', { username, password })).accessToken

  beforeAll(async () => {
    const code = /"code":"([^"]+)"/.exec(cluster.servers[0]!.output())?.[1] ?? ''
    await send(0, 'POST /auth/users/admin', { code, password: 'secret' })
    admin = await tokenOf('nacos', 'secret')
  }, ETCD_HOOK_MS)

  const newUser = async (resources: readonly string[]): Promise<string> => {
    const username = unique('user')
    await send(1, 'POST /auth/users', { username, password: PASSWORD })
    await send(1, 'POST /auth/roles', { username, role: `${username}s` })
    for (const resource of resources)
      await send(1, 'POST /auth/permissions', { role: `${username}s`, resource, action: 'rw' })
    return username
  }

  /** A client of the first server, signed in, whose rights have come to it. */
  const connect = async (username: string, ...services: string[]): Promise<GrpcClient> => {
    const accessToken = await tokenOf(username, PASSWORD)
    const client = await connectGrpc(cluster.servers[0]!, { headers: { accessToken } })
    for (const serviceName of services)
      await until(
        () => register(client, serviceName),
        (body) => body['resultCode'] === 200,
      )
    return client
  }

  const register = async (client: GrpcClient, serviceName: string) => {
    const names = { namespace: 'public', groupName: 'DEFAULT_GROUP', serviceName }
    const request = { ...names, type: 'registerInstance', instance: instanceOf({ port: 1 }) }
    return (await client.ask('InstanceRequest', request)).body
  }

  const listed = async (server: number, serviceName: string): Promise<number[]> =>
    portsOf(JSON.parse(await send(server, 'GET /ns/instance/list', { serviceName })) as Json)

  const gone = async (serviceName: string): Promise<void> => {
    for (const server of [0, 1])
      await until(
        () => listed(server, serviceName),
        (ports) => ports.length === 0,
      )
  }

  test('a permission that is taken takes the instances in that service, and brings them back', async () => {
    const [one, two] = [unique('one'), unique('two')]
    const resources = [`*:*:naming/${one}`, `*:*:naming/${two}`]
    const username = await newUser(resources)
    const client = await connect(username, one, two)
    const grant = { role: `${username}s`, resource: resources[0]!, action: 'rw' }
    await send(1, 'DELETE /auth/permissions', grant)
    await gone(one)
    expect(await listed(0, two)).toEqual([1])
    await send(1, 'POST /auth/permissions', grant)
    await until(
      () => listed(1, one),
      (ports) => ports.length === 1,
    )
    await client.close()
  })

  test('a user who is removed loses the instances, and the connection ends', async () => {
    const service = unique('gone')
    const username = await newUser(['*:*:*'])
    const client = await connect(username, service)
    const clients = JSON.parse(await send(1, 'GET /console/clients', { search: username }))
    expect(clients.pageItems).toMatchObject([{ id: client.connectionId, username }])
    await send(1, 'DELETE /auth/users', { username })
    await client.ended
    await gone(service)
  })

  test('a leaked key ends the connections, and their instances stay', async () => {
    const service = unique('leak')
    const username = await newUser(['*:*:*'])
    const client = await connect(username, service)
    await send(1, 'POST /auth/keys/rotate', { leaked: 'true' })
    await client.ended
    await sleep(1_000)
    admin = undefined
    admin = await tokenOf('nacos', 'secret')
    for (const server of [0, 1]) expect(await listed(server, service)).toEqual([1])
    const again = await connect(username, service)
    expect(await listed(1, service)).toEqual([1])
    await again.close()
    await gone(service)
  })
})
