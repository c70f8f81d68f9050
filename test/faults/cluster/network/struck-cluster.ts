import { type Etcd, startEtcd } from '../../../support/etcd.ts'
import { freePort, startWaypost, type Waypost } from '../../../support/waypost.ts'
import { Gate, OPEN, type Passing } from './gate.ts'
import { ownerOf } from './socket-owner.ts'

/**
 * Three servers on three members of etcd. Between each server and each member of etcd, and before the port for peers and that for
 * gRPC of each server, there is a gate. The servers advertise loopback addresses of their own (127.0.1.n), where the gates are, so nothing
 * of a server knows about them, and no root is needed.
 */
export interface StruckCluster {
  readonly etcd: Etcd
  readonly servers: readonly StruckServer[]
  /** Ends everything. */
  stop(): Promise<void>
}

const SERVERS = 3
const GRPC_OFFSET = 1_000
/** The name of all clients of gRPC, for gates. */
const CLIENTS = 'clients'

/** One server, and what can be done to it. */
export class StruckServer {
  readonly name: string
  readonly index: number
  readonly url: string
  #process: Waypost
  readonly #etcdGates: readonly Gate[]
  readonly #clientGate: Gate
  /** The gates of all servers, by the name of the server behind each. */
  readonly #peerGates: ReadonlyMap<string, Gate>

  constructor(
    place: Pick<Place, 'index' | 'name'>,
    process: Waypost,
    gates: {
      readonly etcd: readonly Gate[]
      readonly clients: Gate
      readonly peers: ReadonlyMap<string, Gate>
    },
  ) {
    this.name = place.name
    this.index = place.index
    this.url = process.url
    this.#process = process
    this.#etcdGates = gates.etcd
    this.#clientGate = gates.clients
    this.#peerGates = gates.peers
  }

  /** Its name for the others. */
  get memberId(): string {
    return `${addressOf(this.index)}:${this.#process.port}`
  }

  /** Where clients of gRPC connect. */
  get grpcPort(): number {
    return this.#clientGate.port
  }

  get pid(): number {
    return this.#process.pid
  }

  output(): string {
    return this.#process.output()
  }

  /** Stops it with SIGTERM. */
  async stop(): Promise<void> {
    await this.#process.stop()
  }

  async kill(): Promise<void> {
    await this.#process.kill()
  }

  /** Starts it again, and waits until it answers. */
  async restart(): Promise<void> {
    this.#process = await this.#process.restart()
  }

  freeze(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** Decides what passes between this server and etcd. */
  toEtcd(passing: Passing): void {
    for (const gate of this.#etcdGates) gate.set(this.name, passing)
  }

  /** Decides what passes between this server and its clients of gRPC. */
  toClients(passing: Passing): void {
    this.#clientGate.set(CLIENTS, passing)
  }

  /** Ends the connections to etcd. New ones are possible. */
  breakEtcd(): void {
    for (const gate of this.#etcdGates) gate.breakAll(this.name)
  }

  /** Decides what passes of what this server asks the others. */
  toPeers(passing: Passing): void {
    for (const [name, gate] of this.#peerGates) if (name !== this.name) gate.set(this.name, passing)
  }

  /** Decides what passes of what the others ask this server. */
  fromPeers(passing: Passing): void {
    for (const name of this.#peerGates.keys())
      if (name !== this.name) this.#peerGates.get(this.name)!.set(name, passing)
  }

  /** Opens every gate. */
  heal(): void {
    this.toEtcd(OPEN)
    this.toClients(OPEN)
    this.toPeers(OPEN)
    this.fromPeers(OPEN)
  }
}

/** Starts everything and waits until all servers answer. */
export async function startStruckCluster(): Promise<StruckCluster> {
  const etcd = await startEtcd({ members: 3 })
  const servers: StruckServer[] = []
  const gates: Gate[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map(async (server) => server.kill()))
    await Promise.all(gates.map(async (gate) => gate.close()))
    await etcd.stop()
  }
  try {
    const peers = new Map<string, Gate>()
    const places = await placesFor(SERVERS)
    const whoIs = (port: number): string | undefined => {
      const pid = ownerOf(
        port,
        servers.map((server) => server.pid),
      )
      return servers.find((server) => server.pid === pid)?.name
    }
    for (const { name, address, peerPort: port } of places) {
      const gate = await Gate.open({ host: address, port, target: { host: '127.0.0.1', port }, whoIs })
      gates.push(gate)
      peers.set(name, gate)
    }
    const start = async (place: Place): Promise<void> => {
      const own = await etcdGates(etcd.endpoints, place.name)
      gates.push(...own)
      const server = await startWaypost({ settings: settingsOf(place, own) })
      const clients = await gateOfClients(server)
      gates.push(clients)
      servers.push(new StruckServer(place, server, { etcd: own, clients, peers }))
    }
    for (const place of places) await start(place)
    return { etcd, servers, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Place {
  readonly index: number
  readonly name: string
  /** Where the others reach it. */
  readonly address: string
  readonly peerPort: number
}

async function placesFor(count: number): Promise<Place[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports].map((peerPort, index) => {
    return { index, name: `server-${index + 1}`, address: addressOf(index), peerPort }
  })
}

/** Gates to etcd that only this server uses. */
async function etcdGates(endpoints: readonly string[], name: string): Promise<Gate[]> {
  const open = async (endpoint: string): Promise<Gate> => {
    const { hostname, port } = new URL(endpoint)
    return Gate.open({
      host: '127.0.0.1',
      port: 0,
      target: { host: hostname, port: Number(port) },
      whoIs: () => name,
    })
  }
  return Promise.all(endpoints.map(open))
}

/** The gate before the port for gRPC, which clients connect to instead. */
async function gateOfClients({ port }: Waypost): Promise<Gate> {
  const target = { host: '127.0.0.1', port: port + GRPC_OFFSET }
  return Gate.open({ host: '127.0.0.1', port: 0, target, whoIs: () => CLIENTS })
}

function settingsOf({ address, peerPort }: Place, gates: readonly Gate[]) {
  return {
    store: 'etcd',
    'etcd-endpoints': gates.map(({ port }) => `http://127.0.0.1:${port}`).join(','),
    'etcd-prefix': 'faults',
    'advertise-host': address,
    'peer-port': peerPort,
  }
}

function addressOf(index: number): string {
  return `127.0.1.${index + 1}`
}
