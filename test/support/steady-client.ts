import { connect } from 'node:net'

/** How a connection ended: refused, ended after an answer that said so, or what else happened. */
export type Outcome =
  | 'refused'
  | 'ended'
  | 'ended without a word'
  | 'ended inside an answer'
  | 'ended with requests unanswered'
  | `failed with ${string}`

/** Whole answers at the start of a text, and what is left of it. */
export function answersIn(text: string): {
  answers: { status: number; closes: boolean }[]
  rest: string
} {
  const answers = []
  let rest = text
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n')
    const head = rest.slice(0, headEnd)
    const end = headEnd + 4 + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1])
    // NaN where the length is missing: then nothing is whole.
    if (headEnd < 0 || !(rest.length >= end)) return { answers, rest }
    answers.push({ status: Number(head.slice(9, 12)), closes: /\r\nConnection: close/i.test(head) })
    rest = rest.slice(end)
  }
}

/**
 * A client that keeps a connection busy: it sends `burst` requests ahead, and the next ones as soon as all are
 * answered, until the server ends the connection. Resolves with the statuses it got and with how it ended.
 */
function keepBusy(
  port: number,
  request: string,
  burst: number,
): Promise<{ statuses: number[]; outcome: Outcome }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    const statuses: number[] = []
    let [text, open, error, closes] = ['', 0, '', false]
    const send = (): void => {
      open = burst
      socket.write(request.repeat(burst))
    }
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      const found = answersIn(text + chunk.toString('latin1'))
      text = found.rest
      open -= found.answers.length
      for (const answer of found.answers) statuses.push(answer.status)
      closes ||= found.answers.some((answer) => answer.closes)
      if (open === 0 && !closes) send()
    })
    socket.on('error', (failure: NodeJS.ErrnoException) => (error = failure.code ?? 'unknown'))
    socket.on('close', () => resolve({ statuses, outcome: outcomeOf({ text, open, error, closes }) }))
  })
}

function outcomeOf({ text, open, error, closes }: EndOfConnection): Outcome {
  if (error === 'ECONNREFUSED') return 'refused'
  if (error !== '') return `failed with ${error}`
  if (text !== '') return 'ended inside an answer'
  if (!closes) return 'ended without a word'
  return open === 0 ? 'ended' : 'ended with requests unanswered'
}

interface EndOfConnection {
  /** The bytes after the last whole answer. */
  readonly text: string
  /** Requests without an answer. */
  readonly open: number
  readonly error: string
  readonly closes: boolean
}

/** Keeps connections busy one after the other until one is refused or ends in any other way than it should. */
export async function keepBusyUntilRefused(port: number, request: string, burst: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  do {
    const { statuses, outcome } = await keepBusy(port, request, burst)
    const strange = statuses.find((status) => status !== 200 && status !== 503)
    outcomes.push(strange === undefined ? outcome : `failed with ${strange}`)
  } while (outcomes.at(-1) === 'ended')
  return outcomes
}
