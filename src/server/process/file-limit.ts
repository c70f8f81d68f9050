import type { Logger } from 'pino'
import type { Settings } from '../../settings/settings.ts'

/** Files that are no connections of clients: the store, probes, other servers, monitoring, the program itself. */
const OTHER_FILES = 200
/** Connections of a port that are refused, and get an answer with the reason. */
const REFUSED = 256

/** The most connections that hold polls, where there are fewer: clients can still publish. */
const SHARE_OF_POLLS = 0.9

/** The limits that depend on the number of files that may be open. */
type ConnectionLimits = Pick<Settings, 'maxConnections' | 'maxHeldPolls' | 'grpcPort'>

/**
 * The limits of connections and polls, as low as the limit of open files requires. Otherwise clients would take all files. Then
 * no connection could be accepted, not even for the moment that it takes to judge which one gives way to it.
 */
export function withinFiles<Limits extends ConnectionLimits>(
  limits: Limits,
  files: number | undefined,
): Limits {
  const { maxConnections, maxHeldPolls, grpcPort } = limits
  if (files === undefined) return limits
  const ports = grpcPort === 0 ? 1 : 2
  const most = Math.max(1, Math.floor((files - OTHER_FILES) / ports) - REFUSED)
  if (most >= maxConnections) return limits
  const mostPolls = Math.max(1, Math.floor(SHARE_OF_POLLS * most))
  return { ...limits, maxConnections: most, maxHeldPolls: Math.min(maxHeldPolls, mostPolls) }
}

/** Says that the limits are lower than the settings, if they are. Call it once the server listens. */
export function reportLowered(
  settings: Settings,
  { maxConnections, maxHeldPolls }: ConnectionLimits,
  log: Pick<Logger, 'info'>,
): void {
  if (maxConnections === settings.maxConnections && maxHeldPolls === settings.maxHeldPolls) return
  log.info(
    { maxConnections, maxHeldPolls },
    'the limit of open files is too low for max-connections: fewer connections are accepted',
  )
}
