/**
 * The answers of the server: generated from the OpenAPI document by `npm run docs`. Do not edit. It has the types that
 * are imported from it.
 */

export interface UserRole {
  readonly role: string
  readonly username: string
}

export interface RolePermission {
  readonly role: string
  /** `namespace:group:name`, with `*` for any characters. */
  readonly resource: string
  readonly action: 'r' | 'w' | 'rw'
}

export interface SignedInUser {
  /** Empty where nobody has to sign in. */
  readonly username: string
  /** An administrator may do everything. */
  readonly globalAdmin: boolean
  readonly roles: readonly string[]
  readonly permissions: readonly ({
    readonly resource: string
    readonly action: 'r' | 'w' | 'rw'
  })[]
}

export interface ConfigItem {
  readonly id: string
  readonly dataId: string
  readonly group: string
  readonly content: string
  readonly md5: string
  /** The namespace; empty: public. */
  readonly tenant: string
  readonly appName: string
  /** Epoch milliseconds. */
  readonly createTime: number
  /** Epoch milliseconds. */
  readonly modifyTime: number
  readonly createUser: string | null
  readonly createIp: string
  readonly desc: string | null
  readonly use: string | null
  readonly effect: string | null
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset'
  readonly schema: string | null
  /** Separated by commas. */
  readonly configTags: string | null
  readonly encryptedDataKey: string
}

export interface TransferOutcome {
  /** Whether this is only what would happen. */
  readonly dryRun: boolean
  readonly succCount: number
  readonly skipCount: number
  /** After a dry run: what the items were, for `seenState`; else empty. */
  readonly state: string
  readonly succData: readonly ({
    readonly dataId: string
    readonly group: string
    /** In a dry run. unknown: the caller may not read the present item. */
    readonly change?: 'new' | 'changed' | 'equal' | 'unknown'
    /** In a dry run: how many clients listen. */
    readonly watcherCount?: number
  })[]
  readonly failData: readonly {
    readonly dataId: string
    readonly group: string
  }[]
  readonly skipData: readonly {
    readonly dataId: string
    readonly group: string
  }[]
  readonly unrecognizedCount: number
  readonly unrecognizedData: readonly ({
    readonly itemName: string
    readonly reason: 'bad-name' | 'not-in-metadata' | 'no-entry' | 'litter' | 'metadata-elsewhere' | 'link' | 'set-record' | 'no-item'
  })[]
  readonly unknownTypeData: readonly {
    readonly dataId: string
    readonly group: string
    /** The unknown type in the metadata. A new item has the type that its name says; an item that exists keeps its type. */
    readonly type: string
  }[]
  readonly readAsData: readonly {
    readonly dataId: string
    readonly group: string
    /** The name in the file, in another form of Unicode, as macOS writes it. */
    readonly itemName: string
  }[]
  /** The common folder that was taken off the names of a zip file; empty: none. */
  readonly folder: string
}

export interface GrayVersion {
  /** The id of the release: it stays while the version changes. */
  readonly id: string
  readonly grayName: string
  readonly grayType: 'beta' | 'tag' | 'tagv2' | 'percent'
  /** For whom it is. */
  readonly grayMatchRuleExp: string
  /** The version of the expression. */
  readonly grayVersion: string
  readonly grayPriority: number
  readonly md5: string
  /** Bytes of the text. */
  readonly size: number
  /** Null: the type of the formal version. */
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset' | null
  /** Epoch milliseconds. */
  readonly createTime: number
  readonly createUser: string | null
  readonly createIp: string
  /** Epoch milliseconds. */
  readonly modifyTime: number
  readonly modifyUser: string | null
  readonly modifyIp: string
  /** Why, as the newest change says. */
  readonly comment: string
}

export interface GrayItem {
  readonly dataId: string
  readonly group: string
  /** The namespace; empty: public. */
  readonly tenant: string
  readonly versions: readonly GrayVersion[]
}

