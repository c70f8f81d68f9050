/** The bounds of an adaptive probe interval (ms) and how slowly it adapts (0 to 1, exclusive). */
export interface IntervalParams {
  readonly max: number
  readonly min: number
  readonly factor: number
}

/** Whether and how this server serves; `null` lifts the override. */
export const SERVER_STATUSES = ['UP', 'DOWN', 'STARTING', 'PAUSED', 'WRITE_ONLY', 'READ_ONLY'] as const

/** One of {@link SERVER_STATUSES}. */
export type ServerStatus = (typeof SERVER_STATUSES)[number]

/** The system switches that operators can set (interface.md, System switches; http-compat.md section 4). */
export interface Switches {
  /** Which servers may lead, `ip:port` each; kept and given back: one server leads itself. */
  readonly masters: readonly string[] | null
  /** How long a client may cache a list when pushes reach it, ms. */
  readonly defaultPushCacheMillis: number
  /** The beat interval of instances that do not set their own, ms. */
  readonly clientBeatInterval: number
  /** How long a client may cache a list otherwise, ms. */
  readonly defaultCacheMillis: number
  /** The share of live servers below which no silence is judged: the fault may be this server's. */
  readonly distroThreshold: number
  readonly healthCheckEnabled: boolean
  readonly autoChangeHealthCheckEnabled: boolean
  readonly distroEnabled: boolean
  readonly enableStandalone: boolean
  readonly pushEnabled: boolean
  /** How many equal probe results in a row change an instance's health. */
  readonly checkTimes: number
  readonly httpHealthParams: IntervalParams
  readonly tcpHealthParams: IntervalParams
  readonly mysqlHealthParams: IntervalParams
  readonly incrementalList: readonly string[]
  readonly serverStatusSynchronizationPeriodMillis: number
  readonly serviceStatusSynchronizationPeriodMillis: number
  readonly disableAddIP: boolean
  readonly sendBeatOnly: boolean
  readonly lightBeatEnabled: boolean
  /** The status that requests whose path and query start with the key are answered with. */
  readonly limitedUrlMap: Readonly<Record<string, number>>
  readonly distroServerExpiredMillis: number
  readonly pushGoVersion: string
  readonly pushJavaVersion: string
  readonly pushPythonVersion: string
  readonly pushCVersion: string
  readonly pushCSharpVersion: string
  readonly enableAuthentication: boolean
  readonly overriddenServerStatus: ServerStatus | null
  readonly defaultInstanceEphemeral: boolean
  readonly healthCheckWhiteList: readonly string[]
}

/** Clients are asked to wait at least this long between beats, ms: a thousand faster clients would take the whole server. */
export const LEAST_INTERVAL_MS = 500
/** Clients are asked to beat at least this often, ms. */
export const MOST_INTERVAL_MS = 60_000

/** Some switches with their new values. */
export type SwitchPatch = Partial<Switches>

/** The default of every switch (http-compat.md section 4). */
export const DEFAULT_SWITCHES: Switches = Object.freeze({
  masters: null,
  defaultPushCacheMillis: 10_000,
  clientBeatInterval: 5_000,
  defaultCacheMillis: 3_000,
  distroThreshold: 0.7,
  healthCheckEnabled: true,
  autoChangeHealthCheckEnabled: true,
  distroEnabled: true,
  enableStandalone: true,
  pushEnabled: true,
  checkTimes: 3,
  httpHealthParams: { max: 5_000, min: 500, factor: 0.85 },
  tcpHealthParams: { max: 5_000, min: 1_000, factor: 0.75 },
  mysqlHealthParams: { max: 3_000, min: 2_000, factor: 0.65 },
  incrementalList: [],
  serverStatusSynchronizationPeriodMillis: 2_000,
  serviceStatusSynchronizationPeriodMillis: 5_000,
  disableAddIP: false,
  sendBeatOnly: false,
  lightBeatEnabled: true,
  limitedUrlMap: {},
  distroServerExpiredMillis: 10_000,
  pushGoVersion: '0.1.0',
  pushJavaVersion: '0.1.0',
  pushPythonVersion: '0.4.3',
  pushCVersion: '1.0.12',
  pushCSharpVersion: '0.9.0',
  enableAuthentication: false,
  overriddenServerStatus: null,
  defaultInstanceEphemeral: true,
  healthCheckWhiteList: [],
})
