/**
 * The requests that web pages of other sites can make the browsers of their visitors send. docs/security.md has the rules, which
 * cross-site-guard.test.ts has one by one.
 */
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique } from '../interface/client.ts'

const MOZILLA = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
const ALLOWED = 'portal.example,other.example:8443'

const loopback = serverForThisFile({
  settings: { 'advertise-host': 'waypost.example', 'allowed-hosts': ALLOWED },
})
const everywhere = serverForThisFile({
  settings: { host: '0.0.0.0', 'open-to-everyone': true, 'allowed-hosts': ALLOWED },
})

type Lines = readonly string[]

/** Sends a request and gives back all that comes until the server ends the connection or is silent. */
function sent(port: number, lines: Lines, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    // Before its answer begins, a server is only late.
    socket.setTimeout(1_000, () => void (text !== '' && socket.destroy()))
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  })
}

const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1])

/** A publish as the form of a page would send it, with these headers; true where the item is there afterwards. */
async function published(headers: (port: number) => Lines, waypost = loopback) {
  const { port } = waypost.server
  const dataId = unique('forged')
  const form = `dataId=${dataId}&group=G&content=x`
  const head = [
    'POST /nacos/v1/cs/configs HTTP/1.1',
    ...headers(port),
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${form.length}`,
    'Connection: close',
  ]
  const text = await sent(port, head, form)
  const read = await waypost.svc.get('/cs/configs', { dataId, group: 'G' })
  return { status: statusOf(text), text, isThere: read.status === 200 }
}

const host = (port: number) => `Host: 127.0.0.1:${port}`
const mozilla = `User-Agent: ${MOZILLA}`

describe('a write is accepted', () => {
  const clients: [string, (port: number) => Lines][] = [
    [
      'a page of the server',
      (port) => [host(port), mozilla, `Origin: http://127.0.0.1:${port}`, 'Sec-Fetch-Site: same-origin'],
    ],
    ['a page of an allowed host', (port) => [host(port), mozilla, 'Origin: https://portal.example']],
  ]
  test.each(clients)('for %s', async (_who, headers) => {
    for (const waypost of [loopback, everywhere]) {
      expect(await published(headers, waypost)).toMatchObject({ status: 200, isThere: true })
    }
  })

  test('for a page of advertise-host', async () => {
    const page = ['Host: Waypost.Example', mozilla, 'Origin: https://waypost.example']
    expect(await published(() => page)).toMatchObject({ status: 200, isThere: true })
  })

  test('for the fetch of Node, by address and by name', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      const body = new URLSearchParams({ dataId: unique('fetched'), group: 'G', content: 'x' })
      const url = `http://${name}:${everywhere.server.port}/svc/v1/cs/configs`
      expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
    }
  })
})

describe('a write is refused before it has an effect', () => {
  const pages: [string, (port: number) => Lines][] = [
    ['the form of another site', (port) => [host(port), mozilla, 'Origin: http://evil.example']],
  ]
  test.each(pages)('for %s', async (_who, headers) => {
    for (const waypost of [loopback, everywhere]) {
      const answer = await published(headers, waypost)
      expect(answer).toMatchObject({ status: 403, isThere: false })
      expect(answer.text).toContain('allowed-hosts')
      expect(answer.text).not.toMatch(/access-control/i)
    }
  })

  test('for a request of HTTP/1.0 with an Origin and no Host; without Origin it is accepted', async () => {
    const { port } = loopback.server
    const dataId = unique('old')
    const post = (more: Lines) =>
      sent(port, [`POST /svc/v1/cs/configs?dataId=${dataId}&group=G&content=x HTTP/1.0`, ...more])
    expect(statusOf(await post(['Origin: http://evil.example']))).toBe(403)
    expect((await loopback.svc.get('/cs/configs', { dataId, group: 'G' })).status).toBe(404)
    expect(statusOf(await post([]))).toBe(200)
  })

  test.each(['/nacos/v1/ns/instance/beat', '/nothing'])('on any path: PUT %s is refused', async (path) => {
    const text = await sent(loopback.server.port, [
      `PUT ${path}?serviceName=s&ip=1.1.1.1&port=80&clusterName=DEFAULT HTTP/1.1`,
      host(loopback.server.port),
      'Sec-Fetch-Site: cross-site',
      'Connection: close',
    ])
    expect(statusOf(text)).toBe(403)
  })

  test('for a beat that is recognised by its bytes', async () => {
    const key = { serviceName: unique('beaten'), ip: '10.1.1.1', port: 80, clusterName: 'DEFAULT' }
    await loopback.nacos.post('/ns/instance', key)
    const beat = () => loopback.nacos.put('/ns/instance/beat', key)
    expect((await beat()).status).toBe(200)
    expect((await beat()).status).toBe(200)
    const forged = { query: key, headers: { 'sec-fetch-site': 'cross-site' } }
    expect((await loopback.nacos.call('PUT', '/ns/instance/beat', forged)).status).toBe(403)
  })

  test('among pipelined requests, each of which is checked', async () => {
    const { port } = loopback.server
    const dataId = unique('ahead')
    const publish = (more: string) =>
      `POST /svc/v1/cs/configs?dataId=${dataId}&group=G&content=x HTTP/1.1\r\n${host(port)}\r\n${more}\r\n`
    const read = `GET /svc/v1/cs/configs?dataId=${dataId}&group=G HTTP/1.1\r\n${host(port)}\r\n`
    const forged = publish('Content-Length: 0\r\nOrigin: http://evil.example\r\n')
    const text = await sent(port, [
      `${forged}${read}\r\n${publish('Content-Length: 0\r\n')}${read}Connection: close`,
    ])
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(
      [403, 404, 200, 200].map((status) => `HTTP/1.1 ${status}`),
    )
  })

  test('and its body is not requested', async () => {
    const { port } = loopback.server
    const text = await sent(port, [
      'POST /nacos/v1/cs/configs?import=true HTTP/1.1',
      host(port),
      'Content-Type: multipart/form-data; boundary=b',
      'Content-Length: 10000000',
      'Expect: 100-continue',
      'Origin: http://evil.example',
    ])
    expect(text).not.toContain('100 Continue')
    expect(statusOf(text)).toBe(403)
  })
})