export interface GrayVersionText {
  /** The id of the release: it stays while the version changes. */
  readonly id: string
  readonly grayName: string
  readonly grayType: 'beta' | 'tag' | 'tagv2' | 'percent'
  /** For whom it is. */
  readonly grayMatchRuleExp: string
  /** The version of the expression. */
  readonly grayVersion: string
  readonly grayPriority: number
  readonly md5: string
  /** Bytes of the text. */
  readonly size: number
  /** Null: the type of the formal version. */
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset' | null
  /** Epoch milliseconds. */
  readonly createTime: number
  readonly createUser: string | null
  readonly createIp: string
  /** Epoch milliseconds. */
  readonly modifyTime: number
  readonly modifyUser: string | null
  readonly modifyIp: string
  /** Why, as the newest change says. */
  readonly comment: string
  readonly content: string
  /** The key of a content that a client has encrypted; else empty. */
  readonly encryptedDataKey: string
}

export interface ExplainedView {
  /** The md5 of the text for the client; empty: it sees none. */
  readonly md5: string
  /** The gray version that it sees; null: the formal one, or nothing. */
  readonly grayName: string | null
  /** The text that decides whether a client is in a share. */
  readonly identity: string
  readonly versions: readonly ({
    /** The id of the release: it stays while the version changes. */
    readonly id: string
    readonly grayName: string
    readonly grayType: 'beta' | 'tag' | 'tagv2' | 'percent'
    /** For whom it is. */
    readonly grayMatchRuleExp: string
    /** The version of the expression. */
    readonly grayVersion: string
    readonly grayPriority: number
    readonly md5: string
    /** Bytes of the text. */
    readonly size: number
    /** Null: the type of the formal version. */
    readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset' | null
    /** Epoch milliseconds. */
    readonly createTime: number
    readonly createUser: string | null
    readonly createIp: string
    /** Epoch milliseconds. */
    readonly modifyTime: number
    readonly modifyUser: string | null
    readonly modifyIp: string
    /** Why, as the newest change says. */
    readonly comment: string
    readonly isForClient: boolean
    /** How large a share must be, in percent, so that the client is in it; null: it is for no share. */
    readonly neededShare: number | null
  })[]
}

export interface ConnectedClient {
  /** Names the connection. */
  readonly id: string
  /** The server to which it is connected. */
  readonly server: string
  readonly ip: string
  readonly port: number
  /** The name and version of its library, as it says. */
  readonly version: string
  readonly appName: string
  /** The purpose of the connection: config, naming; empty where the client does not say it. */
  readonly module: string
  /** The address that the client takes for its own. */
  readonly clientIp: string
  /** The user whose credentials it has shown last; empty while it has shown none. */
  readonly username: string
  readonly labels: Readonly<Record<string, string>>
  /** Epoch milliseconds. */
  readonly sinceMs: number
  /** How long ago something came from it. */
  readonly heardAgoMs: number
  /** In how many services it has instances. */
  readonly services: number
  readonly instances: number
  /** How many services it subscribes to. */
  readonly subscriptions: number
}

export interface ConnectedClients {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly ConnectedClient[]
  /** The server that has replied. */
  readonly server: string
  readonly missingServers: readonly string[]
}

export interface ServerProblem {
  readonly code: string
  readonly detail: string
  readonly forMs: number
}

export interface Attention {
  readonly kind: 'service-lost' | 'service-protecting' | 'service-unhealthy' | 'service-empty'
  readonly namespaceId: string
  readonly serviceName: string
  readonly groupName: string
  readonly healthyInstanceCount: number
  readonly ipCount: number
  /** The last change, or when the last instance left. */
  readonly lastChangeMs: number
  /** The address of the last instance of a lost service. */
  readonly lastInstance: string | null
  /** Why that left. */
  readonly cause: 'registration' | 'deregistration' | 'beat' | 'silence' | 'probe' | 'operator' | 'connection' | 'claim' | 'memory' | null
}

export interface BehindConfig {
  readonly namespaceId: string
  readonly group: string
  readonly dataId: string
  /** Clients that have an older version for more than 10 s. */
  readonly clientCount: number
  readonly clients: readonly ({
    readonly ip: string
    readonly port: number | null
    readonly agent: string
  })[]
}

