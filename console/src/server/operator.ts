import type { ClusterMember } from './answers.ts'
import { request, requestText } from './request.ts'

const OPERATOR = 'svc/v1/ns/operator'

/** The switches of a running server, by name. */
export type Switches = Readonly<Record<string, unknown>>

export const readSwitches = (): Promise<Switches> => request('GET', `${OPERATOR}/switches`)

/** Sets a switch; `isStored`: also after a restart and on all servers. */
export const setSwitch = (entry: string, value: string, isStored: boolean): Promise<string> =>
  requestText('PUT', `${OPERATOR}/switches`, { form: { entry, value, debug: !isStored } })

/** A server of the installation. */
export interface Server {
  readonly ip: string
  readonly servePort: number
  readonly site: string
  readonly alive: boolean
  /** Whether it replied when it was last asked. */
  readonly replies: boolean
  /** When any server last got an answer from it; 0 where none remembers. */
  readonly lastRefTime: number
  readonly key: string
}

export const readServers = (): Promise<{ servers: readonly Server[] }> =>
  request('GET', `${OPERATOR}/servers`)

/** All servers with what each reports of itself. */
export const readCluster = (): Promise<{ members: readonly ClusterMember[] }> =>
  request('GET', 'svc/v1/operator/cluster')

/** What the server measures of itself. */
export interface Figures {
  readonly status: string
  readonly serviceCount?: number
  readonly instanceCount?: number
  readonly subscribeCount?: number
  readonly cpu?: number
  readonly load?: number
  readonly mem?: number
}

export const readFigures = (): Promise<Figures> => request('GET', `${OPERATOR}/metrics`)
