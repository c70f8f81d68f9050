/** Why a request failed, at the server or on the way to it. */
export interface RequestProblem {
  /** The code of the server's problem details, or `offline`. */
  readonly code: string
  readonly status: number
  readonly detail: string
  /** The parameter that it is about. */
  readonly parameter?: string | undefined
  /** The allowed values, in English. */
  readonly allowed?: string | undefined
}

/** A refused or failed request. */
export class RequestError extends Error {
  readonly problem: RequestProblem

  constructor(problem: RequestProblem) {
    super(problem.detail)
    this.name = 'RequestError'
    this.problem = problem
  }
}

const PREFIX = 'urn:waypost:problem:'

/** The problem in an answer that is no success: problem details of `/svc`, or what `/nacos` says. */
export function problemIn(status: number, text: string): RequestProblem {
  const body = objectIn(text)
  const { type, detail, message, parameter, allowed } = body
  const code =
    typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : `http-${status}`
  const said = [detail, message].find((one) => typeof one === 'string') ?? text
  return {
    code,
    status,
    detail: String(said).slice(0, 1000),
    parameter: typeof parameter === 'string' ? parameter : undefined,
    allowed: typeof allowed === 'string' ? allowed : undefined,
  }
}

/** The problem for anything that was thrown. */
export function problemOf(error: unknown): RequestProblem {
  if (error instanceof RequestError) return error.problem
  // Browsers say what happened in words of their own, such as "Failed to fetch", which help nobody.
  const isOffline = error instanceof TypeError
  return { code: isOffline ? 'offline' : 'page', status: 0, detail: isOffline ? '' : String(error) }
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