export interface Overview {
  readonly version: string
  /** Whether it is `waypost dev`, whose data go when it ends. */
  readonly temporary: boolean
  readonly configCount: number
  readonly serviceCount: number
  readonly instanceCount: number
  readonly healthyInstanceCount: number
  readonly disabledInstanceCount: number
  /** Null where the caller may not see it. */
  readonly subscriberCount: number | null
  readonly notReady: readonly ServerProblem[]
  readonly warnings: readonly ServerProblem[]
  readonly attention: readonly Attention[]
  readonly behind: readonly BehindConfig[]
  readonly faults: readonly {
    /** Another server that says so; empty: this one. */
    readonly server: string
    readonly code: string
    readonly detail: string
    readonly forMs: number
  }[]
  readonly missingServers: readonly string[]
  readonly members: readonly {
    readonly ip: string
    readonly port: number
    readonly site: string
    readonly alive: boolean
    /** Whether it replied when it was last asked. */
    readonly replies: boolean
    /** Epoch milliseconds. */
    readonly lastRefMs: number
  }[]
  /** Whether counting took too long: then there is more. */
  readonly truncated: boolean
}

export interface LiveEvent {
  readonly kind: 'config' | 'service' | 'namespace' | 'switch' | 'user' | 'role' | 'permission' | 'server' | 'rights' | 'watchers' | 'condition' | 'audit'
  /** Rises with each change. */
  readonly revision: number
  readonly namespaceId?: string
  readonly group?: string
  readonly dataId?: string
  readonly groupName?: string
  readonly serviceName?: string
  /** A switch. */
  readonly entry?: string
  readonly server?: string
  readonly username?: string
  readonly role?: string
}

export interface Space {
  /** public is the default one. */
  readonly namespaceId: string
  readonly name: string
  readonly desc: string
  /** False for one that is not on the list and holds something. */
  readonly listed: boolean
  /** Only items that the caller may read. */
  readonly configCount: number
  /** Whether it has no configurations, no gray versions and no services. */
  readonly empty: boolean
  readonly color: 'none' | 'red' | 'orange' | 'yellow' | 'green' | 'teal' | 'blue' | 'purple' | 'pink'
  /** Whether the console asks for its name before it writes there. */
  readonly protected: boolean
}

export interface CoveredRange {
  readonly from: number
  readonly to: number
}

export interface ContentHit {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  readonly covered: readonly CoveredRange[]
}

export interface FoundConfig {
  /** public is the default one. */
  readonly namespaceId: string
  readonly dataId: string
  readonly group: string
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset'
  readonly hits: readonly ContentHit[]
}

export interface GrayOnlyConfig {
  /** public is the default one. */
  readonly namespaceId: string
  readonly dataId: string
  readonly group: string
  readonly grayNames: readonly string[]
  /** Epoch milliseconds. */
  readonly modifyTime: number
  readonly modifyUser: string | null
}

export interface FoundEverywhere {
  readonly configs: readonly FoundConfig[]
  /** How many have the text in their name, group, description, application or tags. */
  readonly configCount: number
  readonly contents: readonly FoundConfig[]
  readonly grayOnly: readonly GrayOnlyConfig[]
  readonly services: readonly {
    readonly namespaceId: string
    readonly groupName: string
    readonly serviceName: string
    readonly ipCount: number
  }[]
  readonly serviceCount: number
  readonly instances: readonly {
    readonly namespaceId: string
    readonly groupName: string
    readonly serviceName: string
    readonly ip: string
    readonly port: number
    readonly clusterName: string
    readonly healthy: boolean
    readonly enabled: boolean
  }[]
  readonly instanceCount: number
  /** Whether it became too much for one request: then there may be more. */
  readonly truncated: boolean
  /** After 256 MiB of contents a search ends: give this as `after` to search the others. Null where all were searched. */
  readonly next: string | null
}

export interface ListedConfig {
  readonly id: string
  /** public is the default one. */
  readonly namespaceId: string
  readonly dataId: string
  readonly group: string
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset'
  readonly appName: string
  readonly desc: string | null
  /** Separated by commas. */
  readonly configTags: string | null
  /** Bytes. */
  readonly size: number
  readonly md5: string
  /** The id of the version that clients get. */
  readonly historyId: string
  /** Epoch milliseconds. */
  readonly createTime: number
  /** Epoch milliseconds. */
  readonly modifyTime: number
  readonly modifyUser: string | null
  /** How many clients have it, on all servers: as many as `config/watchers` lists. */
  readonly watcherCount: number
  readonly hits: readonly ContentHit[]
}

