import { addressList, hostList, integerOr, oneOf, reachableHost, shortText, urlList } from './kinds.ts'
import { etcdAccessDefinitions } from './etcd-access-definitions.ts'
import { limitDefinitions } from './limit-definitions.ts'
import { signInDefinitions } from './sign-in-definitions.ts'
import { undocumentedDefinitions } from './undocumented-definitions.ts'
import {
  SECOND,
  MINUTE,
  HOUR,
  DAY,
  GIB,
  KIB,
  MIB,
  integerSetting,
  durationSetting,
  sizeSetting,
  textSetting,
  type Definition,
} from './setting.ts'

/** The levels of the log, from the most verbose. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** Whether the servers compact etcd. */
const COMPACT_MODES = ['auto', 'on', 'off'] as const

/** The place of the data. */
const STORES = ['embedded', 'etcd'] as const

/** Settings by their keys in `Settings`. */
type Section = Readonly<Record<string, Definition<unknown>>>

const addresses = {
  host: textSetting('host', {
    default: '127.0.0.1',
    notEmpty: true,
    meaning: 'The address to listen on. `0.0.0.0` or `::` means every address of the machine.',
    detail: 'Other addresses than loopback need `auth`, or `open-to-everyone`.',
  }),
  port: integerSetting('port', {
    default: 8848,
    min: 0,
    max: 65_535,
    meaning: 'The TCP port to listen on. 0 takes a free port and prints it.',
  }),
  grpcPort: {
    name: 'grpc-port',
    kind: integerOr('auto', { min: 0, max: 65_535 }),
    default: 'auto' as number | 'auto',
    shownDefault: 'auto',
    meaning: 'The TCP port for clients that use gRPC, on the same address. auto: `port` + 1000. 0: none.',
    detail:
      'Clients add 1000 to the port that they are given, so another port needs a mapping. If `port` is 0 and the port 1000 above the chosen one is taken, a free one is used, which the log tells.',
  },
  advertiseHost: {
    name: 'advertise-host',
    kind: reachableHost(),
    default: '',
    shownDefault: '',
    meaning: 'The address of this server in the server list.',
    detail:
      'Empty means `host`. If `host` is every address of the machine, it means the first one that others can reach. IPv6 may have brackets.',
  },
  advertisePort: integerSetting('advertise-port', {
    default: 0,
    min: 0,
    max: 65_535,
    meaning: 'The port of this server in the server list. 0 means `port`.',
    detail: 'With `store=etcd`, `advertise-host` and this port are the name of the server among the others.',
  }),
  site: {
    name: 'site',
    kind: shortText(128),
    default: 'unknown',
    shownDefault: 'unknown',
    meaning: 'The site of this server in the server list.',
  },
} satisfies Section

const storage = {
  dataDir: textSetting('data-dir', {
    default: './data',
    notEmpty: true,
    meaning: 'The directory of all stored data. Only one server at a time may use it.',
    detail: 'A missing directory is created. A relative path starts at the working directory.',
  }),
  store: {
    name: 'store',
    kind: oneOf(STORES),
    default: 'embedded' as (typeof STORES)[number],
    shownDefault: 'embedded',
    meaning: 'Where data are kept: embedded (in `data-dir`), or etcd, for several equal servers.',
    detail: 'With `etcd`, nothing is kept in `data-dir`. See docs/cluster.md.',
  },
  etcdEndpoints: {
    name: 'etcd-endpoints',
    kind: urlList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning: 'The members of the etcd cluster, such as `http://10.0.0.1:2379`. For `store=etcd`.',
    detail: 'Name all endpoints: when one fails, the server uses another. With TLS they begin with `https:`.',
  },
  ...etcdAccessDefinitions,
  etcdCompact: {
    name: 'etcd-compact',
    kind: oneOf(COMPACT_MODES),
    default: 'auto' as (typeof COMPACT_MODES)[number],
    shownDefault: 'auto',
    meaning:
      'Whether the elected server has etcd forget what keys were more than ten minutes ago (compaction).',
    detail:
      'Compaction concerns all keys of etcd. `auto`: only while all keys there begin with `etcd-prefix`. Off for an etcd that others share and watch.',
  },
  etcdQuotaBytes: sizeSetting('etcd-quota', {
    default: 2 * GIB,
    min: 16 * MIB,
    max: 1024 * GIB,
    meaning: 'The `--quota-backend-bytes` of etcd 3.5. Etcd 3.6 tells it by itself.',
  }),
  etcdPrefix: textSetting('etcd-prefix', {
    default: 'waypost',
    notEmpty: true,
    meaning: 'What all keys in etcd begin with. Servers with the same one are one installation.',
  }),
  peerPort: integerSetting('peer-port', {
    default: 0,
    min: 0,
    max: 65_535,
    meaning: 'The TCP port on which the servers of an installation ask each other. 0: `port` + 2000.',
    detail:
      'It is on the address `host`. Only for `store=etcd`. The servers speak TLS on it, without certificates.',
  }),
} satisfies Section

