import { up, converse, type ProbeResult, type ProbeTarget } from './conversation.ts'
import { httpProbe } from './http-probe.ts'
import { mysqlProbe } from './mysql-probe.ts'

/** The timeout of a probe, for resolving, connecting and answering together (http-compat.md section 4). */
const PROBE_TIMEOUT_MS = 500

/** Probes a target once, as its checker says. NONE is up without a probe. It never throws. */
export function probe({ checker, ...where }: ProbeTarget): Promise<ProbeResult> {
  switch (checker.type) {
    case 'TCP':
      return tcpProbe({ ...where, checker }, PROBE_TIMEOUT_MS)
    case 'HTTP':
      return httpProbe({ ...where, checker }, PROBE_TIMEOUT_MS)
    case 'MYSQL':
      return mysqlProbe({ ...where, checker }, PROBE_TIMEOUT_MS)
    case 'NONE':
      return Promise.resolve({ ...up('not checked'), elapsedMs: 0 })
  }
}

/** Up if the port accepts a connection, which is closed at once. A refused connection is down at once. It never throws. */
export function tcpProbe(target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  return converse(target, timeoutMs, (talk, socket) => {
    socket.once(
      'connect',
      talk.guard(() => talk.conclude(up('connected'))),
    )
  })
}
