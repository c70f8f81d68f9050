import { request, type IncomingMessage } from 'node:http'
import { converse, down, downNow, up, verdictOfError, type Conversation } from './conversation.ts'
import { healthRequestOf } from './http-request.ts'
import type { CheckerOf, ProbeResult, ProbeTarget, Verdict } from './probe-target.ts'

/** How much of a body is read and dropped before the connection is closed. Most bodies end before that. */
const BODY_CAP_BYTES = 16_384

/** How many interim answers (1xx) are read. There is no size that they end at. */
const MOST_INTERIM_ANSWERS = 16

/** Statuses that may be temporary: a sign-in redirect, an overload. They count towards `checkTimes`. */
const PASSING_STATUSES = new Set([302, 503])

/**
 * Sends one GET on a new connection. The expected status is up, 302 and 503 count as down, and any other status is down
 * at once. Redirects are not followed. The body is dropped. It never throws.
 */
export function httpProbe(target: ProbeTarget<CheckerOf<'HTTP'>>, timeoutMs: number): Promise<ProbeResult> {
  const expected = target.checker.expectedResponseCode
  return converse(target, timeoutMs, (talk, socket) => {
    // With its own socket and no agent, node:http neither pools connections nor resolves names.
    const asked = request({ ...healthRequestOf(target), method: 'GET', createConnection: () => socket })
    let interim = 0
    const counted = (): void => {
      if (++interim > MOST_INTERIM_ANSWERS)
        talk.conclude(down(`more than ${MOST_INTERIM_ANSWERS} answers 1xx`))
    }
    const refused = ({ statusCode }: IncomingMessage): void =>
      talk.conclude(verdictOfStatus(statusCode, expected))
    const answered = (response: IncomingMessage): void => {
      talk.judge(verdictOfStatus(response.statusCode, expected))
      dropBody(response, talk)
    }
    asked.on(
      'error',
      talk.guard((error: Error) => talk.conclude(verdictOfError(error))),
    )
    asked.on('information', talk.guard(counted))
    asked.on('upgrade', talk.guard(refused))
    asked.on('response', talk.guard(answered))
    asked.end()
  })
}

function verdictOfStatus(status = 0, expected: number): Verdict {
  if (status === expected) return up(`status ${status}`)
  const reason = `status ${status} instead of ${expected}`
  return PASSING_STATUSES.has(status) ? down(reason) : downNow(reason)
}

function dropBody(response: IncomingMessage, talk: Conversation): void {
  let seenBytes = 0
  const end = talk.guard(() => talk.conclude(down('no status')))
  const count = (chunk: Buffer): void => {
    seenBytes += chunk.length
    if (seenBytes > BODY_CAP_BYTES) end()
  }
  response.on('data', talk.guard(count))
  response.on('end', end)
  response.on('error', end)
}