export interface ListedConfigPage {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly ListedConfig[]
  readonly grayOnly: readonly GrayOnlyConfig[]
  /** How many there are of these: each page has others, by their names. */
  readonly grayOnlyCount: number
  /** Whether it became too much for one request: then there may be more. */
  readonly truncated: boolean
  /** After 256 MiB of contents a search ends: give this as `after` to search the others. Null where all were searched. */
  readonly next: string | null
  readonly missingServers: readonly string[]
}

export interface ConfigVersion {
  readonly historyId: string
  /** I: made, U: updated, D: deleted. */
  readonly op: 'I' | 'U' | 'D'
  readonly user: string | null
  readonly ip: string
  readonly comment: string
  /** Epoch milliseconds. */
  readonly atMs: number
  /** The md5 of the text after the change; null after a deletion. */
  readonly md5: string | null
  /** Bytes. */
  readonly size: number | null
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset' | null
  /** Whether it is the version that clients get. */
  readonly current: boolean
  /** The gray version that became the formal one by this change. */
  readonly promotedFrom?: string
  /** The change is of the gray version of this name. */
  readonly grayName?: string
  readonly grayType?: 'beta' | 'tag' | 'tagv2' | 'percent'
  /** For whom the gray version is after the change. */
  readonly grayMatchRuleExp?: string
}

export interface ConfigVersionText {
  readonly historyId: string
  /** I: made, U: updated, D: deleted. */
  readonly op: 'I' | 'U' | 'D'
  readonly user: string | null
  readonly ip: string
  readonly comment: string
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly md5: string
  /** Bytes. */
  readonly size: number
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset'
  readonly appName: string
  readonly encryptedDataKey: string
  /** The text after the change; of a deletion, the deleted one. */
  readonly content: string
}

export interface WatcherShares {
  /** Clients that have the gray version that is for them. */
  readonly gray: number
  /** Clients that have the formal version, which is for them. */
  readonly formal: number
  /** Clients that have another text than the one that is for them. */
  readonly behind: number
  /** Clients whose poll was answered and that have not come back. */
  readonly away: number
  /** Clients of which nobody can tell. */
  readonly unknown: number
}

export interface Watcher {
  readonly ip: string
  /** Null where it is not known. */
  readonly port: number | null
  /** How the library of the client names itself; empty where it is not known. */
  readonly agent: string
  /** The md5 that the client has; empty: no item. */
  readonly md5: string
  readonly upToDate: boolean
  /** The version that is for it, a gray one or the formal one; another text; not come back; or nobody can tell. */
  readonly has: 'gray' | 'formal' | 'behind' | 'away' | 'unknown'
  /** The gray version that is for the client; null: the formal one. */
  readonly grayName: string | null
  /** The address by which rules of gray versions know the client. */
  readonly ruleIp: string
  /** Its tag; empty: none. */
  readonly ruleTag: string
  /** Its labels, as `gray/explain` takes them: `key=value`, separated by commas. */
  readonly ruleLabels: string
  /** Whether it listens now: its poll is held, or its connection is there. */
  readonly listens: boolean
  /** When something last came from it, e.g. the poll that is held; or when its poll was answered. */
  readonly lastSeenMs: number
  /** How it learns of changes: by long polls over HTTP, or over gRPC. */
  readonly via: 'poll' | 'stream'
}

export interface Watchers {
  /** The md5 of the formal version; null where there is none. */
  readonly md5: string | null
  /** How many clients have the version that is for them. */
  readonly upToDate: number
  /** How many clients the named rule is for; null: none was named, or nobody can tell. */
  readonly matching: number | null
  readonly count: number
  /** The clock of the server, for the times of watchers. */
  readonly nowMs: number
  readonly shares: WatcherShares
  readonly watchers: readonly Watcher[]
  readonly missingServers: readonly string[]
}