const monitoring = {
  metricsHost: textSetting('metrics-host', {
    default: '',
    meaning: 'An address for `/metrics` alone, without sign-in. Empty: there is none.',
    detail:
      'It serves `/metrics`, `/healthz` and `/readyz` without TLS. On the main address, `/metrics` needs a permission.',
  }),
  metricsPort: integerSetting('metrics-port', {
    default: 8849,
    min: 0,
    max: 65_535,
    meaning: 'The TCP port of `metrics-host`. 0 takes a free port, which the log tells.',
  }),
  logLevel: {
    name: 'log-level',
    kind: oneOf(LOG_LEVELS),
    default: 'info' as (typeof LOG_LEVELS)[number],
    shownDefault: 'info',
    meaning: 'The lowest level that is logged: trace, debug, info, warn, error or silent.',
  },
} satisfies Section

const proxies = {
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
} satisfies Section

const backups = {
  backupDir: textSetting('backup-dir', {
    default: '',
    meaning:
      'The directory for backups of `waypost backup --server`. Empty: `backups` in the data directory.',
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
} satisfies Section

const history = {
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
  historyMaxBytes: sizeSetting('history-max-bytes', {
    default: 4 * GIB,
    min: MIB,
    max: 1024 * GIB,
    meaning: 'The most bytes that the history of all configurations takes, oldest records removed first.',
    detail:
      'It is kept with each publish, and wins over `history-keep`, but the newest record of each existing item stays. With `store=etcd`, at most a quarter of etcd’s quota.',
  }),
  historyMaxBytesOfItem: sizeSetting('history-max-bytes-item', {
    default: 256 * MIB,
    min: KIB,
    max: 1024 * GIB,
    meaning: 'The most bytes that the history of one configuration takes, oldest records removed first.',
    detail: 'It is kept with each publish, and wins over `history-keep`, but the newest record stays.',
  }),
  storeReserveBytes: sizeSetting('store-reserve', {
    default: 256 * MIB,
    min: 0,
    max: 1024 * 1024 * GIB,
    meaning: 'The room that stays free in the store: with less, publishes, imports and metadata are refused.',
    detail:
      'Room is free space on the disk of `data-dir`, or with `store=etcd` what its file may still grow (`etcd-quota`). Registrations, beats, sessions, users and deletions still work. 0: nothing is refused.',
  }),
  auditMaxEvents: integerSetting('audit-max-events', {
    default: 200_000,
    min: 1_000,
    max: 100_000_000,
    meaning: 'How many events the audit keeps; the oldest are removed.',
    detail: 'At most a quarter are refusals. 200,000 events take about 25 MB of the store.',
  }),
  auditRetentionMs: durationSetting('audit-retention', {
    default: 180 * DAY,
    min: HOUR,
    max: 36_500 * DAY,
    meaning: 'How long the audit keeps events.',
  }),
  auditLog: textSetting('audit-log', {
    default: '',
    meaning: 'Where events of the audit are written besides, one line of JSON each: `stdout` or a file.',
    detail: 'Empty: nowhere. Lines are appended; you may rename the file at any time.',
  }),
  namespaceQuota: integerSetting('namespace-quota', {
    default: 200,
    min: 1,
    max: 1_000_000,
    meaning: 'The quota of configurations that the namespace list shows. It is not enforced.',
  }),
} satisfies Section

const services = {
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
  probeNetworks: {
    name: 'probe-networks',
    kind: addressList(),
    default: Object.freeze([]) as readonly string[],
    shownDefault: '',
    meaning:
      'The only networks that health probes connect to. Empty: no limit besides the forbidden addresses.',
    detail:
      'The address after name resolution counts. An instance outside is unhealthy, with the reason, unless its checker is NONE.',
  },
} satisfies Section

const connections = {
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
} satisfies Section

/** The settings in the groups of help and reference. */
export const SETTING_GROUPS: Readonly<Record<string, Section>> = {
  'Addresses and ports': addresses,
  'Where data are kept': storage,
  'Sign-in and TLS': signInDefinitions,
  'Metrics and log': monitoring,
  'Proxies and host names': proxies,
  Backups: backups,
  'History and audit': history,
  'Services and their health': services,
  Limits: limitDefinitions,
  Connections: connections,
}

/** All settings of the server, by their key in `Settings`. There, durations are in ms and sizes in bytes. */
export const definitions = {
  ...addresses,
  ...storage,
  ...signInDefinitions,
  ...monitoring,
  ...proxies,
  ...backups,
  ...history,
  ...services,
  ...limitDefinitions,
  ...connections,
  ...undocumentedDefinitions,
}
