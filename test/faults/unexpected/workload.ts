import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { Agent, createServer as createHttpServer, request, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { connectGrpc, type GrpcClient } from '../../support/grpc-client.ts'

const JAVA = 'Nacos-Java-Client:v1.4.8'
const LIMIT_MS = 3_000

interface Served {
  readonly port: number
}

/** Sends a request on a connection of its own. Rejects where there is no answer. */
export function ask(
  { port }: Served,
  line: string,
  { body, headers = {}, agent }: { body?: string; headers?: Record<string, string>; agent?: Agent } = {},
): Promise<{ status: number; text: string }> {
  const [method, path] = line.split(' ')
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, method, path, host: '127.0.0.1', agent: agent ?? false, timeout: LIMIT_MS, headers },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        response.on('error', reject)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer in time'))).on('error', reject)
    if (body !== undefined) sent.setHeader('content-type', 'application/x-www-form-urlencoded')
    sent.end(body)
  })
}

/** The work of clients of every kind, each once. Their own failures are ignored: `check` looks at what must be true. */
export class Workload {
  readonly #server: Served
  readonly #targets: (Server | HttpServer)[] = []
  readonly #udp: UdpSocket
  #round = 0

  private constructor(server: Served, udp: UdpSocket) {
    this.#server = server
    this.#udp = udp
  }

  static async open(server: Served): Promise<Workload> {
    const udp = createSocket('udp4')
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const work = new Workload(server, udp)
    udp.on('message', (bytes, from) => work.#acknowledge(bytes, from))
    const answering = createHttpServer((_request, response) => void response.end('x'.repeat(100)))
    for (const target of [createServer((socket) => socket.destroy()), answering]) {
      work.#targets.push(target)
      target.listen(0, '127.0.0.1')
      await once(target, 'listening')
    }
    return work
  }

  close(): void {
    this.#udp.close()
    for (const target of this.#targets) target.close()
  }

  /** Has the server probe the targets, every half second. */
  async probe(): Promise<void> {
    const server = this.#server
    const quick = JSON.stringify({ max: 500, min: 500, factor: 0.5 })
    for (const entry of ['tcpHealthParams', 'httpHealthParams'])
      await ask(server, 'PUT /svc/v1/ns/operator/switches', { body: `entry=${entry}&value=${quick}` })
    for (const [index, type] of ['TCP', 'HTTP'].entries()) {
      const { port } = this.#targets[index]!.address() as AddressInfo
      const serviceName = `probed-${type}`
      const instance = `serviceName=${serviceName}&ip=127.0.0.1&port=${port}&ephemeral=false`
      await ask(server, 'POST /svc/v1/ns/instance', { body: instance })
      const checker = encodeURIComponent(
        JSON.stringify({ type, path: '/', headers: '', expectedResponseCode: 200 }),
      )
      const cluster = `serviceName=${serviceName}&clusterName=DEFAULT&checkPort=80&useInstancePort4Check=true`
      await ask(server, 'PUT /svc/v1/ns/cluster', { body: `${cluster}&healthChecker=${checker}` })
    }
  }

  /** One round of everything. */
  async run(): Promise<void> {
    this.#round++
    const parts = [
      this.#configs(),
      this.#naming(),
      this.#events(),
      this.#broken(),
      this.#grpc(),
      this.#pages(),
    ]
    await Promise.race([Promise.allSettled(parts), sleep(2 * LIMIT_MS)])
  }

  async #configs(): Promise<void> {
    const server = this.#server
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const name = `dataId=work&group=G`
    const poll = this.#poll('work', 2_000)
    poll.catch(() => undefined)
    for (let count = 0; count < 3; count++)
      await ask(server, 'POST /nacos/v1/cs/configs', {
        body: `${name}&content=${this.#round}.${count}`,
        agent,
      })
    await Promise.allSettled([poll, this.#poll('never', 200)])
    await ask(server, `GET /nacos/v1/cs/configs?${name}`, { agent })
    await ask(server, `DELETE /nacos/v1/cs/configs?${name}`)
    agent.destroy()
  }

  #poll(dataId: string, timeoutMs: number): Promise<unknown> {
    const body = `Listening-Configs=${encodeURIComponent(`${dataId}\u0002G\u0002\u0001`)}`
    const headers = { 'Long-Pulling-Timeout': `${timeoutMs}`, 'Long-Pulling-Timeout-No-Hangup': 'false' }
    return ask(this.#server, 'POST /nacos/v1/cs/configs/listener', { body, headers })
  }

  async #naming(): Promise<void> {
    const server = this.#server
    const { port } = this.#udp.address()
    const list = `GET /nacos/v1/ns/instance/list?serviceName=work&udpPort=${port}&clientIP=127.0.0.1`
    await ask(server, list, { headers: { 'User-Agent': JAVA } })
    const instance = `serviceName=work&ip=10.0.0.1&port=${1 + (this.#round % 1_000)}`
    await ask(server, 'POST /nacos/v1/ns/instance', { body: instance })
    await sleep(300)
    await ask(server, `DELETE /nacos/v1/ns/instance?${instance}`)
  }

  #acknowledge(bytes: Buffer, from: { port: number; address: string }): void {
    const text = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes
    const { lastRefTime } = JSON.parse(text.toString()) as { lastRefTime: number }
    const ack = JSON.stringify({ type: 'push-ack', lastRefTime: `${lastRefTime}`, data: '' })
    this.#udp.send(ack, from.port, from.address)
  }

  /** Follows the events for a moment, and leaves. */
  async #events(): Promise<void> {
    const { port } = this.#server
    const sent = request({ port, host: '127.0.0.1', path: '/svc/v1/console/events', agent: false })
    sent.on('error', () => undefined)
    sent.on('response', (response) => response.on('error', () => undefined).resume())
    sent.end()
    await sleep(700)
    sent.destroy()
  }

