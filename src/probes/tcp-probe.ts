import { converse, up } from './conversation.ts'
import type { ProbeResult, ProbeTarget } from './probe-target.ts'

/** Up as soon as the port takes a connection, which is closed at once. Refused is down without doubt. Never throws. */
export function tcpProbe(target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  return converse(target, timeoutMs, (talk, socket) => {
    socket.once('connect', () => talk.conclude(up('connected')))
  })
}
