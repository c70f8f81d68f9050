import { hostPort } from '../../../../core/text/ip-address.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { hash } from 'node:crypto'
import type { ClusterMember } from '../../../../core/cluster/members/member-view.ts'
import type { Switches } from '../../../../core/switches/switches.ts'
import type { ClientCounts, Member, ServerCounts } from '../../../../operations/server/operator.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import { jsonAnswer, OK_TEXT, ANSWERS_OK, answersJson } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import type { NamingDialect } from '../naming/naming-requests.ts'
import { nodeJson } from './node-json.ts'
import { BACKUP, BACKUP_PROGRESS, CLUSTER, FIGURES, LEADER, SERVERS, SWITCHES } from './operator-schemas.ts'

/** The name that the reference server gives its switches, which tools look for. */
const SWITCHES_NAME = '00-00---000-NACOS_SWITCH_DOMAIN-000---00-00'
/** How a server's load is weighed against others, which are all alike here. */
const WEIGHT = 1
const NO_PARAMS = Type.Object({})

/** Dependencies of the operator endpoints. */
export interface OperatorEndpointParts {
  readonly operator: Operations['operator']
  /** The version of this server. */
  readonly version: string
}

/** The endpoints of the operator functions. On `/svc` a switch is set for this server only by default. */
export function operatorEndpoints({ operator, version }: OperatorEndpointParts, dialect: NamingDialect) {
  const debug = !dialect.hasJavaKeys
  return {
    switches: endpoint({
      summary: 'Query system switches',
      permission: operator.switches.permission,
      answers: dialect.described(SWITCHES),
      params: NO_PARAMS,
      handle: ({ caller }) => dialect.json(switchesJson(operator.switches({}, caller))),
    }),
    setSwitch: endpoint({
      summary: 'Update system switch',
      permission: operator.setSwitch.permission,
      answers: ANSWERS_OK,
      params: Type.Object({
        entry: fields.switchEntry,
        value: fields.allowingEmpty(fields.switchValue),
        debug: Type.Boolean({
          default: debug,
          description: 'Whether the change is for this server only, until it restarts.',
        }),
      }),
      handle: ({ params, caller }) => afterwards(operator.setSwitch(params, caller), () => OK_TEXT),
    }),
    metrics: metrics(operator, dialect),
    ...memberEndpoints({ operator, version }, dialect),
  } satisfies Record<string, Endpoint>
}

function metrics(operator: Operations['operator'], dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'Query system metrics',
    permission: operator.figures.permission,
    answers: dialect.described(FIGURES),
    params: Type.Object({
      ...(dialect.hasJavaKeys ? JAVA_METRICS_PARAMS : {}),
    } as typeof JAVA_METRICS_PARAMS),
    handle: ({ params, caller }) => {
      const found = operator.figures({}, caller)
      const { status } = found
      if (params.onlyStatus === true || !('cpu' in found)) return jsonAnswer({ status })
      if (!dialect.hasJavaKeys) return dialect.json(figuresJson(found))
      // The counts of clients cost time, so only a request for them counts.
      if (params.onlyStatus === undefined) return dialect.json(javaFiguresJson(found))
      return afterwards(operator.clientCounts({}, caller), (counts) =>
        dialect.json({ ...javaFiguresJson(found), ...clientCountsJson(counts) }),
      )
    },
  })
}

const JAVA_METRICS_PARAMS = {
  onlyStatus: Type.Optional(Type.Boolean({ description: 'Only whether the server serves requests.' })),
}

function memberEndpoints({ operator, version }: OperatorEndpointParts, dialect: NamingDialect) {
  return {
    servers: endpoint({
      summary: 'Query server list',
      permission: operator.members.permission,
      answers: dialect.described(SERVERS),
      params: Type.Object({
        healthy: Type.Boolean({ default: false, description: 'Only servers that are alive.' }),
      }),
      handle: ({ params, caller }) => {
        const members = operator.members({ onlyAlive: params.healthy }, caller)
        return jsonAnswer({
          servers: members.map((member) => {
            const shown = memberJson(member)
            return dialect.hasJavaKeys ? { ...shown, ...nodeJson(member, version) } : shown
          }),
        })
      },
    }),
    leader: endpoint({
      summary: 'Query cluster leader',
      permission: operator.leader.permission,
      answers: answersJson(LEADER),
      params: NO_PARAMS,
      handle: ({ caller }) => jsonAnswer({ leader: JSON.stringify(operator.leader({}, caller)) }),
    }),
  } satisfies Record<string, Endpoint>
}

