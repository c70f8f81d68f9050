import { afterEach } from 'vitest'
import { connectGrpc, type GrpcClient, type GrpcClientOptions } from './grpc-client.ts'
import type { Waypost } from './waypost.ts'

/** Connects clients of a test file over gRPC, which are closed after each test. */
export function grpcClients(server: () => Waypost): (options?: GrpcClientOptions) => Promise<GrpcClient> {
  const open: GrpcClient[] = []
  afterEach(async () => void (await Promise.all(open.splice(0).map((client) => client.close()))))
  return async (options) => {
    const client = await connectGrpc(server(), options)
    open.push(client)
    return client
  }
}
