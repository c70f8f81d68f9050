import { connectedClientOperations } from './server/connected-clients.ts'
import { auditOperations } from './server/audit.ts'
import { beatOperations } from './naming/beats.ts'
import { catalogOperations } from './naming/catalog.ts'
import { connectionInstanceOperations } from './naming/connection-instances.ts'
import { instanceOperations } from './naming/instances.ts'
import { listOperations, subscriptionOperations } from './naming/instance-lists.ts'
import { serviceOperations } from './naming/services.ts'
import { servicePatternOperations } from './naming/service-patterns.ts'
import { inventoryOperations } from './console/config-inventory.ts'
import { versionOperations } from './console/config-versions.ts'
import { instanceViewOperations } from './console/instance-views.ts'
import { serviceInventoryOperations } from './console/service-inventory.ts'
import { explanationOperations } from './console/explanations.ts'
import { overviewOperations } from './console/overview.ts'
import { searchOperations } from './console/search-everything.ts'
import { spaceOperations } from './console/spaces.ts'
import { configPatternOperations } from './config/config-patterns.ts'
import { configOperations } from './config/configs.ts'
import { grayOperations } from './config/gray.ts'
import { liveEventOperations } from './console/live-events.ts'
import { historyOperations } from './config/config-history.ts'
import { listeningOperations } from './config/config-listening.ts'
import { importOperations } from './import/import-state.ts'
import { transferOperations } from './config/config-transfer.ts'
import { removalOperations } from './config/remove-configs.ts'
import { namespaceOperations } from './server/namespaces.ts'
import { sessionOperations } from './access/sessions.ts'
import { signInOperations } from './access/sign-in.ts'
import { permissionOperations } from './access/permissions.ts'
import { roleOperations } from './access/roles.ts'
import { timelineOperations } from './console/timelines.ts'
import { userOperations } from './access/users.ts'
import { operatorOperations } from './server/operator.ts'

/** The makers of the operations on each kind of thing. */
const MAKERS = {
  instances: instanceOperations,
  connectionInstances: connectionInstanceOperations,
  connectedClients: connectedClientOperations,
  beats: beatOperations,
  lists: listOperations,
  subscriptions: subscriptionOperations,
  servicePatterns: servicePatternOperations,
  services: serviceOperations,
  catalog: catalogOperations,
  configs: configOperations,
  removal: removalOperations,
  gray: grayOperations,
  history: historyOperations,
  versions: versionOperations,
  inventory: inventoryOperations,
  overview: overviewOperations,
  instanceViews: instanceViewOperations,
  serviceInventory: serviceInventoryOperations,
  explanations: explanationOperations,
  timelines: timelineOperations,
  search: searchOperations,
  listening: listeningOperations,
  configPatterns: configPatternOperations,
  liveEvents: liveEventOperations,
  transfer: transferOperations,
  imports: importOperations,
  namespaces: namespaceOperations,
  spaces: spaceOperations,
  operator: operatorOperations,
  audit: auditOperations,
  signIn: signInOperations,
  sessions: sessionOperations,
  users: userOperations,
  roles: roleOperations,
  permissions: permissionOperations,
}

type Makers = typeof MAKERS

/** Everything that a protocol can ask of this server. */
export type Operations = { readonly [Name in keyof Makers]: ReturnType<Makers[Name]> }

/** Dependencies of all operations: the parts of every maker. */
export type OperationParts = Intersection<Parameters<Makers[keyof Makers]>[0]>

/** The intersection of the types of a union. TypeScript infers it from a union of parameter types. */
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** Makes all operations, judged by one guard. */
export function allOperations(parts: OperationParts): Operations {
  const made = Object.entries(MAKERS).map(([name, make]) => [name, make(parts)] as const)
  return Object.fromEntries(made) as Operations
}
