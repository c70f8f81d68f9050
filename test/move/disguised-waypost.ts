import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * This is no Nacos server: it is a Waypost that says that it is one, version 1.4.8. So `waypost move` writes to it by the interface
 * under `/nacos/v1`, and what has arrived can be compared.
 */
export class DisguisedWaypost {
  /** Answers instead of the server, by a part of method and URL. */
  readonly instead = new Map<string, { readonly status: number; readonly body: string }>()
  readonly #server: Server

  private constructor(port: number) {
    this.#server = http.createServer((request, response) => {
      const call = `${request.method} ${decodeURIComponent(request.url!)}`
      const answer = this.#insteadOf(call)
      if (answer !== undefined) return void response.writeHead(answer.status).end(answer.body)
      const { method, url: path, headers } = request
      const sent = http.request({ host: '127.0.0.1', port, method, path, headers }, (given) => {
        response.writeHead(given.statusCode!, given.headers)
        given.pipe(response)
      })
      sent.on('error', () => response.destroy())
      request.pipe(sent)
    })
  }

  /** A disguise of the server at this port. */
  static async of({ port }: { readonly port: number }): Promise<DisguisedWaypost> {
    const disguise = new DisguisedWaypost(port)
    await new Promise<void>((done) => disguise.#server.listen(0, '127.0.0.1', done))
    return disguise
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/nacos`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  #insteadOf(call: string): { readonly status: number; readonly body: string } | undefined {
    for (const [part, answer] of this.instead) if (call.includes(part)) return answer
    if (call === 'GET /openapi.json') return { status: 404, body: '' }
    return call.startsWith('GET /nacos/v1/console/server/state')
      ? { status: 200, body: '{"version":"1.4.8"}' }
      : undefined
  }
}
