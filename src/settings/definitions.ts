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

/** The levels of the log, from the most talkative. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** Every setting of the server, by the key it has in `Settings`. Durations are in ms and sizes in bytes there. */
export const definitions = {
  host: textSetting('host', {
    default: '127.0.0.1',
    notEmpty: true,
    meaning:
      'The address to listen on. `0.0.0.0` or `::` listens on every address of the machine: there is no sign-in yet, so do that in a trusted network only.',
  }),
  port: integerSetting('port', {
    default: 8848,
    min: 0,
    max: 65_535,
    meaning: 'The TCP port to listen on. 0 takes any free port and prints it.',
  }),
  advertiseHost: textSetting('advertise-host', {
    default: '',
    meaning:
      'The address that the server list names for this server. Empty: `host`, or the first address of the machine that others can reach where `host` listens on every address.',
  }),
  site: textSetting('site', {
    default: 'unknown',
    meaning: 'The site that the server list names for this server.',
  }),
  dataDir: textSetting('data-dir', {
    default: './data',
    notEmpty: true,
    meaning:
      'The directory that holds everything the server must remember; it is made where it is missing. One server uses it at a time. A relative path starts at the working directory.',
  }),
  logLevel: {
    name: 'log-level',
    kind: oneOf(LOG_LEVELS),
    default: 'info' as (typeof LOG_LEVELS)[number],
    shownDefault: 'info',
    meaning: 'The least important log lines that are written.',
  },
  trustedProxies: {
    name: 'trusted-proxies',
    kind: addressList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning:
      'The proxies whose `X-Forwarded-For` is believed when the address of a client is recorded. From any other address that header is ignored.',
  },
  allowedHosts: {
    name: 'allowed-hosts',
    kind: hostList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning:
      'The names under which browsers reach this server, besides IP addresses, `localhost` and `advertise-host`. On a loopback address this holds for every client. Behind a proxy that changes `Host`, name the host of the pages here, with its port if that is not 80 or 443.',
  },

  backupDir: textSetting('backup-dir', {
    default: '',
    meaning:
      'The directory that `waypost backup --url` has the server make its backups in. Empty: `backups` in the data directory.',
  }),
  maxBackups: integerSetting('max-backups', {
    default: 10,
    min: 1,
    max: 10_000,
    meaning:
      'How many backups may lie in that directory; further ones are refused until some are moved or deleted.',
  }),
  backupBytesPerSecond: sizeSetting('backup-rate', {
    default: 128 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    meaning:
      'How many bytes of the store a backup copies in a second at most, so that the disk serves writes as well.',
  }),

  historyRetentionMs: durationSetting('history-retention', {
    default: 30 * DAY,
    min: 0,
    max: 36_500 * DAY,
    meaning: 'How long the history of configurations is kept.',
  }),
  historyKeep: integerSetting('history-keep', {
    default: 20,
    min: 0,
    max: 100_000,
    meaning: 'How many of the newest history records of each living item are kept, however old they are.',
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
    meaning: 'The quota of configurations that the namespace list shows. It is shown and not enforced.',
  }),

  emptyServiceExpiryMs: durationSetting('empty-service-expiry', {
    default: 60 * SECOND,
    min: SECOND,
    max: 365 * DAY,
    meaning:
      'A service that was made by a registration leaves after it has been empty for so long. One that was created stays.',
  }),
  expiredMetadataTimeMs: durationSetting('svc.naming.clean.expired-metadata.expired-time', {
    default: MINUTE,
    min: 0,
    max: 365 * DAY,
    meaning: 'How long metadata that a modify operation wrote is remembered after its instance has gone.',
  }),
  expiredMetadataIntervalMs: durationSetting('svc.naming.clean.expired-metadata.interval', {
    default: 5 * SECOND,
    min: 100,
    max: DAY,
    meaning: 'How often remembered metadata is looked through for what has expired.',
  }),
  probeConcurrency: integerSetting('probe-concurrency', {
    default: 64,
    min: 1,
    max: 10_000,
    meaning: 'How many health probes of persistent instances run at once.',
  }),

  ...limitDefinitions,

  keepAliveTimeoutMs: durationSetting('keep-alive-timeout', {
    default: 90 * SECOND,
    min: SECOND,
    max: HOUR,
    meaning:
      'How long an idle connection is kept open. Clients that beat every 5 seconds need clearly more than that, or they write into a closing connection.',
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
    meaning: 'How long a stopping server waits for the requests that it has begun.',
  }),
  nodeStreams: {
    name: 'node-streams',
    kind: boolean(),
    default: false as boolean,
    shownDefault: 'false',
    meaning:
      'Send all answers through Node.js streams, which costs about a fifth of the requests a second. The server does so by itself on versions of Node.js that it is not tested with.',
  },
} satisfies Readonly<Record<string, Definition<unknown>>>
