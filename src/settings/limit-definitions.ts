import {
  GIB,
  integerSetting,
  KIB,
  MIB,
  MINUTE,
  HOUR,
  SECOND,
  durationSetting,
  sizeSetting,
  type Definition,
} from './setting.ts'

/** The limits on clients. docs/security.md has the answer to a request beyond each limit. */
export const limitDefinitions = {
  maxInstanceMetadataBytes: sizeSetting('max-instance-metadata', {
    default: 8 * KIB,
    min: 0,
    max: MIB,
    meaning: 'The most metadata of one instance.',
  }),
  maxContentBytes: sizeSetting('max-content', {
    default: 10 * MIB,
    min: 1,
    max: 64 * MIB,
    meaning: 'The largest content of a configuration, in bytes of UTF-8.',
  }),
  maxFormBodyBytes: sizeSetting('max-form-body', {
    default: 32 * MIB,
    min: KIB,
    max: 256 * MIB,
    meaning: 'The largest request body of a publish.',
    detail:
      'A form escapes some characters as three bytes, so use a little more than three times `max-content`.',
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
    meaning: 'The largest request body of an import: the zip file and its multipart lines.',
  }),
  maxImportContentBytes: sizeSetting('max-import-content', {
    default: 512 * MIB,
    min: KIB,
    max: 16 * 1024 * MIB,
    meaning: 'The most bytes that all entries of an imported zip file may unpack to.',
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
      'The most memory of all request bodies that are being read; never more than an eighth of the heap of the process.',
    detail:
      'With authentication, a quarter of it is for forms of senders who are not known yet. While it is full, bodies of more than 16 KiB are refused, or slow ones give way. Beats and registrations still work. Answers that clients have not read may take as much again, and with a small heap an eighth of the memory, up to 512 MiB. Beyond that the user or address with most loses its oldest. gRPC has as much for requests, and for unread answers. Callers of gRPC who have not set up a connection or shown a valid token share a quarter of it.',
  }),
  maxStateMemoryBytes: sizeSetting('max-state-memory', {
    default: 0,
    min: 0,
    max: 1024 * GIB,
    meaning:
      'The most memory of all data: configurations, services, instances, users. 0: as the heap of the process and the memory of the machine allow.',
    detail:
      'Of the heap of Node.js it is 70 % beyond 64 MiB, and of the memory of the machine or its container 75 %. The smaller of these and of this setting counts. What would need more is refused with 507. Configurations and services may each take 70 % of it, users and namespaces 20 %, so that none stops another. See docs/operations.md, Memory.',
  }),
  maxContentMemoryBytes: sizeSetting('max-content-memory', {
    default: 0,
    min: 0,
    max: 1024 * GIB,
    meaning:
      'The most memory of all current contents. 0: half of the memory of the machine or its container.',
    detail:
      'A publish that needs more is refused, as it is beyond `max-state-memory`. Existing contents can be read, deleted and replaced by contents that are not larger.',
  }),
  maxServices: integerSetting('max-services', {
    default: 500_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most services in all namespaces. At the limit, known services still change.',
  }),
  maxServicesPerNamespace: integerSetting('max-services-per-namespace', {
    default: 500_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most services in one namespace.',
  }),
  maxInstances: integerSetting('max-instances', {
    default: 2_000_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most instances in all namespaces. At the limit, known instances still beat and change.',
  }),
  maxInstancesPerNamespace: integerSetting('max-instances-per-namespace', {
    default: 2_000_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most instances in one namespace.',
  }),
  maxListeningItems: integerSetting('max-listening-items', {
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'The most items that one long poll, or one gRPC connection, may watch.',
  }),
  maxHeldPolls: integerSetting('max-held-polls', {
    default: 18_000,
    min: 1,
    max: 1_000_000,
    meaning: 'The most held long polls. Fewer than connections, so that clients can still publish.',
    detail:
      'Beyond it the user or address with the most gives way, if the sender of the new poll has fewer. Its oldest poll is answered 503. An IPv6 address counts by its /64.',
  }),
  maxHeldPollsPerAddress: integerSetting('max-held-polls-per-address', {
    default: 0,
    min: 0,
    max: 1_000_000,
    meaning: 'The most held long polls of one address. 0: no limit.',
    detail: 'It is off by default, because thousands of clients may come through one NAT or proxy.',
  }),
  maxEventStreams: integerSetting('max-event-streams', {
    default: 500,
    min: 0,
    max: 100_000,
    meaning: 'The most browsers that follow changes. The pages of others ask every few seconds.',
    detail:
      'Beyond it the oldest stream of the user or address with the most ends, as with `max-held-polls`.',
  }),
  maxEventStreamsPerAddress: integerSetting('max-event-streams-per-address', {
    default: 250,
    min: 0,
    max: 100_000,
    meaning: 'The most browsers of one address that follow changes. 0: no limit.',
  }),
  maxConnections: integerSetting('max-connections', {
    default: 20_000,
    min: 1,
    max: 1_000_000,
    meaning: 'The most open connections of HTTP, and as many of gRPC. Further ones are refused.',
    detail:
      'Before that an idle connection of the address with the most is closed: the oldest, if that address has more than the new one. Idle means without a request, stream or held poll. If the limit of open files allows fewer connections, the start lowers this setting and `max-held-polls`, and logs a warning.',
  }),
  maxConnectionsPerAddress: integerSetting('max-connections-per-address', {
    default: 0,
    min: 0,
    max: 1_000_000,
    meaning: 'The most open connections of one address. 0: no limit.',
    detail: 'It is off by default, because thousands of clients may come through one NAT or proxy.',
  }),
  maxUnreadBytes: sizeSetting('max-unread', {
    default: 64 * KIB,
    min: KIB,
    max: GIB,
    meaning: 'How many bytes of answers a client may leave unread for longer than `unread-timeout`.',
    detail: 'The connection of a client that exceeds it is closed.',
  }),
  unreadTimeoutMs: durationSetting('unread-timeout', {
    default: MINUTE,
    min: SECOND,
    max: HOUR,
    meaning: 'How long a client may take to read an answer of more than `max-unread`.',
  }),
} satisfies Readonly<Record<string, Definition<unknown>>>
