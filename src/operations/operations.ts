import {
  connectedClientOperations,
  type ConnectedClientOperations,
  type ConnectedClientParts,
} from './connected-clients.ts'
import { auditOperations, type AuditOperations, type AuditParts } from './audit.ts'
import { beatOperations, type BeatOperations } from './beats.ts'
import { catalogOperations, type CatalogOperations, type CatalogParts } from './catalog.ts'
import {
  connectionInstanceOperations,
  type ConnectionInstanceOperations,
  type ConnectionInstanceOperationParts,
} from './connection-instances.ts'
import { instanceOperations, type InstanceOperations, type InstanceParts } from './instances.ts'
import { listOperations, type ListOperations, type ListParts } from './instance-lists.ts'
import { serviceOperations, type ServiceOperations, type ServiceParts } from './services.ts'
import {
  servicePatternOperations,
  type ServicePatternOperations,
  type ServicePatternParts,
} from './service-patterns.ts'
import {
  subscriptionOperations,
  type SubscriptionOperations,
  type SubscriptionParts,
} from './service-subscriptions.ts'
import { inventoryOperations, type InventoryOperations, type InventoryParts } from './config-inventory.ts'
import { versionOperations, type VersionOperations, type VersionParts } from './config-versions.ts'
import {
  instanceViewOperations,
  type InstanceViewOperations,
  type InstanceViewParts,
} from './instance-views.ts'
import {
  serviceInventoryOperations,
  type ServiceInventoryOperations,
  type ServiceInventoryParts,
} from './service-inventory.ts'
import { explanationOperations, type ExplanationOperations, type ExplanationParts } from './explanations.ts'
import { overviewOperations, type OverviewOperations, type OverviewParts } from './overview.ts'
import { searchOperations, type SearchOperations, type SearchParts } from './search-everything.ts'
import { spaceOperations, type SpaceOperations, type SpaceParts } from './spaces.ts'
import {
  type ConfigPatternOperations,
  configPatternOperations,
  type ConfigPatternParts,
} from './config-patterns.ts'
import { configOperations, type ConfigOperations, type ConfigParts } from './configs.ts'
import { liveEventOperations, type LiveEventOperations, type LiveEventParts } from './live-events.ts'
import { historyOperations, type HistoryOperations, type HistoryParts } from './config-history.ts'
import { listeningOperations, type ListeningOperations, type ListeningParts } from './config-listening.ts'
import { transferOperations, type TransferOperations, type TransferParts } from './config-transfer.ts'
import { namespaceOperations, type NamespaceOperations, type NamespaceParts } from './namespaces.ts'
import { sessionOperations, type SessionOperations } from './sessions.ts'
import { signInOperations, type SignInOperations, type SignInParts } from './sign-in.ts'
import { permissionOperations, type PermissionOperations } from './permissions.ts'
import { roleOperations, type RoleOperations } from './roles.ts'
import { timelineOperations, type TimelineOperationParts, type TimelineOperations } from './timelines.ts'
import { userOperations, type UserOperations, type UserParts } from './users.ts'
import { operatorOperations, type OperatorOperations, type OperatorParts } from './operator.ts'

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
