import { hostPort } from '../../core/text/ip-address.ts'
import { hasAdministrator } from '../../core/access/access-commands.ts'
import type { ClusterMember } from '../../core/cluster/members/member-view.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { serverStatus } from '../../core/operator/server-status.ts'
import { setSwitch } from '../../core/operator/set-switch.ts'
import { MEMBER } from '../../core/cluster/members/member-records.ts'
import { readSwitch } from '../../core/switches/read-switch.ts'
import type { ServerStatus, Switches, SwitchPatch } from '../../core/switches/switches.ts'
import type { State } from '../../core/engine/state.ts'
import { Refusal } from '../../core/refusal.ts'
import { Guard, type Resource } from '../guard.ts'

/** One server of this installation. */
export interface Member {
  readonly ip: string
  readonly port: number
  readonly site: string
  readonly alive: boolean
  /** Whether it replied when it was last asked. One that was killed is `alive` until its lease ends. */
  readonly replies: boolean
  /** When any of the servers last got an answer from it, epoch ms; 0 where no running server remembers. */
  readonly lastRefMs: number
}

/** The answer of the leader query (interface.md, Leader). */
export interface LeaderView {
  /** Until the next heartbeat, ms. */
  readonly heartbeatDueMs: number
  /** `<ip>:<port>` */
  readonly ip: string
  /** Until the leadership would lapse without a heartbeat, ms. */
  readonly leaderDueMs: number
  readonly state: 'LEADER'
  readonly term: number
  readonly voteFor: string
}

/** The load of the machine: cpu and mem from 0 to 1. */
export interface LoadReading {
  readonly cpu: number
  readonly load: number
  readonly mem: number
}

/** A page of measurements, for a monitoring system. */
export interface Measurements {
  readonly contentType: string
  readonly body: string
}

interface OperatorParts {
  readonly guard: Guard
  readonly state: Pick<
    State,
    'switches' | 'services' | 'instancesInAll' | 'recordCount' | 'record' | 'records'
  >
  readonly engine: Pick<Engine, 'execute'>
  readonly members: () => readonly Member[]
  readonly leader: () => LeaderView
  readonly cluster: () => Promise<readonly ClusterMember[]>
  readonly machine: () => LoadReading
  readonly subscriberCount: () => number
  /** The services and instances that this server judges. */
  readonly responsible: () => Responsible
  /** The clients of naming, as the Java server counts them. */
  readonly clientCounts: () => Promise<ClientCounts>
  readonly scrape: () => Promise<Measurements>
  /** The same under the names of the Java server. */
  readonly scrapeForNacos: () => Promise<Measurements>
  readonly backups: BackupMaker
  /** Whether callers must sign in. */
  readonly isAuthenticationOn: boolean
}

/** Makes backups of the store on the machine of the server. */
export interface BackupMaker {
  /** Resolves with the backup, once it is verified. */
  make(label: string): Promise<object>
  /** How far a running one has come. */
  progress(): object | undefined
}

/** How many services, and instances in them. */
export interface Responsible {
  readonly services: number
  readonly instances: number
}

/** How many clients there are. */
export interface ClientCounts {
  /** Connections for naming: to this server, and to others if they have registered instances. */
  readonly connections: number
  /** Addresses that are registered without a connection, by whether they beat or persist. */
  readonly ephemeralAddresses: number
  readonly persistentAddresses: number
  /** The clients that this server judges, its own connections included. */
  readonly responsible: number
}

/** Counts of a server. */
export interface ServerCounts extends LoadReading {
  readonly status: ServerStatus
  readonly serviceCount: number
  readonly instanceCount: number
  readonly subscriberCount: number
  readonly responsible: Responsible
}

/** The report of the server: everybody gets its status. */
export type StatusAndCounts = ServerCounts | Pick<ServerCounts, 'status'>

/** A new value of a switch; `debug`: for this server only, until it restarts. */
export interface SwitchRequest {
  readonly entry: string
  readonly value: string
  readonly debug: boolean
}

const READ = { action: 'read', resource: 'operator' } as const
const WRITE = { action: 'write', resource: 'operator' } as const
const READ_METRICS = { action: 'read', resource: 'metrics' } as const
const READ_BACKUP = { action: 'read', resource: 'backup' } as const
const WRITE_BACKUP = { action: 'write', resource: 'backup' } as const
const PUBLIC = { action: 'read', resource: 'public' } as const