describe('a name that is not the server’s', () => {
  const get = (headers: Lines, waypost = loopback, target = '/nacos/v1/console/namespaces') =>
    sent(waypost.server.port, [`GET ${target} HTTP/1.1`, ...headers, 'Connection: close'])

  test('is refused for a browser, as after DNS rebinding', async () => {
    for (const waypost of [loopback, everywhere]) {
      const { port } = waypost.server
      const evil = `Host: evil.example:${port}`
      for (const headers of [
        [evil, mozilla],
        [evil, 'Sec-Fetch-Site: same-origin'],
        [evil, `Origin: http://evil.example:${port}`],
      ]) {
        const text = await get(headers, waypost)
        expect(statusOf(text)).toBe(421)
        expect(text).toContain('allowed-hosts')
      }
      const own = (port_: number) => [
        `Host: evil.example:${port_}`,
        mozilla,
        `Origin: http://evil.example:${port_}`,
      ]
      expect(await published(own, waypost)).toMatchObject({ status: 421, isThere: false })
    }
  })

  test('is refused for every client with a User-Agent, if the server is on a loopback address', async () => {
    const client = ['Host: evil.example', 'User-Agent: Nacos-Java-Client:v1.4.8']
    expect(statusOf(await get(client))).toBe(421)
    expect(statusOf(await get(client, everywhere))).toBe(200)
    expect(statusOf(await get(['Host: evil.example']))).toBe(200)
  })

  test.each(['/metrics', '/nothing'])('is refused at %s', async (path) => {
    expect(statusOf(await get(['Host: evil.example', mozilla], everywhere, path))).toBe(421)
    expect(statusOf(await get(['Host: evil.example', 'User-Agent: Prometheus/3.0'], loopback, path))).toBe(
      421,
    )
  })

  test('is not checked without a Host, in HTTP/1.0', async () => {
    expect(statusOf(await sent(loopback.server.port, ['GET /healthz HTTP/1.0', mozilla]))).toBe(200)
  })
})

describe('a page of another site cannot read an answer', () => {
  test('because no header allows it, also not in the answer to a preflight request', async () => {
    const { port } = loopback.server
    const text = await sent(port, [
      'OPTIONS /svc/v1/cs/configs HTTP/1.1',
      host(port),
      mozilla,
      'Origin: http://evil.example',
      'Access-Control-Request-Method: PUT',
      'Connection: close',
    ])
    expect(statusOf(text)).toBe(405)
    expect(text).not.toMatch(/access-control/i)
    const read = await loopback.svc.get('/console/namespaces', {}, { origin: 'http://evil.example' })
    expect(read.status).toBe(200)
    expect(Object.keys(read.headers).join()).not.toMatch(/access-control/)
  })
})

test('each refusal has the format of its dialect and is counted by its code', async () => {
  const headers = { 'sec-fetch-site': 'cross-site' }
  const svc = await loopback.svc.call('DELETE', '/cs/configs', { headers })
  expect(svc.json()).toMatchObject({ type: 'urn:waypost:problem:cross-site', status: 403 })
  const config = await loopback.nacos.call('DELETE', '/cs/configs', { headers })
  expect(config.text).toMatch(/^caused: .*allowed-hosts.*;$/)
  const naming = await loopback.nacos.call('DELETE', '/ns/instance', { headers })
  expect(naming.text).toMatch(/^A page of another site/)
  const evil = { headers: { host: 'evil.example', 'user-agent': MOZILLA } }
  expect((await loopback.svc.call('GET', '/cs/configs', evil)).json()).toMatchObject({
    type: 'urn:waypost:problem:unknown-host',
    status: 421,
  })
  const metrics = await (await fetch(`${loopback.server.url}/metrics`)).text()
  for (const code of ['cross-site', 'unknown-host'])
    expect(metrics).toMatch(new RegExp(`refus[a-z_]*\\{code="${code}"\\} [1-9]`))
})