export interface DeletedConfig {
  readonly namespaceId: string
  readonly dataId: string
  readonly group: string
  /** The version that restores it, with all its gray versions. */
  readonly historyId: string
  readonly grayVersions: readonly {
    /** A gray version. The item had no formal one: md5, size and type are those of the first. */
    readonly grayName: string
    /** Its end, which has its text. */
    readonly historyId: string
  }[]
  readonly type: 'properties' | 'xml' | 'json' | 'text' | 'html' | 'yaml' | 'toml' | 'unset'
  readonly appName: string
  readonly desc: string | null
  readonly configTags: string | null
  readonly size: number
  readonly md5: string
  /** The user that deleted it. */
  readonly user: string | null
  readonly ip: string
  /** When it was deleted, epoch milliseconds. */
  readonly atMs: number
}

export interface DeletedConfigPage {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly DeletedConfig[]
}

export interface OneSidedConfig {
  readonly dataId: string
  readonly group: string
  /** As cfgId of a clone. */
  readonly id: string
  readonly md5: string
}

export interface GrayOnlySide {
  readonly dataId: string
  readonly group: string
  readonly grayNames: readonly string[]
}

export interface Comparison {
  /** How many items are the same on both sides. */
  readonly equal: number
  readonly onlyInFrom: readonly OneSidedConfig[]
  readonly onlyInTo: readonly OneSidedConfig[]
  readonly different: readonly {
    readonly dataId: string
    readonly group: string
    /** The id of the item in from: as cfgId of a clone. */
    readonly id: string
    readonly fromMd5: string
    /** As casMd5 of a clone. */
    readonly toMd5: string
    readonly fromType: string
    readonly toType: string
  }[]
  readonly grayOnlyInFrom: readonly GrayOnlySide[]
  readonly grayOnlyInTo: readonly GrayOnlySide[]
  /** Whether there are more. */
  readonly truncated: boolean
}

export interface ListedService {
  readonly namespaceId: string
  readonly name: string
  readonly groupName: string
  /** Only clusters with instances. */
  readonly clusterCount: number
  readonly ipCount: number
  readonly healthyInstanceCount: number
  readonly disabledCount: number
  readonly protectThreshold: number
  /** Whether so few are healthy that all are given out. */
  readonly protecting: boolean
  /** Only clients of this server. */
  readonly subscriberCount: number
  /** Epoch milliseconds. */
  readonly lastChangeMs: number
}

export interface Override {
  /** weight, enabled, or metadata. and a key. */
  readonly field: string
  readonly value: string
  /** The value of the application; null where it has none, or nobody knows it. */
  readonly application: string | null
  /** Epoch milliseconds. */
  readonly atMs: number | null
  /** Null where nobody was signed in, or nobody knows who it was. */
  readonly user: string | null
  /** Null where nobody knows who it was. */
  readonly fromIp: string | null
}

export interface ShownInstance {
  readonly instanceId: string
  readonly ip: string
  readonly port: number
  readonly clusterName: string
  readonly weight: number
  readonly healthy: boolean
  readonly enabled: boolean
  readonly ephemeral: boolean
  /** How many other publishers have registered the address too: one takes over when its publisher leaves. */
  readonly claims: number
  readonly app: string
  readonly metadata: Readonly<Record<string, string>>
  readonly remembered: Readonly<Record<string, string>>
  readonly overrides: readonly Override[]
  readonly disabled: {
    /** Epoch milliseconds. */
    readonly atMs: number
    /** Null where nobody was signed in, or another server was asked. */
    readonly user: string | null
    readonly fromIp: string | null
    readonly cause: 'operator' | 'registration' | 'connection'
  } | null
  /** Null where it does not beat, or beats at another server. */
  readonly lastBeatAgoMs: number | null
  /** After this much silence it becomes unhealthy. */
  readonly unhealthyAfterMs: number
  /** After this much silence it is removed. */
  readonly removedAfterMs: number
  /** How much silence is left; null: silence does not remove it. */
  readonly expiresInMs: number | null
  readonly health: {
    /** The source of its health; never: nobody has looked at it yet. A probe without a check: another server probes it. */
    readonly reason: 'beat' | 'beat-timeout' | 'probe' | 'operator' | 'connection' | 'never'
    readonly check: {
      readonly type: string
      readonly up: boolean
      readonly text: string
      readonly elapsedMs: number
      /** Epoch milliseconds. */
      readonly atMs: number
    } | null
    readonly connection: {
      /** Whether its connection is on this server or another one; gone: its server is gone. */
      readonly where: 'here' | 'elsewhere' | 'gone'
      /** The other server. */
      readonly server: string | null
      /** The name and version of the library of its client. */
      readonly library: string | null
      readonly ip: string | null
      readonly port: number | null
      /** Epoch milliseconds. */
      readonly connectedMs: number | null
      /** How long its client has said nothing; null: it said something lately. */
      readonly silentMs: number | null
      /** Where its server is gone, or its client silent: when it is removed unless it comes back. */
      readonly removedInMs: number | null
    } | null
  }
}

