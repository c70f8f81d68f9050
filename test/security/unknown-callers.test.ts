/** A caller without credentials costs a server little, and keeps nothing from others. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { archiveFiles } from '../../src/archive/config-archive.ts'
import { zipChunks } from '../../src/archive/zip-writer.ts'
import { Client, until } from '../interface/client.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const MIB = 1024 * 1024
const FORM = 'application/x-www-form-urlencoded'
const CONFIGS = '/nacos/v1/cs/configs'
const WRONG = { authorization: 'Bearer wrong' }

let managed: ManagedWaypost
let client: Client
let token: string
const open = new Set<Socket>()

beforeAll(async () => {
  // Of 8 MiB, 2 are for forms of unknown senders.
  managed = await startManaged({ settings: { 'max-body-memory': '8MiB', 'max-form-body': '4MiB' } })
  client = new Client(managed.waypost.url)
  token = JSON.parse(
    (await client.post('/svc/v1/auth/login', { username: 'nacos', password: 'secret' })).text,
  ).accessToken
}, 60_000)
afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})
afterAll(async () => {
  client?.close()
  await managed?.waypost.stop()
})

interface Sent {
  readonly path?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The declared length; without it, the body is chunked. */
  readonly length?: number | undefined
  readonly from?: string
  readonly to?: Waypost
}

/** A connection on which the head of a request has been sent. The answer is in `text`. */
async function begun({ path = CONFIGS, type = FORM, headers = {}, length, from, to }: Sent) {
  const { port } = to ?? managed.waypost
  const socket = Object.assign(connect({ port, host: '127.0.0.1', localAddress: from ?? '127.0.0.1' }), {
    text: '',
  })
  open.add(socket)
  socket.on('data', (chunk) => (socket.text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const size = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${more.join('')}${size}\r\n\r\n`)
  return socket
}

const statusOf = ({ text }: { text: string }): string => /^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? ''
const answered = (socket: { text: string }) =>
  until(
    () => Promise.resolve(statusOf(socket)),
    (status) => status !== '',
  )

const ITEM = 'dataId=d&group=g'
const published = (fields: string) =>
  client.call('POST', CONFIGS, { body: Buffer.from(fields), headers: { 'content-type': FORM } })

describe('credentials in the head are judged before the body is read', () => {
  test.each([
    ['a wrong token in the header', { headers: WRONG }],
    ['a wrong token in the query', { path: `${CONFIGS}?accessToken=wrong` }],
    ['a wrong pair in the query', { path: `${CONFIGS}?username=nacos&password=no` }],
    [
      'an upload without credentials',
      { path: `${CONFIGS}?import=true&namespace=`, type: 'multipart/form-data; boundary=b' },
    ],
    ['a clone without credentials', { path: `${CONFIGS}?clone=true`, type: 'application/json' }],
    [
      'an upload under /svc',
      { path: '/svc/v1/cs/configs?import=true', type: 'multipart/form-data; boundary=b' },
    ],
  ])('%s: 403 before anything of the body, and the connection goes on', async (_, sent) => {
    const socket = await begun({ ...sent, length: 300_000 })
    expect(await answered(socket)).toBe('403')
    socket.write(`${'x'.repeat(300_000)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until(
      () => Promise.resolve(socket.text),
      (text) => text.includes('HTTP/1.1 200 '),
    )
  })

  test('of a body without a length, as much is read as lets its sender read the answer', async () => {
    const socket = await begun({ headers: WRONG })
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    for (let sent = 0; sent < 200; sent++) {
      if (!socket.write(chunk)) await once(socket, 'drain')
    }
    socket.write('0\r\n\r\n')
    await once(socket, 'close')
    expect(statusOf(socket)).toBe('403')
    expect(socket.text).toContain('Connection: close')
  })

  test('a session that has ended, and a good token in the form: the token counts', async () => {
    const cookie = `waypost-session=${'x'.repeat(43)}`
    const body = Buffer.from(`${ITEM}&content=x&accessToken=${token}`)
    const reply = await client.call('POST', CONFIGS, { body, headers: { 'content-type': FORM, cookie } })
    expect(reply.text).toBe('true')
  })
})

