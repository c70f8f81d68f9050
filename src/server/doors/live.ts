import { randomBytes } from 'node:crypto'
import { AUDIT_WRITTEN, CONDITION_CHANGED } from '../../core/live/live-event.ts'
import type { Observability } from '../process/observability.ts'
import type { Settings } from '../../settings/settings.ts'
import { EventStreams } from '../../subscribers/event-streams.ts'
import { loop, monotonicMs } from '../process/clocks.ts'
import type { Installation } from '../process/installation.ts'

/** How often `Live.tick` is called. */
export const LIVE_TICK_MS = 250

/** The events that browsers follow. */
export type Live = ReturnType<typeof openLive>

interface LiveParts {
  readonly installation: Pick<Installation, 'sharedOrigin'>
  /** The revision of the store that was loaded. */
  readonly revision: number
  readonly watch: Pick<Observability, 'notReady' | 'warnings'>
}

/** Begins to send changes to browsers. */
export function openLive({ installation, revision, watch }: LiveParts, settings: Settings) {
  const { sharedOrigin } = installation
  const streams = new EventStreams({
    loop,
    // Positions of a server that is alone start from the beginning with each start.
    origin: sharedOrigin ?? randomBytes(6).toString('base64url').replaceAll('-', '_'),
    isShared: sharedOrigin !== undefined,
    revision,
    maxStreams: settings.maxEventStreams,
    maxStreamsOfAddress: settings.maxEventStreamsPerAddress,
  })
  const conditionNow = (): string => [...watch.notReady(), ...watch.warnings()].map(({ code }) => code).join()
  let condition = conditionNow()
  return {
    streams,
    /** The audit has new events. */
    onAudit: () => streams.note(AUDIT_WRITTEN),
    /** Checks which clients follow, and the condition of the server. Call it every `LIVE_TICK_MS`. */
    tick(): void {
      streams.tick(monotonicMs())
      const now = conditionNow()
      if (now === condition) return
      condition = now
      streams.note(CONDITION_CHANGED)
    },
  }
}
