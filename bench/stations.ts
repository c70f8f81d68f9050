import { type CallFrame, type Profile, type ServerProfile, stacksOf } from './profile.ts'

/** Where a server spends time: the functions of a station have names like these (`src/feed/feed.ts#deliver`). */
interface Station {
  readonly name: string
  readonly functions: RegExp
}

const SQLITE = 'SQLite'

/**
 * The stations, the first that fits. A function that fits no station counts for the one that called it: so the functions of Node.js
 * and of V8 count where they are used. Folders that a later build has renamed are here, too.
 */
const STATIONS: readonly Station[] = [
  { name: 'garbage', functions: /^\(garbage collector\)/ },
  { name: SQLITE, functions: /node_modules\/libsql\/|^(?:statement|database)[A-Z]/ },
  {
    name: 'messages between threads',
    functions:
      /postMessage|messageport|internal\/worker\/io|worker-client|store\/embedded\/worker\/worker\.ts|store\/embedded\/worker\.ts/,
  },
  { name: 'rows', functions: /^src\/store\/embedded\// },
  { name: 'etcd', functions: /^src\/store\/etcd\/|^packages\/etcd-client\// },
  { name: 'audit', functions: /audit/i },
  { name: 'HTTP', functions: /^src\/protocols\/http\/|^node:_http|^node:internal\/http|_http_/ },
  {
    name: 'HTTP/2',
    functions:
      /^(?:src|packages)\/http2\/|^src\/protocols\/grpc\/transport\/|^node:internal\/http2|@grpc\/grpc-js/,
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
  { name: 'engine', functions: /^src\/core\/(?:engine|work)\/|^src\/core\/[^/]+\.ts/ },
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

/** The probes in the server. */
const OF_BENCH = /-probe\.js#/

/** The station of a stack; undefined while the thread rested. */
export function stationOf(
  frames: readonly CallFrame[],
  nameOf: (frame: CallFrame) => string,
): string | undefined {
  const names = frames.map(nameOf)
  if (names[0] === '(idle)' || names.some((name) => OF_BENCH.test(name))) return undefined
  for (const name of names) {
    const station = STATIONS.find(({ functions }) => functions.test(name))
    if (station !== undefined) return station.name
  }
  return names[0] === '(program)' ? NATIVE : OTHER
}

/**
 * Processor time of each station, µs. A profile has the time of the clock. On the main thread almost all of it is processor time, but
 * for the time that other processes took: a factor takes it away. In the thread of the store the rest of its processor time is that
 * of SQLite, which also waits for the disk.
 */
export function sumByStation(
  { main, others }: ServerProfile,
  nameOf: (frame: CallFrame) => string,
): Map<string, number> {
  const ofMain = clockTimes(main.profile, nameOf)
  const factor = main.usedUs / totalOf(ofMain)
  const threads = others.map(({ profile, usedUs }) =>
    withoutWaiting(clockTimes(profile, nameOf), factor, usedUs),
  )
  const sums = new Map<string, number>()
  for (const times of [scaled(ofMain, factor), ...threads])
    for (const [station, us] of times) sums.set(station, (sums.get(station) ?? 0) + us)
  return sums
}

type Times = ReadonlyMap<string, number>

function clockTimes(profile: Profile, nameOf: (frame: CallFrame) => string): Times {
  const times = new Map<string, number>()
  for (const { frames, us } of stacksOf(profile)) {
    const station = stationOf(frames, nameOf)
    if (station !== undefined) times.set(station, (times.get(station) ?? 0) + us)
  }
  return times
}

function withoutWaiting(times: Times, factor: number, usedUs: number): Times {
  const found = new Map(scaled(times, factor))
  if (!found.delete(SQLITE)) return found
  return found.set(SQLITE, Math.max(0, usedUs - totalOf(found)))
}

function scaled(times: Times, factor: number): Times {
  return new Map([...times].map(([station, us]) => [station, us * factor]))
}

function totalOf(times: Times): number {
  return [...times.values()].reduce((sum, us) => sum + us, 0)
}

/** The order of the stations in a table. */
export const STATION_NAMES = [...STATIONS.map(({ name }) => name), NATIVE, OTHER]
