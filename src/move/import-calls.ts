import { setTimeout as sleep } from 'node:timers/promises'
import type { PlanThing } from '../plan/plan.ts'
import { jsonIn, noAnswer } from '../terminal/no-answer.ts'
import { problemOf, type ServerSession } from '../terminal/server-session.ts'
import type { NumberedLine } from './plan-file.ts'

/** A call is tried so often: the server may be busy, or starting again. */
const TRIES = 6
const FIRST_WAIT_MS = 500
const PASSING = new Set([429, 502, 503, 504])
const CALL_LIMIT_MS = 120_000
/** The server, or a proxy in front of it, takes no body of this size. */
const TOO_LARGE = 413

/** A line of a call. Its content stays bytes: a line may have 10 MiB. */
export interface SentLine extends Pick<NumberedLine, 'number' | 'bytes'> {
  readonly kind: PlanThing['kind']
  readonly name: string
}

/** The lines of one call of the operation `import state`. */
export interface Call {
  readonly head: NumberedLine
  readonly lines: readonly SentLine[]
}

/** The server's message about a line that it did not simply take. */
export interface LineOutcome {
  /** The number of the line in the call; the head is 1. */
  readonly line: number
  readonly outcome: 'unchanged' | 'kept' | 'refused'
  readonly reason: string
}

/** The answer of the operation (docs/move-plan.md). */
export interface ImportAnswer {
  readonly taken: number
  readonly unchanged: number
  readonly kept: number
  readonly refused: number
  readonly lines: readonly LineOutcome[]
}

/**
 * Sends a call, again after pauses where that may help. A too large call is sent in halves. A single too large line is
 * refused, and the lines after it are sent.
 */
export async function sendCall(session: ServerSession, path: string, call: Call): Promise<ImportAnswer> {
  const { head, lines } = call
  const answer = await answerOf(session, path, call)
  if (answer.status !== TOO_LARGE) return jsonIn(session.url, answer.text) as ImportAnswer
  if (lines.length === 1) return tooLarge(problemOf(answer.status, answer.text))
  const half = Math.ceil(lines.length / 2)
  const first = await sendCall(session, path, { head, lines: lines.slice(0, half) })
  const second = await sendCall(session, path, { head, lines: lines.slice(half) })
  return {
    taken: first.taken + second.taken,
    unchanged: first.unchanged + second.unchanged,
    kept: first.kept + second.kept,
    refused: first.refused + second.refused,
    lines: [...first.lines, ...second.lines.map((one) => ({ ...one, line: one.line + half }))],
  }
}

function tooLarge(reason: string): ImportAnswer {
  return {
    taken: 0,
    unchanged: 0,
    kept: 0,
    refused: 1,
    lines: [{ line: 2, outcome: 'refused', reason }],
  }
}

/** An answer of status 200 or TOO_LARGE. Rejects with an Error that explains other answers. */
async function answerOf(
  session: ServerSession,
  path: string,
  { head, lines }: Call,
): Promise<{ readonly status: number; readonly text: string }> {
  for (let tries = 1; ; tries++) {
    const body = Buffer.concat(
      [bytesOfHead(head), ...lines.map(({ bytes }) => bytes)].flatMap((one) => [one, LINE_END]),
    )
    const signal = AbortSignal.timeout(CALL_LIMIT_MS)
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const last = await session
      // A redirect could send hashes of passwords to another server.
      .fetch(path, { method: 'POST', body, signal, redirect: 'manual', headers })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => {
        if (signal.aborted)
          return new Error(`${session.url} has not answered within ${CALL_LIMIT_MS / 1_000} s`)
        // The answer is missing or cut. Other errors, such as a refusal, come again with another try.
        if (error instanceof TypeError) return noAnswer(session.url, error) as Error
        throw error
      })
    if (!(last instanceof Error) && (last.status === 200 || last.status === TOO_LARGE)) return last
    if (!(last instanceof Error) && !PASSING.has(last.status))
      throw new Error(`${session.url} did not import: ${problemOf(last.status, last.text)}`)
    if (tries === TRIES)
      throw last instanceof Error ? last : new Error(`${session.url}: ${problemOf(last.status, last.text)}`)
    await sleep(FIRST_WAIT_MS * 2 ** (tries - 1))
  }
}

/** The clock of the old server has gone on since the plan was read. */
function bytesOfHead({ bytes, line }: NumberedLine): Buffer {
  if (line.kind !== 'plan' || line.lastRefMs === 0) return bytes
  const sinceMs = Math.max(0, Date.now() - (line.endedMs || line.madeMs))
  return Buffer.from(JSON.stringify({ ...line, lastRefMs: Math.round(line.lastRefMs + sinceMs) }))
}

const LINE_END = Buffer.from('\n')
