import type { JsonSchema } from '../../routing/route.ts'
import { SERVER_STATUSES, type Switches } from '../../../../core/switches/switches.ts'
import { Json } from '../../routing/answers.ts'

const { boolean, integer, number, object, optional, string } = Json

const INTERVAL = Json.named('ProbeInterval', object({ max: integer(), min: integer(), factor: number() }))
const SERVER_STATUS = Json.words(SERVER_STATUSES)

const SWITCH_FIELDS = {
  masters: Json.nullable(Json.list(string())),
  defaultPushCacheMillis: integer('What a client may cache a list when pushes reach it, ms.'),
  clientBeatInterval: integer('The beat interval of instances that do not set their own, ms.'),
  defaultCacheMillis: integer('What a client may cache a list otherwise, ms.'),
  distroThreshold: number('The share of live servers under which no silence is judged.'),
  healthCheckEnabled: boolean(),
  autoChangeHealthCheckEnabled: boolean(),
  distroEnabled: boolean(),
  enableStandalone: boolean(),
  pushEnabled: boolean(),
  checkTimes: integer('How many equal probe results in a row change the health of an instance.'),
  httpHealthParams: INTERVAL,
  tcpHealthParams: INTERVAL,
  mysqlHealthParams: INTERVAL,
  incrementalList: Json.list(string()),
  serverStatusSynchronizationPeriodMillis: integer(),
  serviceStatusSynchronizationPeriodMillis: integer(),
  disableAddIP: boolean(),
  sendBeatOnly: boolean(),
  lightBeatEnabled: boolean(),
  limitedUrlMap: Json.map(integer('The status of requests that start with this path.')),
  distroServerExpiredMillis: integer(),
  pushGoVersion: string(),
  pushJavaVersion: string(),
  pushPythonVersion: string(),
  pushCVersion: string(),
  pushCSharpVersion: string(),
  enableAuthentication: boolean('Whether callers must sign in.'),
  overriddenServerStatus: Json.nullable(SERVER_STATUS),
  defaultInstanceEphemeral: boolean(),
  healthCheckWhiteList: Json.list(string()),
} satisfies Record<keyof Switches, JsonSchema>

/** The answer about the switches. */
export const SWITCHES = Json.named(
  'Switches',
  object({ name: string(), adWeightMap: object({}), ...SWITCH_FIELDS, checksum: string() }),
)

/** The figures; only the status where the caller may not see more. */
export const FIGURES = Json.named(
  'Figures',
  object({
    status: SERVER_STATUS,
    serviceCount: optional(integer()),
    instanceCount: optional(integer()),
    subscribeCount: optional(integer()),
    responsibleServiceCount: optional(integer()),
    responsibleInstanceCount: optional(integer()),
    cpu: optional(number()),
    load: optional(number()),
    mem: optional(number()),
  }),
)

/** The servers. */
export const SERVERS = object({
  servers: Json.list(
    Json.named(
      'Server',
      object({
        ip: string(),
        servePort: integer(),
        site: string(),
        weight: integer(),
        adWeight: integer(),
        alive: boolean('Whether its lease runs.'),
        replies: boolean('Whether it replied when it was last asked.'),
        lastRefTime: Json.time(),
        lastRefTimeStr: string(),
        key: string(),
      }),
    ),
  ),
})

const VERSIONS = Json.named('VersionRange', object({ from: integer(), to: integer() }))

const MEASURED = Json.named(
  'ServerFigures',
  object({
    stepMs: integer('The time between two values of a line.'),
    storeBytes: optional(integer('The files of the store now; of etcd, its largest file.')),
    lines: Json.named(
      'FigureLines',
      object({
        requestsPerSecond: Json.list(number('Answered requests of HTTP and gRPC.')),
        processorShare: Json.list(number('A part of one processor: 2 is all of two processors.')),
        memoryBytes: Json.list(integer('Resident memory.')),
        connections: Json.list(integer('Open connections of HTTP and gRPC.')),
        storeBytes: Json.list(integer()),
      }),
    ),
  }),
)

/** The servers, each with its own report. */
export const CLUSTER = object({
  members: Json.list(
    Json.named(
      'ClusterMember',
      object({
        key: string(),
        ip: string(),
        port: integer(),
        site: string(),
        alive: boolean('Whether its lease runs.'),
        self: boolean('Whether it is the server that answers.'),
        elected: boolean('Whether it cleans for all.'),
        forMs: optional(
          integer('For how long it is there or away. Absent: longer than the server that answers is there.'),
        ),
        clockAheadMs: optional(
          integer('How far its clock is ahead of those of most servers; negative: behind.'),
        ),
        version: optional(string()),
        peerPort: optional(integer()),
        layouts: optional(VERSIONS),
        messages: optional(VERSIONS),
        figures: optional(MEASURED),
        report: optional(
          Json.named(
            'MemberReport',
            object({
              upMs: integer('Since its start.'),
              leaseMs: integer('How long it certainly is a member, unless it renews its lease.'),
              standing: Json.words(['member', 'alone', 'down-for-all']),
              layout: integer('The layout in which the data is written.'),
              revision: integer('The last revision of the store that it has applied.'),
              newestRevision: integer('The newest one that it knows of.'),
              lagMs: integer('How old what it knows of the store may be.'),
              reloads: integer('How often it has loaded everything again.'),
              judgedServices: integer(),
              judgedInstances: integer(),
              hears: Json.list(
                Json.named(
                  'HeardMember',
                  object({
                    key: string(),
                    replies: boolean('Whether it replied when it was last asked.'),
                    agoMs: optional(integer('How long ago any server last got an answer from it.')),
                  }),
                ),
              ),
            }),
          ),
        ),
      }),
    ),
  ),
})

/** The leader, as JSON in a string. */
export const LEADER = object({
  leader: string('JSON: heartbeatDueMs, ip, leaderDueMs, state, term, voteFor.'),
})

/** A backup that was made. */
export const BACKUP = object({
  path: string(),
  size: integer('Bytes.'),
  revision: integer(),
  createdMs: Json.time(),
  checksum: string(),
  heldMs: number(),
  logBytes: integer(),
  tookMs: number(),
})

/** How far a backup has come. */
export const BACKUP_PROGRESS = object({
  running: boolean(),
  step: optional(string()),
  done: optional(integer()),
  total: optional(integer()),
})