describe('credentials in a form are found', () => {
  const large = `content=${'x%0A'.repeat(400_000)}`

  test.each([
    ['a token', () => `accessToken=${token}`],
    ['a token whose name is encoded', () => `access%54oken=${token}`],
    ['a pair', () => 'password=secret&username=nacos'],
  ])('%s, at any place', async (_, fields) => {
    for (const form of [`${fields()}&${ITEM}&${large}`, `${ITEM}&${large}&${fields()}`])
      expect((await published(form)).text).toBe('true')
  })

  test('of several tokens the first counts, however it is spelled', async () => {
    const of = async (...tokens: string[]) => (await published(`${ITEM}&${large}&${tokens.join('&')}`)).status
    expect(await of(`%61ccessToken=${token}`, 'accessToken=wrong')).toBe(200)
    expect(await of('%61ccessToken=wrong', `accessToken=${token}`)).toBe(403)
    expect(await of(`accessToken=${token}`, '%61ccessToken=wrong')).toBe(200)
  })

  test('the audit names what was refused: the item of a small form, and the operation of what was not read', async () => {
    await published(`${ITEM.replace('=d', '=audited')}&content=x`)
    await begun({ path: `${CONFIGS}?import=true`, type: 'multipart/form-data; boundary=b', length: 9 })
    const events = async (): Promise<object[]> => {
      const reply = await client.get(
        '/svc/v1/audit',
        { result: 'refused' },
        { authorization: `Bearer ${token}` },
      )
      return JSON.parse(reply.text).events
    }
    const seen = await until(events, (list) => {
      const text = JSON.stringify(list)
      return text.includes('audited') && text.includes('import configs')
    })
    const refused = { result: 'refused', code: 'not-signed-in' }
    const named = { operation: 'publish config', item: 'public:g:config/audited' }
    expect(seen).toContainEqual(expect.objectContaining({ ...refused, ...named }))
    expect(seen).toContainEqual(
      expect.objectContaining({ ...refused, operation: 'import configs', item: '' }),
    )
  })
})

test('what is open to everybody takes a small body only', async () => {
  const login = (length: number) => ({ username: 'nacos', password: 'secret', x: 'x'.repeat(length) })
  expect((await client.post('/svc/v1/auth/login', login(60_000))).status).toBe(200)
  expect((await client.post('/svc/v1/auth/login', login(66_000))).status).toBe(413)
})

describe('slow forms of strangers', () => {
  /** Fills the part of the memory that is for such forms. */
  const fill = async (from: string) => {
    const sockets = []
    for (let at = 0; at < 8; at++) {
      const socket = await begun({ from, length: 3 * MIB })
      socket.write('x'.repeat(300_000))
      sockets.push(socket)
    }
    return sockets
  }

  test('of one address do not keep out clients of others', async () => {
    const slow = await fill('127.0.0.2')
    for (let round = 0; round < 3; round++)
      expect((await published(`${ITEM}&content=${'x'.repeat(MIB)}&accessToken=${token}`)).text).toBe('true')
    // Requests that gave way got an answer that says so.
    expect(slow.map(statusOf)).toContain('503')
  })

  test('keep out neither small forms nor clients that show who they are in the head', async () => {
    await fill('127.0.0.1')
    expect((await published(`${ITEM}&content=small&accessToken=${token}`)).text).toBe('true')
    const form = { dataId: 'd', group: 'g', content: 'x'.repeat(3 * MIB) }
    const reply = await client.call('POST', CONFIGS, { form, headers: { authorization: `Bearer ${token}` } })
    expect(reply.text).toBe('true')
  })
})

describe('half uploads', () => {
  const zipOf = async (dataId: string): Promise<string> => {
    const content = Buffer.from('x')
    const metadata = { group: 'g', dataId, type: 'text', desc: undefined, appName: undefined }
    const chunks: Buffer[] = []
    for await (const chunk of zipChunks(
      archiveFiles([{ metadata, content, modifiedMs: 0 }] as never, 'v2' as never),
    ))
      chunks.push(chunk)
    const zip = Buffer.concat(chunks).toString('latin1')
    return `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${zip}\r\n--b--\r\n`
  }
  const path = `${CONFIGS}?import=true&namespace=&policy=OVERWRITE`
  const type = 'multipart/form-data; boundary=b'

  test.each([
    ['with authentication', () => Promise.resolve(managed.waypost)],
    ['without it', () => startWaypost()],
  ])('take no place, %s', async (_, start) => {
    const to = await start()
    const headers = { authorization: `Bearer ${token}` }
    const halves = []
    for (let at = 0; at < 5; at++) {
      const half = await begun({ path, type, to, headers: at % 2 === 0 ? headers : {}, length: MIB })
      half.write('--b\r\n')
      halves.push(half)
    }
    const body = Buffer.from(await zipOf('imported'), 'latin1')
    const whole = await begun({ path, type, headers, to, length: body.length })
    whole.write(body)
    expect(await answered(whole)).toBe('200')
    const cloned = Buffer.from('[]')
    const clone = await begun({
      path: `${CONFIGS}?clone=true`,
      headers,
      to,
      type: 'application/json',
      length: 2,
    })
    clone.write(cloned)
    expect(await answered(clone)).toBe('200')
    if (to !== managed.waypost) await to.stop()
  })
})
