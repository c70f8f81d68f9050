import { type CallFrame, type Profile, type Stack, stacksOf } from './profile.ts'

/** Where a server spends time: the functions of a station have names like these (`src/feed/feed.ts#deliver`). */
interface Station {
  readonly name: string
  readonly functions: RegExp
}

/**
 * The stations, the first that fits. A function that fits no station counts for the one that called it: so the functions of Node.js
 * and of V8 count where they are used. Folders that a later build has renamed are here, too.
 */
const STATIONS: readonly Station[] = [
  { name: 'garbage', functions: /^\(garbage collector\)/ },
  { name: 'SQLite', functions: /node_modules\/libsql\/|^(?:statement|database)[A-Z]/ },
  {
    name: 'messages between threads',
    functions:
      /postMessage|messageport|internal\/worker\/io|worker-client|store\/embedded\/worker\/worker\.ts|store\/embedded\/worker\.ts/,
  },
  { name: 'rows', functions: /^src\/store\/embedded\// },
  { name: 'etcd', functions: /^src\/store\/etcd\// },
  { name: 'audit', functions: /audit/i },
  { name: 'HTTP', functions: /^src\/protocols\/http\/|^node:_http|^node:internal\/http|_http_/ },
  {
    name: 'HTTP/2',
    functions: /^src\/http2\/|^src\/protocols\/grpc\/transport\/|^node:internal\/http2|@grpc\/grpc-js/,
  },
  {
    name: 'gRPC: connections',
    functions: /^src\/protocols\/grpc\/(?:connections|fuzzy)\/|^src\/core\/clients\//,
  },
  { name: 'gRPC: messages', functions: /^src\/protocols\/grpc\/|bufbuild/ },
  {
    name: 'sockets',
    functions: /^src\/protocols\/sockets\/|^node:(?:net|internal\/stream|internal\/streams|dgram)/,
  },
  { name: 'subscribers', functions: /^src\/subscribers\// },
  { name: 'feed, timeline', functions: /^src\/(?:feed|core\/live)\/|timeline/ },
  {
    name: 'state',
    functions:
      /^src\/core\/(?:naming|config|namespaces|access|memory)\/state\/|^src\/core\/engine\/state|^src\/core\/memory/,
  },
  { name: 'write-behind', functions: /write-behind|behind/ },
  { name: 'liveness', functions: /^src\/core\/naming\/liveness\// },
  { name: 'deciding', functions: /^src\/core\/(?:decisions|naming|config|namespaces)\// },
  { name: 'engine', functions: /^src\/core\/(?:engine|work)/ },
  {
    name: 'parameters, rights',
    functions: /^src\/(?:operations|sign-in|protocols\/(?:parameters|answers|refusals)|core\/access)\//,
  },
  { name: 'text', functions: /^src\/(?:core\/text|formats)\// },
  { name: 'metrics, watching', functions: /^src\/(?:metrics|machine|jobs|cluster|observability)/ },
]

/** What belongs to no function: calls of the system, and the native code of Node.js. */
const NATIVE = 'system, native code'
const OTHER = 'other'

/** The station of a stack; undefined while the thread rested. */
export function stationOf(
  frames: readonly CallFrame[],
  nameOf: (frame: CallFrame) => string,
): string | undefined {
  const names = frames.map(nameOf)
  if (names[0] === '(idle)') return undefined
  for (const name of names) {
    const station = STATIONS.find(({ functions }) => functions.test(name))
    if (station !== undefined) return station.name
  }
  return names[0] === '(program)' ? NATIVE : OTHER
}

/** The time of each station in these profiles, µs. */
export function sumByStation(
  profiles: readonly Profile[],
  nameOf: (frame: CallFrame) => string,
): Map<string, number> {
  const sums = new Map<string, number>()
  const add = ({ frames, us }: Stack): void => {
    const station = stationOf(frames, nameOf)
    if (station !== undefined) sums.set(station, (sums.get(station) ?? 0) + us)
  }
  for (const profile of profiles) stacksOf(profile).forEach(add)
  return sums
}

/** The order of the stations in a table. */
export const STATION_NAMES = [...STATIONS.map(({ name }) => name), NATIVE, OTHER]