export interface ExplainedInstance {
  readonly instanceId: string
  readonly ip: string
  readonly port: number
  readonly clusterName: string
  readonly weight: number
  readonly healthy: boolean
  readonly enabled: boolean
  readonly ephemeral: boolean
  /** How many other publishers have registered the address too: one takes over when its publisher leaves. */
  readonly claims: number
  /** Whether the client gets it. */
  readonly listed: boolean
  readonly reasons: readonly ('healthy' | 'unhealthy' | 'protection' | 'no-weight' | 'disabled' | 'other-cluster' | 'selector' | 'short-wait')[]
  readonly overrides: readonly Override[]
  readonly came: {
    /** Epoch milliseconds. */
    readonly atMs: number
    /** How it was registered last. claim: it has waited for the address; memory: it is back as silence removed it. */
    readonly cause: 'registration' | 'deregistration' | 'beat' | 'silence' | 'probe' | 'operator' | 'connection' | 'claim' | 'memory'
  } | null
}

export interface ExplainedInstancePage {
  readonly totalCount: number
  readonly pageNumber: number
  readonly pagesAvailable: number
  readonly pageItems: readonly ExplainedInstance[]
  /** How many the client gets. */
  readonly listedCount: number
  readonly protectThreshold: number
  /** Whether so few are healthy that all are given out as healthy. */
  readonly protecting: boolean
  /** ignored: the client has no such labels, or no instance shares them, so that all are given out. */
  readonly selector: 'none' | 'applied' | 'ignored'
}

export interface TimelineEntry {
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly kind: 'registered' | 'removed' | 'healthy' | 'unhealthy' | 'enabled' | 'disabled' | 'weight' | 'metadata' | 'late-beat' | 'lifted'
  readonly ip: string
  readonly port: number
  readonly clusterName: string
  /** silence: no beats came; operator: somebody asked for it. */
  readonly cause: 'registration' | 'deregistration' | 'beat' | 'silence' | 'probe' | 'operator' | 'connection' | 'claim' | 'memory'
  /** The user that asked for it; null where nobody was signed in. */
  readonly user: string | null
  /** From where it was asked for; null where nobody knows. */
  readonly fromIp: string | null
  /** The result of a probe, or the weights; else empty. */
  readonly text: string
}

export interface Timeline {
  /** Nothing is missing from then on: servers remember it in memory, since they started. */
  readonly fromMs: number
  /** Whether older entries are left out. */
  readonly truncated: boolean
  readonly entries: readonly TimelineEntry[]
  readonly missingServers: readonly string[]
}

export interface Selector {
  readonly type: 'none' | 'label'
  readonly expression?: string
}

export interface HealthChecker {
  readonly type: 'TCP' | 'HTTP' | 'MYSQL' | 'NONE'
  readonly path?: string
  readonly headers?: string
  readonly expectedResponseCode?: number
  readonly user?: string
  readonly cmd?: string
  readonly publicKey?: string
  readonly ca?: string
}

export interface Subscriber {
  readonly addrStr: string
  readonly agent: string
  readonly app: string
  readonly ip: string
  readonly port: number
  readonly namespaceId: string
  readonly serviceName: string
  readonly cluster: string
  /** How it learns of changes: a poll reads the list, and has no port. */
  readonly via: 'udp' | 'stream' | 'poll'
}

