import { Type } from '../../../parameters/schema.ts'
import { serviceNameOf } from '../../../../core/naming/service.ts'
import type { State } from '../../../../core/state.ts'
import { toNamespaceId } from '../../../../core/namespace-id.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import { SERVICE_PARAMS } from './instance-operations.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'

const READ = { action: 'read', resource: 'naming' } as const

/** Who subscribes to what, and the names of all services, as clients of `/nacos` ask for them. */
export function discoveryOperations(parts: NamingParts) {
  return {
    subscribers: subscribers(parts),
    names: names(parts),
    allDomNames: allDomNames(parts),
    checkers: checkers(),
  } satisfies Record<string, Operation>
}

function subscribers({ pushes }: NamingParts): Operation {
  return operation({
    summary: 'List the subscribers of a service',
    permission: READ,
    params: Type.Object({
      ...SERVICE_PARAMS,
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSizeOrZero, 1000),
    }),
    handle: ({ params }) => {
      const all = pushes.list(serviceKeyOf(params))
      const first = (params.pageNo - 1) * params.pageSize
      const page = all.slice(first, first + params.pageSize).map((subscriber) => ({
        addrStr: `${subscriber.address}:${subscriber.port}`,
        agent: subscriber.agent,
        app: subscriber.app,
        ip: subscriber.address,
        port: subscriber.port,
        namespaceId: subscriber.namespaceId,
        serviceName: subscriber.groupedName,
        cluster: subscriber.clusters,
      }))
      return jsonAnswer({ subscribers: page, count: all.length })
    },
  })
}

/** Names without their groups by namespace; `count` is the number of namespaces (http-compat.md section 4). */
function names({ state }: NamingParts): Operation {
  return operation({
    summary: 'Names of services by namespace',
    permission: READ,
    params: Type.Object({
      namespaceId: Type.Optional(fields.namespaceId),
      expr: Type.Optional(Type.String({ maxLength: 512, description: 'Only names that hold this text.' })),
    }),
    handle: ({ params }) => {
      const { namespaceId, expr = '' } = params
      const namespaceIds =
        namespaceId === undefined ? state.services.namespaces() : [toNamespaceId(namespaceId)]
      const services = Object.fromEntries(namespaceIds.map((id) => [id, bareNames(state, id, expr)]))
      return jsonAnswer({ services, count: namespaceIds.length })
    },
  })
}

/** The service names of a namespace that hold a text, each once. */
function bareNames(state: State, namespaceId: string, part: string): string[] {
  const bare = state.services.names(namespaceId, undefined).map(serviceNameOf)
  return [...new Set(bare)].filter((name) => name.includes(part))
}

/** Read by DNS front ends; old ones of them want the plain list. */
function allDomNames({ state }: NamingParts): Operation {
  return operation({
    summary: 'Names of all services by namespace',
    permission: READ,
    params: Type.Object({}),
    handle: ({ caller }) => {
      const doms = Object.fromEntries(
        state.services.namespaces().map((id) => [id, state.services.names(id, undefined).map(serviceNameOf)]),
      )
      const count = Object.values(doms).flat().length
      const plain = /^Nacos-DNS:v(0\.|1\.0\.[01]$)/.test(caller.userAgent)
      return jsonAnswer({ count, doms: plain ? Object.values(doms).flat() : doms })
    },
  })
}

function checkers(): Operation {
  return operation({
    summary: 'Health checkers that clusters can have',
    permission: READ,
    params: Type.Object({}),
    handle: () =>
      jsonAnswer({
        NONE: { type: 'NONE' },
        TCP: { type: 'TCP' },
        HTTP: { type: 'HTTP', path: '', headers: '', expectedResponseCode: 200 },
        MYSQL: { type: 'MYSQL', user: '', pwd: '', cmd: '' },
      }),
  })
}
