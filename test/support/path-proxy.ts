import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that has a server below a path of its own. */
export interface PathProxy {
  /** The address of the server through the proxy, without a slash at its end. */
  readonly url: string
  close(): void
}

/** Starts a proxy with a server below `path`; everything else is unknown there. */
export async function startPathProxy(url: string, path: string): Promise<PathProxy> {
  const proxy = http.createServer((request, response) => {
    if (!request.url!.startsWith(`${path}/`)) return void response.writeHead(404).end()
    const { method = 'GET', headers } = request
    const onward = `${url}${request.url!.slice(path.length)}`
    const asked = http.request(onward, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    asked.on('error', () => response.destroy())
    request.pipe(asked)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}`,
    close: () => {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}
