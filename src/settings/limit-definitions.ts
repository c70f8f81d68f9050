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

/** How much of anything a client may ask for. Each has a refusal of its own name, see docs/security.md. */
export const limitDefinitions = {
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
  maxServices: integerSetting('max-services', {
    default: 500_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most services in all namespaces together. At the limit, known services still change.',
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
    meaning:
      'The most instances in all namespaces together. At the limit, known instances still beat and change.',
  }),
  maxInstancesPerNamespace: integerSetting('max-instances-per-namespace', {
    default: 2_000_000,
    min: 1,
    max: 100_000_000,
    meaning: 'The most instances in one namespace.',
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
} satisfies Readonly<Record<string, Definition<unknown>>>
