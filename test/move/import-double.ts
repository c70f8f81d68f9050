import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { PlanLine } from '../../src/plan/plan.ts'

/** A call that the operation got. */
export interface ImportCall {
  readonly url: string
  readonly token: string
  readonly lines: readonly PlanLine[]
}

/** Its answer. */
interface DoubleAnswer {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A stand-in for the operation `import state`: it notes what it gets, and answers what a test wants. */
export class ImportDouble {
  readonly calls: ImportCall[] = []
  /** Whether it shows that it is Waypost. */
  isKnown = true
  answer: (call: ImportCall) => DoubleAnswer | undefined = ({ lines }) => taken(lines.length - 1)
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        // How the command finds out which server it is.
        if (request.method === 'GET')
          return void response
            .writeHead(this.isKnown ? 200 : 404)
            .end(this.isKnown ? '{"info":{"title":"Waypost"}}' : '')
        const texts = Buffer.concat(chunks).toString().trimEnd().split('\n')
        const call = {
          url: request.url!,
          token: String(request.headers.authorization ?? ''),
          lines: texts.map((text) => JSON.parse(text) as PlanLine),
        }
        this.calls.push(call)
        const answer = this.answer(call)
        if (answer === undefined) request.socket.destroy()
        else response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body))
      })
    })
  }

  static async start(): Promise<ImportDouble> {
    const double = new ImportDouble()
    await new Promise<void>((done) => double.#server.listen(0, '127.0.0.1', done))
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

/** The answer that takes all lines but these. */
export function taken(count: number, lines: readonly object[] = []) {
  return {
    status: 200,
    body: { taken: count - lines.length, unchanged: 0, kept: 0, refused: lines.length, lines },
  }
}

/** A plan with these lines. */
export function planFile(lines: readonly object[], counts: object = {}, times: object = {}): string {
  const head = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts, lastRefMs: 0, ...times }
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'plan-')), 'old.plan')
  writeFileSync(file, [head, ...lines, { kind: 'end' }].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}
