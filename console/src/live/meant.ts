import type { ConfigName } from '../server/configs.ts'
import type { LiveEvent } from '../server/events.ts'
import type { ServiceName } from '../server/services.ts'

/** Whether an event is about what a view shows. */
export type IsMeant = (event: LiveEvent) => boolean

/** Everything of these kinds. */
export const anyOf =
  (...kinds: readonly LiveEvent['kind'][]): IsMeant =>
  ({ kind }) =>
    kinds.includes(kind)

/** Everything in one of these namespaces; `*` stands for all. */
export const within =
  (kind: 'config' | 'service', ...namespaceIds: readonly string[]): IsMeant =>
  (event) =>
    event.kind === kind && namespaceIds.some((id) => id === '*' || id === pageIdOf(event.namespaceId))

/** One item; with `watchers`, also who has it. */
export const ofConfig =
  ({ tenant, group, dataId }: ConfigName, ...kinds: readonly ('config' | 'watchers')[]): IsMeant =>
  (event) =>
    (event.kind === 'config' || kinds.some((kind) => kind === event.kind)) &&
    event.dataId === dataId &&
    event.group === group &&
    pageIdOf(event.namespaceId) === tenant

/** One service. */
export const ofService =
  ({ namespaceId, groupName, serviceName }: ServiceName): IsMeant =>
  (event) =>
    event.kind === 'service' &&
    event.serviceName === serviceName &&
    event.groupName === groupName &&
    pageIdOf(event.namespaceId) === pageIdOf(namespaceId)

/** The default namespace is the empty one here. */
const pageIdOf = (namespaceId: string | undefined): string =>
  namespaceId === undefined || namespaceId === 'public' ? '' : namespaceId
