/** What the tests of naming over gRPC share: clients of the server of a file, and what they send. */
import { expect } from 'vitest'
import type { Examined, Json } from '../interface/client.ts'
import type { Body, GrpcClient, GrpcClientOptions } from '../support/grpc-client.ts'
import { grpcClients } from '../support/grpc-clients.ts'

/** The fields of an instance that a test names. */
export type InstanceFields = Record<string, string | number | boolean | null | Record<string, string>>

/** An instance as clients send it: the fields that a test does not name are those of the Java client. */
export function instanceOf(fields: InstanceFields): Body {
  return {
    instanceId: null,
    ip: '10.0.0.1',
    port: 8080,
    weight: 1,
    healthy: true,
    enabled: true,
    ephemeral: true,
    clusterName: 'DEFAULT',
    serviceName: null,
    metadata: {},
    instanceHeartBeatInterval: 5000,
    ipDeleteTimeout: 30000,
    ...fields,
  }
}

/** A client of naming. */
export class NamingClient {
  readonly grpc: GrpcClient

  constructor(grpc: GrpcClient) {
    this.grpc = grpc
  }

  /** Sends a request about a service, and answers what a successful answer has. */
  async ask(type: string, body: Body): Promise<Json> {
    const { body: answer } = await this.grpc.ask(type, {
      namespace: 'public',
      groupName: 'DEFAULT_GROUP',
      ...body,
    })
    expect(answer).toMatchObject({ resultCode: 200, errorCode: 0, success: true })
    expect(nullsIn(answer)).toEqual([])
    return answer
  }

  register(serviceName: string, fields: InstanceFields = {}): Promise<Json> {
    return this.ask('InstanceRequest', {
      serviceName,
      type: 'registerInstance',
      instance: instanceOf(fields),
    })
  }

  deregister(serviceName: string, fields: InstanceFields = {}): Promise<Json> {
    return this.ask('InstanceRequest', {
      serviceName,
      type: 'deregisterInstance',
      instance: instanceOf(fields),
    })
  }

  batch(serviceName: string, ports: readonly number[]): Promise<Json> {
    const instances = ports.map((port) => instanceOf({ port }))
    return this.ask('BatchInstanceRequest', { serviceName, type: 'batchRegisterInstance', instances })
  }

  async query(serviceName: string, more: Body = {}): Promise<Json> {
    return (await this.ask('ServiceQueryRequest', { serviceName, cluster: '', ...more })).serviceInfo
  }

  async subscribe(serviceName: string, more: Body = {}): Promise<Json> {
    const body = { serviceName, subscribe: true, clusters: '', ...more }
    return (await this.ask('SubscribeServiceRequest', body)).serviceInfo
  }

  /** The service of the next push. */
  async pushed(): Promise<Json> {
    const { body } = await this.grpc.next('NotifySubscriberRequest')
    expect(body['requestId']).toEqual(expect.any(String))
    expect(nullsIn(body)).toEqual([])
    return body['serviceInfo']
  }

  /** The first push that is so. */
  async pushedUntil(holds: (service: Json) => boolean): Promise<Json> {
    for (;;) {
      const service = await this.pushed()
      if (holds(service)) return service
    }
  }
}

/** Clients of the server of a test file, which are closed after each test. */
export function clientsOfTests(examined: Examined): (options?: GrpcClientOptions) => Promise<NamingClient> {
  const connect = grpcClients(() => examined.server)
  return async (options) => new NamingClient(await connect(options))
}

/** The ports of the hosts of a list, sorted. */
export function portsOf(list: Json): number[] {
  return list.hosts.map(({ port }: { port: number }) => port).sort((a: number, b: number) => a - b)
}

/** The paths of what is null in an answer: clients refuse such answers. */
function nullsIn(value: unknown, path = ''): string[] {
  if (value === null) return [path]
  if (typeof value !== 'object') return []
  return Object.entries(value as object).flatMap(([name, each]) => nullsIn(each, `${path}.${name}`))
}