  /** Input that is no request, is cut off, waits for a go-ahead, or comes ahead of an answer. */
  async #broken(): Promise<void> {
    const post = 'POST /nacos/v1/cs/configs HTTP/1.1\r\nHost: 127.0.0.1\r\n'
    const get = 'GET /nacos/v1/cs/configs?dataId=a&group=G HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const texts = [
      'this is no request\r\n\r\n',
      `${post}Content-Length: 100\r\n\r\ndataId=`,
      `${post}Content-Length: 999999999\r\n\r\nx`,
      `${post}Expect: 100-continue\r\nContent-Length: 3\r\n\r\na=b`,
      get.repeat(5),
    ]
    await Promise.all(texts.map((text) => this.#say(text)))
  }

  async #say(text: string): Promise<void> {
    const socket = connect(this.#server.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    socket.write(text)
    await sleep(300)
    socket.destroy()
  }

  async #pages(): Promise<void> {
    const server = this.#server
    for (const path of [
      '/metrics',
      '/readyz',
      '/svc/v1/ns/catalog/services?pageNo=1&pageSize=10',
      '/ui/',
      '/nowhere',
    ])
      await ask(server, `GET ${path}`)
    await ask(server, 'POST /nacos/v1/cs/configs', {
      body: `dataId=long&group=G&content=${'x'.repeat(300_000)}`,
    })
    await ask(server, 'GET /nacos/v1/cs/configs?dataId=long&group=G')
  }

  async #grpc(): Promise<void> {
    const client = await connectGrpc(this.#server)
    try {
      await this.#listen(client)
    } finally {
      client.session.destroy()
    }
  }

  async #listen(client: GrpcClient): Promise<void> {
    const key = { dataId: 'over-grpc', group: 'G', tenant: '' }
    const configListenContexts = [{ ...key, md5: '' }]
    await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
    const service = { namespace: '', serviceName: 'grpc', groupName: 'DEFAULT_GROUP' }
    await client.ask('SubscribeServiceRequest', { ...service, subscribe: true, clusters: '' })
    const fuzzy = {
      groupKeyPattern: '*>>G>>*',
      receivedGroupKeys: [],
      watchType: 'WATCH',
      initializing: true,
    }
    await client.ask('ConfigFuzzyWatchRequest', fuzzy)
    await client.ask('ConfigPublishRequest', { ...key, content: `${this.#round}` })
    const instance = {
      ip: '10.0.0.2',
      port: 1,
      ephemeral: true,
      healthy: true,
      enabled: true,
      weight: 1,
      metadata: {},
    }
    await client.ask('InstanceRequest', { ...service, type: 'registerInstance', instance })
    await client.ask('ConfigQueryRequest', key)
    await Promise.race([client.next('ConfigChangeNotifyRequest'), sleep(500)])
    await Promise.race([client.next('NotifySubscriberRequest'), sleep(800)])
    const broken = client.session.request({ ':method': 'POST', ':path': '/Request/request' })
    broken.on('error', () => undefined).end('no message')
    await sleep(50)
    await client.ask('ConfigRemoveRequest', key)
  }
}