/** A function of Waypost's own. */
export function clusterEndpoint({ operator, version }: OperatorEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query all servers, with what each reports of itself',
    permission: operator.cluster.permission,
    answers: answersJson(CLUSTER),
    params: NO_PARAMS,
    handle: async ({ caller }) => {
      const members = await operator.cluster({}, caller)
      return jsonAnswer({ members: members.map((member) => clusterMemberJson(member, version)) })
    },
  })
}

/** A backup is written where the server's settings say: nothing that a client sends becomes a path. */
export function backupEndpoints(operator: Operations['operator']) {
  return {
    make: endpoint({
      summary: 'Make a backup of the store, on the disk of the server; answers when it is verified',
      permission: operator.makeBackup.permission,
      answers: answersJson(BACKUP),
      params: Type.Object({
        label: Type.Optional(
          Type.String({
            pattern: '^[a-z0-9-]{1,40}$',
            allowed: '1 to 40 of the characters a-z, 0-9 and -',
            description: 'A word that the name of the backup has in it.',
          }),
        ),
      }),
      handle: async ({ params, caller }) =>
        jsonAnswer(await operator.makeBackup({ label: params.label ?? '' }, caller)),
    }),
    progress: endpoint({
      summary: 'Query how far a running backup has come',
      permission: operator.backupProgress.permission,
      answers: answersJson(BACKUP_PROGRESS),
      params: NO_PARAMS,
      handle: ({ caller }) => {
        const progress = operator.backupProgress({}, caller)
        return jsonAnswer({ running: progress !== undefined, ...progress })
      },
    }),
  } satisfies Record<string, Endpoint>
}

function switchesJson(switches: Switches): object {
  const checksum = hash('md5', JSON.stringify(switches), 'hex')
  return { name: SWITCHES_NAME, adWeightMap: {}, ...switches, checksum }
}

function figuresJson(figures: ServerCounts): object {
  const { status, serviceCount, instanceCount, subscriberCount, responsible, cpu, load, mem } = figures
  return {
    status,
    serviceCount,
    instanceCount,
    subscribeCount: subscriberCount,
    responsibleServiceCount: responsible.services,
    responsibleInstanceCount: responsible.instances,
    cpu,
    load,
    mem,
  }
}

/** Nothing is agreed on by Raft here, so nothing waits for it. */
function javaFiguresJson(figures: ServerCounts): object {
  return { ...figuresJson(figures), raftNotifyTaskCount: 0 }
}

function clientCountsJson(counts: ClientCounts): object {
  const { connections, ephemeralAddresses, persistentAddresses, responsible } = counts
  return {
    clientCount: connections + ephemeralAddresses + persistentAddresses,
    connectionBasedClientCount: connections,
    ephemeralIpPortClientCount: ephemeralAddresses,
    persistentIpPortClientCount: persistentAddresses,
    responsibleClientCount: responsible,
  }
}

function clusterMemberJson(member: ClusterMember, ownVersion: string): object {
  const { id, ip, port, site, facts, forMs, clockAheadMs, isSelf, isElected, view, figures } = member
  const { version = isSelf ? ownVersion : undefined, peerPort, versions } = facts ?? {}
  return {
    key: id,
    ip,
    port,
    site,
    alive: isSelf || facts !== undefined,
    self: isSelf,
    elected: isElected,
    forMs,
    clockAheadMs,
    version,
    peerPort,
    ...versions,
    figures,
    report: view && {
      ...view,
      hears: view.hears.map(({ id: key, replies, agoMs }) => ({ key, replies, agoMs })),
    },
  }
}

function memberJson(member: Member): object {
  const { ip, port, site, alive, replies, lastRefMs } = member
  return {
    ip,
    servePort: port,
    site,
    weight: WEIGHT,
    adWeight: 0,
    alive,
    replies,
    lastRefTime: lastRefMs,
    lastRefTimeStr: new Date(lastRefMs).toISOString().slice(0, 19).replace('T', ' '),
    key: hostPort(ip, port),
  }
}
