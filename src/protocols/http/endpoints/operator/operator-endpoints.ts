import { hash } from 'node:crypto'
import type { Switches } from '../../../../core/operator/switches.ts'
import type { Member, OperatorOperations, StatusAndCounts } from '../../../../operations/operator.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import { jsonAnswer, OK_TEXT } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { ANSWERS_OK, answersJson } from '../../routing/answer-schema.ts'
import { BACKUP, BACKUP_PROGRESS, FIGURES, LEADER, SERVERS, SWITCHES } from './operator-schemas.ts'

/** The name that the reference server gives its switches, which tools look for. */
const SWITCHES_NAME = '00-00---000-NACOS_SWITCH_DOMAIN-000---00-00'
/** How a server's load is weighed against others, which are all alike here. */
const WEIGHT = 1
const NO_PARAMS = Type.Object({})

/** The endpoints of the operator functions. `debug`: whether a switch is set for this server only by default. */
export function operatorEndpoints(operator: OperatorOperations, debug: boolean) {
  return {
    switches: endpoint({
      summary: 'Query system switches',
      permission: operator.switches.permission,
      answers: answersJson(SWITCHES),
      params: NO_PARAMS,
      handle: ({ caller }) => jsonAnswer(switchesJson(operator.switches({}, caller))),
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
    metrics: endpoint({
      summary: 'Query system metrics',
      permission: operator.figures.permission,
      answers: answersJson(FIGURES),
      params: NO_PARAMS,
      handle: ({ caller }) => jsonAnswer(figuresJson(operator.figures({}, caller))),
    }),
    ...memberEndpoints(operator),
  } satisfies Record<string, Endpoint>
}

function memberEndpoints(operator: OperatorOperations) {
  return {
    servers: endpoint({
      summary: 'Query server list',
      permission: operator.members.permission,
      answers: answersJson(SERVERS),
      params: Type.Object({
        healthy: Type.Boolean({ default: false, description: 'Only servers that are alive.' }),
      }),
      handle: ({ params, caller }) => {
        const members = operator.members({ onlyAlive: params.healthy }, caller)
        return jsonAnswer({ servers: members.map(memberJson) })
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

/** A backup is written where the server's settings say: nothing that a client sends becomes a path. */
export function backupEndpoints({ makeBackup, backupProgress }: OperatorOperations) {
  return {
    make: endpoint({
      summary: 'Make a backup of the store, on the disk of the server; answers when it is verified',
      permission: makeBackup.permission,
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
        jsonAnswer(await makeBackup({ label: params.label ?? '' }, caller)),
    }),
    progress: endpoint({
      summary: 'Query how far a running backup has come',
      permission: backupProgress.permission,
      answers: answersJson(BACKUP_PROGRESS),
      params: NO_PARAMS,
      handle: ({ caller }) => {
        const progress = backupProgress({}, caller)
        return jsonAnswer({ running: progress !== undefined, ...progress })
      },
    }),
  } satisfies Record<string, Endpoint>
}

function switchesJson(switches: Switches): object {
  const checksum = hash('md5', JSON.stringify(switches), 'hex')
  return { name: SWITCHES_NAME, adWeightMap: {}, ...switches, checksum }
}

function figuresJson(figures: StatusAndCounts): object {
  if (!('cpu' in figures)) return figures
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

function memberJson(member: Member): object {
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
