import { hash } from 'node:crypto'
import { Type } from '../../../parameters/schema.ts'
import type { Engine } from '../../../../core/engine.ts'
import type { LeaderView } from '../../../../core/operator/leadership.ts'
import { serverStatus } from '../../../../core/operator/server-status.ts'
import { setSwitch } from '../../../../core/operator/set-switch.ts'
import type { Switches } from '../../../../core/operator/switches.ts'
import type { State } from '../../../../core/state.ts'
import { jsonAnswer, OK_TEXT } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { andThen } from '../../routing/and-then.ts'
import { type Operation, operation } from '../../routing/operation.ts'

/** One server of this installation. */
export interface Member {
  readonly ip: string
  readonly port: number
  readonly site: string
  readonly alive: boolean
  /** When its status was last looked at, epoch ms. */
  readonly lastRefMs: number
}

/** What the operator's operations work on. */
export interface OperatorParts {
  readonly state: State
  readonly engine: Engine
  readonly members: () => readonly Member[]
  readonly leader: () => LeaderView
  /** cpu and mem from 0 to 1. */
  readonly machine: () => { readonly cpu: number; readonly load: number; readonly mem: number }
  readonly subscriberCount: () => number
}

const READ = { action: 'read', resource: 'operator' } as const
const WRITE = { action: 'write', resource: 'operator' } as const
/** The name that the reference server gives its switches, which tools look for. */
const SWITCHES_NAME = '00-00---000-NACOS_SWITCH_DOMAIN-000---00-00'
/** How a server's load is weighed against others, which are all alike here. */
const WEIGHT = 1

/** The operator functions (interface.md). `debug` is whether a switch is set for this server only by default. */
export function operatorOperations(parts: OperatorParts, debug: boolean) {
  return {
    switches: operation({
      summary: 'Query system switches',
      permission: READ,
      params: Type.Object({}),
      handle: () => jsonAnswer(switchesView(parts.state.switches)),
    }),
    setSwitch: operation({
      summary: 'Update system switch',
      permission: WRITE,
      params: Type.Object({
        entry: fields.switchEntry,
        value: fields.allowingEmpty(fields.switchValue),
        debug: Type.Boolean({
          default: debug,
          description: 'Whether the change is for this server only, until it restarts.',
        }),
      }),
      handle: ({ params }) =>
        andThen(parts.engine.execute(setSwitch(params.entry, params.value, params.debug)), () => OK_TEXT),
    }),
    metrics: operation({
      summary: 'Query system metrics',
      permission: { action: 'read', resource: 'public' },
      params: Type.Object({}),
      handle: () => jsonAnswer(metricsView(parts)),
    }),
    servers: operation({
      summary: 'Query server list',
      permission: READ,
      params: Type.Object({
        healthy: Type.Boolean({ default: false, description: 'Only servers that are alive.' }),
      }),
      handle: ({ params }) => {
        const members = parts.members().filter(({ alive }) => alive || !params.healthy)
        return jsonAnswer({ servers: members.map(memberView) })
      },
    }),
    leader: operation({
      summary: 'Query cluster leader',
      permission: READ,
      params: Type.Object({}),
      handle: () => jsonAnswer({ leader: JSON.stringify(parts.leader()) }),
    }),
  } satisfies Record<string, Operation>
}

function switchesView(switches: Switches): object {
  const checksum = hash('md5', JSON.stringify(switches), 'hex')
  return { name: SWITCHES_NAME, adWeightMap: {}, ...switches, checksum }
}

function metricsView({ state, machine, subscriberCount }: OperatorParts): object {
  const { cpu, load, mem } = machine()
  const serviceCount = state.services.size
  const instanceCount = state.instancesInAll
  return {
    status: serverStatus(state.switches),
    serviceCount,
    instanceCount,
    subscribeCount: subscriberCount(),
    responsibleServiceCount: serviceCount,
    responsibleInstanceCount: instanceCount,
    cpu,
    load,
    mem,
  }
}

function memberView(member: Member): object {
  const { ip, port, site, alive, lastRefMs } = member
  return {
    ip,
    servePort: port,
    site,
    weight: WEIGHT,
    adWeight: 0,
    alive,
    lastRefTime: lastRefMs,
    lastRefTimeStr: new Date(lastRefMs).toISOString().slice(0, 19).replace('T', ' '),
    key: `${ip}:${port}`,
  }
}
