import { Worker } from 'node:worker_threads'

/** A password, and the hash that it may have. */
export interface BcryptQuestion {
  readonly id: number
  readonly password: string
  readonly hash: string
}

/** The answer of the thread. */
export interface BcryptAnswer {
  readonly id: number
  readonly matches: boolean
}

interface Asked {
  readonly resolve: (matches: boolean) => void
  readonly reject: (error: Error) => void
}

/** Hashes of a higher cost take longer than a sign-in may. */
const HIGHEST_COST = 12
const LOWEST_COST = 4
const FORMAT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/

/** The cost of a bcrypt hash that can be checked here; undefined for any other text. */
export function bcryptCostOf(hash: string): number | undefined {
  const cost = Number(FORMAT.exec(hash)?.[1])
  return cost >= LOWEST_COST && cost <= HIGHEST_COST ? cost : undefined
}

/** A hash of this cost that no password has, for checks that must take as long. */
export function bcryptOfNobody(cost: number): string {
  return `$2a$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`
}

/**
 * Compares passwords with bcrypt hashes in a thread of its own, which is started with the first comparison. Like every
 * bcrypt, it compares the first 72 bytes of a password.
 */
export class Bcrypt {
  readonly #asked = new Map<number, Asked>()
  #worker: Worker | undefined
  #last = 0

  /** Whether the hash is one of the password. */
  async matches(password: string, hash: string): Promise<boolean> {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#last
    worker.ref()
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
      worker.postMessage({ id, password, hash } satisfies BcryptQuestion)
    })
  }

  #start(): Worker {
    const worker = new Worker(threadUrl(), { name: 'bcrypt' })
    let cause = new Error('The thread that checks passwords has ended.')
    worker.on('message', (answer: BcryptAnswer) => this.#answered(worker, answer))
    worker.on('error', (error: Error) => (cause = error))
    worker.on('exit', () => this.#lost(cause))
    return worker
  }

  #answered(worker: Worker, { id, matches }: BcryptAnswer): void {
    this.#asked.get(id)?.resolve(matches)
    this.#asked.delete(id)
    // An idle thread does not keep the process.
    if (this.#asked.size === 0) worker.unref()
  }

  #lost(cause: Error): void {
    this.#worker = undefined
    for (const { reject } of this.#asked.values()) reject(cause)
    this.#asked.clear()
  }
}

/** A thread cannot load TypeScript: in tests, where this module is TypeScript, it loads the built file. */
function threadUrl(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('../../dist/bcrypt.js', here) : new URL('./bcrypt.js', here)
}