export interface ServiceCluster {
  readonly serviceName: string
  readonly name: string
  readonly healthChecker: HealthChecker
  readonly defaultPort: number
  readonly defaultCheckPort: number
  readonly useIPPort4Check: boolean
  readonly metadata: Readonly<Record<string, string>>
}

export interface CatalogService {
  readonly service: {
    readonly name: string
    readonly groupName: string
    readonly protectThreshold: number
    readonly metadata: Readonly<Record<string, string>>
    readonly selector: Selector
  }
  readonly clusters: readonly ServiceCluster[]
}

export interface Figures {
  readonly status: 'UP' | 'DOWN' | 'STARTING' | 'PAUSED' | 'WRITE_ONLY' | 'READ_ONLY'
  readonly serviceCount?: number
  readonly instanceCount?: number
  readonly subscribeCount?: number
  readonly responsibleServiceCount?: number
  readonly responsibleInstanceCount?: number
  readonly cpu?: number
  readonly load?: number
  readonly mem?: number
}

export interface Server {
  readonly ip: string
  readonly servePort: number
  readonly site: string
  readonly weight: number
  readonly adWeight: number
  /** Whether its lease runs. */
  readonly alive: boolean
  /** Whether it replied when it was last asked. */
  readonly replies: boolean
  /** Epoch milliseconds. */
  readonly lastRefTime: number
  readonly lastRefTimeStr: string
  readonly key: string
}

export interface VersionRange {
  readonly from: number
  readonly to: number
}

export interface FigureLines {
  readonly requestsPerSecond: readonly number[]
  readonly processorShare: readonly number[]
  readonly memoryBytes: readonly number[]
  readonly connections: readonly number[]
  readonly storeBytes: readonly number[]
}

export interface ServerFigures {
  /** The time between two values of a line. */
  readonly stepMs: number
  /** The files of the store now; of etcd, its largest file. */
  readonly storeBytes?: number
  readonly lines: FigureLines
}

export interface HeardMember {
  readonly key: string
  /** Whether it replied when it was last asked. */
  readonly replies: boolean
  /** How long ago any server last got an answer from it. */
  readonly agoMs?: number
}

export interface MemberReport {
  /** Since its start. */
  readonly upMs: number
  /** How long it certainly is a member, unless it renews its lease. */
  readonly leaseMs: number
  readonly standing: 'member' | 'alone' | 'down-for-all'
  /** The layout in which the data is written. */
  readonly layout: number
  /** The last revision of the store that it has applied. */
  readonly revision: number
  /** The newest one that it knows of. */
  readonly newestRevision: number
  /** How old what it knows of the store may be. */
  readonly lagMs: number
  /** How often it has loaded everything again. */
  readonly reloads: number
  readonly judgedServices: number
  readonly judgedInstances: number
  readonly hears: readonly HeardMember[]
}

export interface ClusterMember {
  readonly key: string
  readonly ip: string
  readonly port: number
  readonly site: string
  /** Whether its lease runs. */
  readonly alive: boolean
  /** Whether it is the server that answers. */
  readonly self: boolean
  /** Whether it cleans for all. */
  readonly elected: boolean
  /** For how long it is there or away. Absent: longer than the server that answers is there. */
  readonly forMs?: number
  /** How far its clock is ahead of those of most servers; negative: behind. */
  readonly clockAheadMs?: number
  readonly version?: string
  readonly peerPort?: number
  readonly layouts?: VersionRange
  readonly messages?: VersionRange
  readonly figures?: ServerFigures
  readonly report?: MemberReport
}

export interface AuditEvent {
  readonly id: string
  /** Epoch milliseconds. */
  readonly time: number
  /** - is nobody. */
  readonly username: string
  readonly by: 'token' | 'old-token' | 'password' | 'session' | 'certificate' | 'none' | 'tool'
  readonly ip: string
  readonly operation: string
  /** The first one, and how many more there are. */
  readonly item: string
  readonly items: readonly string[]
  readonly unchangedItems: readonly string[]
  /** How many items: an event keeps the names of the first 200 at most. */
  readonly itemCount: number
  readonly result: 'done' | 'refused' | 'failed' | 'would-be-refused'
  /** The code of the refusal, or empty. */
  readonly code: string
  readonly detail: string
  /** How many equal events it stands for. */
  readonly count: number
}
