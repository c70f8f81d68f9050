import { addressList, boolean, hostList, oneOf } from './kinds.ts'
import { limitDefinitions } from './limit-definitions.ts'
import {
  SECOND,
  MINUTE,
  HOUR,
  DAY,
  MIB,
  integerSetting,
  durationSetting,
  sizeSetting,
  textSetting,
  type Definition,
} from './setting.ts'

/** The levels of the log, from the most verbose. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** All settings of the server, by their key in `Settings`. There, durations are in ms and sizes in bytes. */
export const definitions = {
  host: textSetting('host', {
    default: '127.0.0.1',
    notEmpty: true,
    meaning: 'The address to listen on. `0.0.0.0` or `::` means every address of the machine.',
    detail: 'There is no sign-in yet: listen on every address only in a trusted network.',
  }),
  port: integerSetting('port', {
    default: 8848,
    min: 0,
    max: 65_535,
    meaning: 'The TCP port to listen on. 0 takes a free port and prints it.',
  }),
  advertiseHost: textSetting('advertise-host', {
    default: '',
    meaning: 'The address of this server in the server list.',
    detail:
      'Empty means `host`. If `host` is every address of the machine, it means the first one that others can reach.',
  }),
  site: textSetting('site', {
    default: 'unknown',
    meaning: 'The site of this server in the server list.',
  }),
  dataDir: textSetting('data-dir', {
    default: './data',
    notEmpty: true,
    meaning: 'The directory of all stored data. Only one server at a time may use it.',
    detail: 'A missing directory is created. A relative path starts at the working directory.',
  }),
  logLevel: {
    name: 'log-level',
    kind: oneOf(LOG_LEVELS),
    default: 'info' as (typeof LOG_LEVELS)[number],
    shownDefault: 'info',
    meaning: 'The lowest level that is logged: trace, debug, info, warn, error or silent.',
  },
  trustedProxies: {
    name: 'trusted-proxies',
    kind: addressList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning: 'The proxies whose `X-Forwarded-For` names the address of the client.',
    detail: 'From every other address, that header is ignored.',
  },
  allowedHosts: {
    name: 'allowed-hosts',
    kind: hostList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning: 'Names of this server, besides IP addresses, `localhost` and `advertise-host`.',
    detail:
      'Browsers must use one of these names; if the server listens on a loopback address, so must every client. If a proxy changes `Host`, list the host of the web pages here, with its port unless that is 80 or 443.',
  },

  backupDir: textSetting('backup-dir', {
    default: '',
    meaning: 'The directory for backups of `waypost backup --url`. Empty: `backups` in the data directory.',
  }),
  maxBackups: integerSetting('max-backups', {
    default: 10,
    min: 1,
    max: 10_000,
    meaning: 'The most backups in that directory.',
    detail: 'Further backups are refused until you move or delete some.',
  }),
  backupBytesPerSecond: sizeSetting('backup-rate', {
    default: 128 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    meaning: 'The most bytes that a backup copies per second, so that the disk can also serve writes.',
  }),

  historyRetentionMs: durationSetting('history-retention', {
    default: 30 * DAY,
    min: 0,
    max: 36_500 * DAY,
    meaning: 'How long history records of configurations are kept.',
  }),
  historyKeep: integerSetting('history-keep', {
    default: 20,
    min: 0,
    max: 100_000,
    meaning: 'How many of the newest history records of each existing item are always kept.',
  }),
  historyCleanIntervalMs: durationSetting('history-clean-interval', {
    default: 10 * MINUTE,
    min: SECOND,
    max: 7 * DAY,
    meaning: 'How often expired history is removed, in small steps.',
  }),
  namespaceQuota: integerSetting('namespace-quota', {
    default: 200,
    min: 1,
    max: 1_000_000,
    meaning: 'The quota of configurations that the namespace list shows. It is not enforced.',
  }),

  emptyServiceExpiryMs: durationSetting('empty-service-expiry', {
    default: 60 * SECOND,
    min: SECOND,
    max: 365 * DAY,
    meaning: 'How long a service that a registration created may be empty before it is removed.',
    detail: 'A service that an operator created stays.',
  }),
  expiredMetadataTimeMs: durationSetting('svc.naming.clean.expired-metadata.expired-time', {
    default: MINUTE,
    min: 0,
    max: 365 * DAY,
    meaning: 'How long modified metadata is remembered after its instance is removed.',
  }),
  expiredMetadataIntervalMs: durationSetting('svc.naming.clean.expired-metadata.interval', {
    default: 5 * SECOND,
    min: 100,
    max: DAY,
    meaning: 'How often expired remembered metadata is removed.',
  }),
  probeConcurrency: integerSetting('probe-concurrency', {
    default: 64,
    min: 1,
    max: 10_000,
    meaning: 'The most health probes of persistent instances that run at once.',
  }),

  ...limitDefinitions,

  keepAliveTimeoutMs: durationSetting('keep-alive-timeout', {
    default: 90 * SECOND,
    min: SECOND,
    max: HOUR,
    meaning: 'How long an idle connection stays open.',
    detail:
      'It must be clearly longer than the interval of client beats (5 seconds). Otherwise clients write into a connection that is being closed.',
  }),
  requestTimeoutMs: durationSetting('request-timeout', {
    default: 30 * SECOND,
    min: SECOND,
    max: HOUR,
    meaning: 'How long a client may take to send a request.',
  }),
  shutdownGraceMs: durationSetting('shutdown-grace', {
    default: 4 * SECOND,
    min: 0,
    max: HOUR,
    meaning: 'How long a stopping server waits for the requests that it has received.',
  }),
  nodeStreams: {
    name: 'node-streams',
    kind: boolean(),
    default: false as boolean,
    shownDefault: 'false',
    meaning: 'Send all answers through Node.js streams, which costs a fifth of the requests per second.',
    detail: 'On an untested version of Node.js the server does so by itself.',
  },
} satisfies Readonly<Record<string, Definition<unknown>>>