/** Makes the operator functions. */
export function operatorOperations(parts: OperatorParts) {
  const { guard, state, engine } = parts
  const resources = (): Resource[] => [{ kind: 'operator' }]
  const backup = (): Resource[] => [{ kind: 'backup' }]
  return {
    /** `enableAuthentication` tells whether callers must sign in: the setting `auth` decides that, not the switch. */
    switches: guard.operation({
      permission: READ,
      resources,
      run: (): Switches => ({ ...state.switches, enableAuthentication: parts.isAuthenticationOn }),
    }),
    setSwitch: guard.operation({
      permission: WRITE,
      audit: { operation: 'set switch', item: ({ entry }) => entry },
      resources,
      run: (request: SwitchRequest) => engine.execute(switchCommand(state, request)),
    }),
    ...figureOperations(parts),
    /** All servers, or only the live ones. */
    members: guard.operation({
      permission: READ,
      resources,
      run: ({ onlyAlive }: { onlyAlive: boolean }) =>
        parts.members().filter(({ alive }) => alive || !onlyAlive),
    }),
    leader: guard.operation({ permission: READ, resources, run: () => parts.leader() }),
    /** All servers, each with its own report. */
    cluster: guard.operation({ permission: READ, resources, run: () => parts.cluster() }),
    scrape: guard.operation({
      permission: READ_METRICS,
      resources: (): Resource[] => [{ kind: 'metrics' }],
      run: () => parts.scrape(),
    }),
    scrapeForNacos: guard.operation({
      permission: READ_METRICS,
      resources: (): Resource[] => [{ kind: 'metrics' }],
      run: () => parts.scrapeForNacos(),
    }),
    makeBackup: guard.operation({
      permission: WRITE_BACKUP,
      audit: { operation: 'make backup', item: ({ label }) => label },
      resources: backup,
      run: ({ label }: { label: string }) => parts.backups.make(label),
    }),
    backupProgress: guard.operation({
      permission: READ_BACKUP,
      resources: backup,
      run: () => parts.backups.progress(),
    }),
  }
}

function switchCommand(
  state: OperatorParts['state'],
  { entry, value, debug }: SwitchRequest,
): ReturnType<typeof setSwitch> {
  if (debug) checkOneForAll(state, readSwitch(entry, value))
  return setSwitch(entry, value, debug)
}

/** The server that judges a silence is rarely the one that has answered the client. */
function checkOneForAll(state: OperatorParts['state'], { clientBeatInterval }: SwitchPatch): void {
  if (clientBeatInterval === undefined || clientBeatInterval === state.switches.clientBeatInterval) return
  if (state.recordCount(MEMBER) < 2) return
  const message = 'The switch clientBeatInterval is one for all servers, so debug must be false.'
  throw new Refusal('invalid-parameter', message, { parameter: 'debug', allowed: 'false' })
}

/** Operations for clients and monitoring. */
function figureOperations(parts: OperatorParts) {
  const { guard, state } = parts
  return {
    /** Open to everybody, because clients ask for it before they sign in. */
    needsSignIn: guard.operation({
      permission: PUBLIC,
      resources: () => [],
      run: (): boolean => parts.isAuthenticationOn,
    }),
    /** Whether nobody can sign in yet. Open to everybody, because a console says so before anybody signs in. */
    needsAdministrator: guard.operation({
      permission: PUBLIC,
      resources: () => [],
      run: (): boolean => parts.isAuthenticationOn && !hasAdministrator(state),
    }),
    /** Where the servers are. Open to everybody, because clients with an `endpoint` ask for it before they sign in. */
    addresses: guard.operation({ permission: PUBLIC, resources: () => [], run: () => addressesOf(parts) }),
    clientCounts: guard.operation({
      permission: READ_METRICS,
      resources: (): Resource[] => [{ kind: 'metrics' }],
      run: () => parts.clientCounts(),
    }),
    /** Open to everybody, because clients ask whether the server works; more than that needs the permission for metrics. */
    figures: guard.operation({
      permission: PUBLIC,
      resources: () => [],
      run: (_: object, caller): StatusAndCounts =>
        guard.shows(caller, 'read', { kind: 'metrics' })
          ? figuresOf(parts)
          : { status: serverStatus(state.switches) },
    }),
  }
}

/** `host:port` of the live servers, in a fixed order; of all servers, if all seem to be away. */
function addressesOf({ members }: OperatorParts): string[] {
  const all = members()
  const alive = all.filter((member) => member.alive)
  return (alive.length > 0 ? alive : all).map(({ ip, port }) => hostPort(ip, port)).toSorted()
}

/** The measurements for everybody: for an address that only the monitoring system reaches. */
export function openScrape(scrape: OperatorParts['scrape']) {
  return new Guard().operation({ permission: PUBLIC, resources: () => [], run: () => scrape() })
}

function figuresOf({ state, machine, subscriberCount, responsible }: OperatorParts): ServerCounts {
  const { cpu, load, mem } = machine()
  return {
    status: serverStatus(state.switches),
    serviceCount: state.services.size,
    instanceCount: state.instancesInAll,
    subscriberCount: subscriberCount(),
    responsible: responsible(),
    cpu,
    load,
    mem,
  }
}
