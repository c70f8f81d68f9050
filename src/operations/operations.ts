import {
  connectedClientOperations,
  type ConnectedClientOperations,
  type ConnectedClientParts,
} from './server/connected-clients.ts'
import { auditOperations, type AuditOperations, type AuditParts } from './server/audit.ts'
import { beatOperations, type BeatOperations } from './naming/beats.ts'
import { catalogOperations, type CatalogOperations, type CatalogParts } from './naming/catalog.ts'
import {
  connectionInstanceOperations,
  type ConnectionInstanceOperations,
  type ConnectionInstanceOperationParts,
} from './naming/connection-instances.ts'
import { instanceOperations, type InstanceOperations, type InstanceParts } from './naming/instances.ts'
import { listOperations, type ListOperations, type ListParts } from './naming/instance-lists.ts'
import { serviceOperations, type ServiceOperations, type ServiceParts } from './naming/services.ts'
import {
  servicePatternOperations,
  type ServicePatternOperations,
  type ServicePatternParts,
} from './naming/service-patterns.ts'
import {
  subscriptionOperations,
  type SubscriptionOperations,
  type SubscriptionParts,
} from './naming/service-subscriptions.ts'
import {
  inventoryOperations,
  type InventoryOperations,
  type InventoryParts,
} from './console/config-inventory.ts'
import { versionOperations, type VersionOperations, type VersionParts } from './console/config-versions.ts'
import {
  instanceViewOperations,
  type InstanceViewOperations,
  type InstanceViewParts,
} from './console/instance-views.ts'
import {
  serviceInventoryOperations,
  type ServiceInventoryOperations,
  type ServiceInventoryParts,
} from './console/service-inventory.ts'
import {
  explanationOperations,
  type ExplanationOperations,
  type ExplanationParts,
} from './console/explanations.ts'
import { overviewOperations, type OverviewOperations, type OverviewParts } from './console/overview.ts'
import { searchOperations, type SearchOperations, type SearchParts } from './console/search-everything.ts'
import { spaceOperations, type SpaceOperations, type SpaceParts } from './console/spaces.ts'
import {
  type ConfigPatternOperations,
  configPatternOperations,
  type ConfigPatternParts,
} from './config/config-patterns.ts'
import { configOperations, type ConfigOperations, type ConfigParts } from './config/configs.ts'
import { liveEventOperations, type LiveEventOperations, type LiveEventParts } from './console/live-events.ts'
import { historyOperations, type HistoryOperations, type HistoryParts } from './config/config-history.ts'
import {
  listeningOperations,
  type ListeningOperations,
  type ListeningParts,
} from './config/config-listening.ts'
import { transferOperations, type TransferOperations, type TransferParts } from './config/config-transfer.ts'
import { namespaceOperations, type NamespaceOperations, type NamespaceParts } from './server/namespaces.ts'
import { sessionOperations, type SessionOperations } from './access/sessions.ts'
import { signInOperations, type SignInOperations, type SignInParts } from './access/sign-in.ts'
import { permissionOperations, type PermissionOperations } from './access/permissions.ts'
import { roleOperations, type RoleOperations } from './access/roles.ts'
import {
  timelineOperations,
  type TimelineOperationParts,
  type TimelineOperations,
} from './console/timelines.ts'
import { userOperations, type UserOperations, type UserParts } from './access/users.ts'
import { operatorOperations, type OperatorOperations, type OperatorParts } from './server/operator.ts'

/** Everything that a protocol can ask of this server. */
export interface Operations {
  readonly instances: InstanceOperations
  readonly connectionInstances: ConnectionInstanceOperations
  readonly connectedClients: ConnectedClientOperations
  readonly beats: BeatOperations
  readonly lists: ListOperations
  readonly subscriptions: SubscriptionOperations
  readonly servicePatterns: ServicePatternOperations
  readonly services: ServiceOperations
  readonly catalog: CatalogOperations
  readonly configs: ConfigOperations
  readonly history: HistoryOperations
  readonly versions: VersionOperations
  readonly inventory: InventoryOperations
  readonly overview: OverviewOperations
  readonly instanceViews: InstanceViewOperations
  readonly serviceInventory: ServiceInventoryOperations
  readonly explanations: ExplanationOperations
  readonly timelines: TimelineOperations
  readonly search: SearchOperations
  readonly listening: ListeningOperations
  readonly configPatterns: ConfigPatternOperations
  readonly liveEvents: LiveEventOperations
  readonly transfer: TransferOperations
  readonly namespaces: NamespaceOperations
  readonly spaces: SpaceOperations
  readonly operator: OperatorOperations
  readonly audit: AuditOperations
  readonly signIn: SignInOperations
  readonly sessions: SessionOperations
  readonly users: UserOperations
  readonly roles: RoleOperations
  readonly permissions: PermissionOperations
}

/** What all operations together work on. */
export type OperationParts = ConnectedClientParts &
  ServiceParts &
  InstanceParts &
  ConnectionInstanceOperationParts &
  ListParts &
  SubscriptionParts &
  ServicePatternParts &
  CatalogParts &
  ConfigParts &
  HistoryParts &
  VersionParts &
  InventoryParts &
  OverviewParts &
  InstanceViewParts &
  ExplanationParts &
  TimelineOperationParts &
  SearchParts &
  ServiceInventoryParts &
  ListeningParts &
  ConfigPatternParts &
  LiveEventParts &
  TransferParts &
  NamespaceParts &
  SpaceParts &
  OperatorParts &
  AuditParts &
  SignInParts &
  UserParts

/** Makes all operations, judged by one guard. */
export function allOperations(parts: OperationParts): Operations {
  return {
    instances: instanceOperations(parts),
    connectionInstances: connectionInstanceOperations(parts),
    connectedClients: connectedClientOperations(parts),
    beats: beatOperations(parts),
    lists: listOperations(parts),
    subscriptions: subscriptionOperations(parts),
    servicePatterns: servicePatternOperations(parts),
    services: serviceOperations(parts),
    catalog: catalogOperations(parts),
    configs: configOperations(parts),
    history: historyOperations(parts),
    versions: versionOperations(parts),
    inventory: inventoryOperations(parts),
    overview: overviewOperations(parts),
    instanceViews: instanceViewOperations(parts),
    serviceInventory: serviceInventoryOperations(parts),
    explanations: explanationOperations(parts),
    timelines: timelineOperations(parts),
    search: searchOperations(parts),
    listening: listeningOperations(parts),
    configPatterns: configPatternOperations(parts),
    liveEvents: liveEventOperations(parts),
    transfer: transferOperations(parts),
    namespaces: namespaceOperations(parts),
    spaces: spaceOperations(parts),
    operator: operatorOperations(parts),
    audit: auditOperations(parts),
    signIn: signInOperations(parts),
    sessions: sessionOperations(parts),
    users: userOperations(parts),
    roles: roleOperations(parts),
    permissions: permissionOperations(parts),
  }
}
