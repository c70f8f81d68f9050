import { addressList, byteSize, duration, integer, oneOf, showDuration, showSize, text } from './kinds.ts'
import type { Kind } from './kinds.ts'

/** One setting: where it is named, what it may be, and what it means. Everything else is derived from this. */
export interface Definition<T> {
  /** The name as a flag and in a settings file; the environment variable is made from it. */
  readonly name: string
  readonly kind: Kind<T>
  readonly default: T
  /** The default as a person would write it. */
  readonly shownDefault: string
  /** What it means, for the reference: whole sentences. */
  readonly meaning: string
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

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

  maxInstanceMetadataBytes: sizeSetting('max-instance-metadata', {
    default: 8 * KIB,
    min: 0,
    max: MIB,
    meaning: 'The most metadata that one instance may have.',
  }),
  maxContentBytes: sizeSetting('max-content', {
    default: 10 * MIB,
    min: 1,
    max: 64 * MIB,
    meaning: 'The largest configuration, in bytes of UTF-8.',
  }),
  maxFormBodyBytes: sizeSetting('max-form-body', {
    default: 32 * MIB,
    min: KIB,
    max: 256 * MIB,
    meaning:
      'The largest request body of a publish. A form spells some characters with three bytes for one, so this is best a little over three times `max-content`.',
  }),
  maxBodyBytes: sizeSetting('max-body', {
    default: 2 * MIB,
    min: KIB,
    max: 256 * MIB,
    meaning: 'The largest request body of every other operation.',
  }),
  maxImportBytes: sizeSetting('max-import', {
    default: 64 * MIB,
    min: KIB,
    max: 1024 * MIB,
    meaning: 'The largest request body of an import: the zip file with what the upload adds to it.',
  }),
  maxImportContentBytes: sizeSetting('max-import-content', {
    default: 512 * MIB,
    min: KIB,
    max: 16 * 1024 * MIB,
    meaning: 'The most that the entries of an imported zip file may unpack to, all together.',
  }),
  maxRequestLineBytes: sizeSetting('max-request-line', {
    default: 512 * KIB,
    min: 8 * KIB,
    max: 16 * MIB,
    meaning: 'The longest request line with its headers. Some clients publish in the query string.',
  }),
  maxBodyMemoryBytes: sizeSetting('max-body-memory', {
    default: 512 * MIB,
    min: MIB,
    max: 64 * GIB,
    meaning:
      'The most memory that all request bodies that are being read may take together. While it is full, bodies of more than 16 KiB are refused; beats and registrations go on.',
  }),
  maxContentMemoryBytes: sizeSetting('max-content-memory', {
    default: 0,
    min: 0,
    max: 1024 * GIB,
    meaning:
      'The most memory that the current contents of all configurations may take together. A publish that would need more is refused; what is there can be read, deleted and replaced by something no larger. 0: half of the memory of the machine, or of its container.',
  }),
  maxHeaders: integerSetting('max-headers', {
    default: 200,
    min: 20,
    max: 10_000,
    meaning: 'The most header fields of one request.',
  }),
  maxJsonDepth: integerSetting('max-json-depth', {
    default: 32,
    min: 2,
    max: 1_000,
    meaning: 'How deeply a JSON parameter (metadata, beat, instances, selector and the like) may be nested.',
  }),
  maxPipelinedRequests: integerSetting('max-pipelined-requests', {
    default: 256,
    min: 1,
    max: 100_000,
    meaning: 'The most requests that a connection may send ahead of the answer to an earlier one.',
  }),
  maxParameters: integerSetting('max-parameters', {
    default: 1000,
    min: 20,
    max: 100_000,
    meaning: 'The most parameters of one request, query and form body together.',
  }),
  maxListeningItems: integerSetting('max-listening-items', {
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'The most items that one long poll may watch.',
  }),
  maxHeldPolls: integerSetting('max-held-polls', {
    default: 18_000,
    min: 1,
    max: 1_000_000,
    meaning:
      'The most long polls that are held at once: fewer than connections, so that there is room to publish.',
  }),
  maxHeldPollsPerAddress: integerSetting('max-held-polls-per-address', {
    default: 0,
    min: 0,
    max: 1_000_000,
    meaning:
      'The most long polls of one address that are held at once. 0: no limit of its own, because thousands of clients may come through one NAT.',
  }),
  maxConnections: integerSetting('max-connections', {
    default: 20_000,
    min: 1,
    max: 1_000_000,
    meaning: 'The most connections at once; further ones are told so and closed.',
  }),
  maxConnectionsPerAddress: integerSetting('max-connections-per-address', {
    default: 0,
    min: 0,
    max: 1_000_000,
    meaning:
      'The most connections of one address at once. 0: no limit of its own, because thousands of clients may come through one NAT or proxy.',
  }),
  maxUnreadBytes: sizeSetting('max-unread', {
    default: 64 * KIB,
    min: KIB,
    max: GIB,
    meaning:
      'How much of its answers a client may leave unread for longer than `unread-timeout`. Beyond, the connection is cut.',
  }),
  unreadTimeoutMs: durationSetting('unread-timeout', {
    default: MINUTE,
    min: SECOND,
    max: HOUR,
    meaning: 'How long a client may take to read an answer of more than `max-unread`.',
  }),
  maxDatagramsPerSecond: integerSetting('max-datagrams-per-second', {
    default: 50_000,
    min: 100,
    max: 10_000_000,
    meaning: 'The most UDP datagrams (acks of pushes) that are read in a second; further ones are dropped.',
  }),

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
} satisfies Readonly<Record<string, Definition<unknown>>>

interface About<T> {
  readonly default: T
  readonly meaning: string
}

interface AboutNumber extends About<number> {
  readonly min: number
  readonly max: number
}

function textSetting(name: string, about: About<string> & { notEmpty?: boolean }): Definition<string> {
  const kind = text(about.notEmpty ? { notEmpty: true } : {})
  return { name, kind, default: about.default, shownDefault: about.default, meaning: about.meaning }
}

function integerSetting(name: string, about: AboutNumber): Definition<number> {
  return {
    name,
    kind: integer(about),
    default: about.default,
    shownDefault: `${about.default}`,
    meaning: about.meaning,
  }
}

function durationSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showDuration(about.default)
  return { name, kind: duration(about), default: about.default, shownDefault, meaning: about.meaning }
}

function sizeSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showSize(about.default)
  return { name, kind: byteSize(about), default: about.default, shownDefault, meaning: about.meaning }
}
