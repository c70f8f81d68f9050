import type { ClusterMember, Figures, Server } from './answers.ts'
import { request, requestText } from './request.ts'

export type { Figures, Server } from './answers.ts'

const OPERATOR = 'svc/v1/ns/operator'

/** The switches of a running server, by name. */
export type Switches = Readonly<Record<string, unknown>>

export const readSwitches = (): Promise<Switches> => request('GET', `${OPERATOR}/switches`)

/** Sets a switch; `isStored`: also after a restart and on all servers. */
export const setSwitch = (entry: string, value: string, isStored: boolean): Promise<string> =>
  requestText('PUT', `${OPERATOR}/switches`, { form: { entry, value, debug: !isStored } })

export const readServers = (): Promise<{ servers: readonly Server[] }> =>
  request('GET', `${OPERATOR}/servers`)

/** All servers, each with its report of itself. */
export const readCluster = (): Promise<{ members: readonly ClusterMember[] }> =>
  request('GET', 'svc/v1/operator/cluster')

export const readFigures = (): Promise<Figures> => request('GET', `${OPERATOR}/metrics`)
