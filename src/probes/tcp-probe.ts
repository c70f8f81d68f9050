import { converse, up } from './conversation.ts'
import type { ProbeResult, ProbeTarget } from './probe-target.ts'

/** Up if the port accepts a connection, which is closed at once. A refused connection is down at once. It never throws. */
export function tcpProbe(target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  return converse(target, timeoutMs, (talk, socket) => {
    socket.once(
      'connect',
      talk.guard(() => talk.conclude(up('connected'))),
    )
  })
}
