import { GrpcWire, type Heard } from './grpc-wire.ts'
import { Histogram } from './histogram.ts'
import type { GrpcLoopJob, LoadResult } from './jobs.ts'

/** The port for gRPC is this much above the HTTP port. */
export const GRPC_OFFSET = 1_000
/** How many connections are opened at once. */
const AT_ONCE = 50

function originOf(base: string): string {
  const { hostname, port } = new URL(base)
  return `http://${hostname}:${Number(port) + GRPC_OFFSET}`
}

/** Opens connections and sets them up; `heard` gets what the server sends. */
export async function openGrpcWires(
  base: string,
  count: number,
  heard: (message: Heard, wire: GrpcWire) => void,
): Promise<GrpcWire[]> {
  const wires: GrpcWire[] = []
  while (wires.length < count) {
    // Each begins to connect when it is made.
    const some = Array.from(
      { length: Math.min(AT_ONCE, count - wires.length) },
      () => new GrpcWire(originOf(base)),
    )
    await Promise.all(some.map((wire) => wire.setUp((message) => heard(message, wire))))
    wires.push(...some)
  }
  return wires
}

/** Each connection sends its next request when the last one is answered. */
export async function grpcLoop(job: GrpcLoopJob): Promise<LoadResult> {
  const histogram = new Histogram()
  const wires = await openGrpcWires(job.base, job.connections, () => undefined)
  let [sent, failed] = [0, 0]
  const began = performance.now()
  const run = async (wire: GrpcWire, index: number): Promise<void> => {
    while (sent < job.requests) {
      const number = sent++
      const sentMs = performance.now()
      const { type, body } = requestOf(job, index, number)
      const { body: answer } = await wire.ask(type, body)
      if (!answer.includes('"resultCode":200')) failed++
      histogram.add(performance.now() - sentMs)
    }
  }
  await Promise.all(wires.map(run))
  const elapsedMs = performance.now() - began
  for (const wire of wires) wire.close()
  return { counts: histogram.counts(), answered: histogram.total, failed, elapsedMs }
}

function requestOf({ request, services, name }: GrpcLoopJob, connection: number, number: number) {
  const groupName = 'DEFAULT_GROUP'
  const service = { namespace: 'public', groupName, serviceName: `${name}-${number % services}` }
  switch (request) {
    case 'query':
      return {
        type: 'ServiceQueryRequest',
        body: JSON.stringify({ ...service, cluster: '', healthyOnly: false }),
      }
    case 'batch': {
      const instances = Array.from({ length: BATCH }, (_unused, index) => ({
        ip: `127.${1 + (connection & 127)}.${connection >> 7}.${1 + index}`,
        port: 8080,
        weight: 1,
        healthy: true,
        enabled: true,
        ephemeral: true,
        clusterName: 'DEFAULT',
        metadata: { version: String(number), zone: 'a' },
      }))
      const own = { serviceName: `${name}-${connection}`, type: 'batchRegisterInstance', instances }
      return { type: 'BatchInstanceRequest', body: JSON.stringify({ ...service, ...own }) }
    }
  }
}

/** The instances of one batch. */
const BATCH = 50
