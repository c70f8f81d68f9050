/** Requests of a page of another site through the browser of an administrator, who may come from the same address. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const MOZILLA = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
const ITEM = '/svc/v1/cs/configs'
/** More than the failures after which a user is locked at an address. */
const MANY = 30

let waypost: Waypost
let root: Client
beforeAll(async () => {
  waypost = (await startManaged()).waypost
  root = new Client(waypost.url)
})
afterAll(async () => {
  root?.close()
  await waypost?.stop()
})

const login = (password = 'secret') =>
  root.post('/svc/v1/auth/login', { username: 'nacos', password }).then(({ status }) => status)
const read = (password: string, headers: Record<string, string> = {}) => {
  const item = { dataId: 'd', group: 'G', username: 'nacos', password }
  return root.get(ITEM, item, headers).then(({ status }) => status)
}

describe('a pair in a request', () => {
  const browsers: Record<string, string>[] = [
    { 'user-agent': MOZILLA },
    { referer: 'http://evil.example/' },
    { origin: 'http://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-user': '?1' },
  ]
  test.each(browsers)('of a browser (%j) is neither counted nor judged', async (headers) => {
    for (let at = 0; at < MANY; at++) expect(await read('wrong', headers)).toBe(403)
    // A right one gets the same answer: nobody can guess without limit.
    expect(await read('secret', headers)).toBe(403)
    expect(await read('secret')).toBe(404)
    expect(await login()).toBe(200)
  })

  test('in the form of a page of this server is ignored too', async () => {
    const form = { dataId: 'd', group: 'G', content: 'x', username: 'nacos', password: 'secret' }
    const page = { origin: waypost.url, 'user-agent': MOZILLA }
    expect((await root.post(ITEM, form, page)).status).toBe(403)
    expect((await root.post(ITEM, form)).status).toBe(200)
    expect(
      (await root.delete(ITEM, { dataId: 'd', group: 'G', username: 'nacos', password: 'secret' })).status,
    ).toBe(200)
  })

  test('of the fetch of Node is judged', async () => {
    const url = `${waypost.url}${ITEM}?dataId=d&group=G&username=nacos&password=secret`
    expect((await fetch(url)).status).toBe(404)
    expect(await read('secret', { 'sec-fetch-mode': 'cors', 'user-agent': 'node' })).toBe(404)
  })

  test('of a client counts, and so does every login', { timeout: 60_000 }, async () => {
    for (const guess of [() => read('wrong'), () => login('wrong')]) {
      const other = (await startManaged()).waypost
      const mine = root
      root = new Client(other.url)
      try {
        let status = 0
        for (let at = 0; at < MANY && status !== 429; at++) status = await guess()
        expect(status).toBe(429)
        expect(await login()).toBe(429)
      } finally {
        root.close()
        root = mine
        await other.stop()
      }
    }
  })
})

describe('a cookie that another program of the host has set', () => {
  const session = { username: 'nacos', password: 'secret' }
  const begin = async () => {
    const { headers } = await root.post('/svc/v1/console/session', session)
    return headers['set-cookie']![0]!.split(';')[0]!
  }
  const planted = [`waypost-session=${'x'.repeat(43)}`, 'waypost-session=short', 'waypost-session=']

  test('does not lock its user out, before or behind the real one', async () => {
    const cookie = await begin()
    const ended = await begin()
    await root.delete('/svc/v1/console/session', undefined, { cookie: ended })
    for (const cookies of [
      [...planted, ended, cookie],
      [cookie, ...planted],
    ]) {
      const headers = { cookie: cookies.join('; ') }
      expect((await root.get('/svc/v1/console/session', {}, headers)).json()).toMatchObject({
        username: 'nacos',
      })
    }
    expect((await root.get('/svc/v1/console/session', {}, { cookie: planted.join('; ') })).status).toBe(403)
  })

  test('does not keep a session from ending', async () => {
    const cookie = await begin()
    await root.delete('/svc/v1/console/session', undefined, { cookie: [...planted, cookie].join('; ') })
    expect((await root.get('/svc/v1/console/session', {}, { cookie })).status).toBe(403)
  })
})

describe('the name of an open server on a network', () => {
  let open: Waypost
  let everybody: Client
  beforeAll(async () => {
    open = await startWaypost({ settings: { host: '0.0.0.0', 'open-to-everyone': true } })
    everybody = new Client(open.url)
  })
  afterAll(async () => {
    everybody?.close()
    await open?.stop()
  })
  const statusOf = async (headers: Record<string, string>) =>
    (await everybody.get('/svc/v1/console/namespaces', {}, { host: 'waypost.example:8848', ...headers }))
      .status

  test.each([
    { referer: 'http://waypost.example:8848/' },
    { cookie: 'a=b' },
    { 'accept-language': 'de-DE,de;q=0.9' },
    { 'accept-language': '' },
    { 'sec-fetch-dest': 'empty' },
    { 'user-agent': MOZILLA },
  ])('is judged for %j, as a page would send it after DNS rebinding', async (headers) => {
    expect(await statusOf({ 'user-agent': 'x', ...headers })).toBe(421)
    expect(await statusOf({ 'user-agent': 'x', host: '10.0.0.1:8848', ...headers })).toBe(200)
  })

  test.each([
    { 'user-agent': 'curl/8.5.0', accept: '*/*' },
    { 'user-agent': 'node', 'accept-language': '*', 'sec-fetch-mode': 'cors' },
    { 'user-agent': 'Nacos-Java-Client:v1.4.8', 'accept-charset': 'UTF-8', 'content-type': 'text/plain' },
    { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' },
    { 'user-agent': 'Python-urllib/3.12', 'accept-encoding': 'identity' },
  ])('is not judged for %j', async (headers) => {
    expect(await statusOf(headers)).toBe(200)
  })

  test('is not judged for what needs to sign in', async () => {
    const { status } = await root.get(ITEM, { dataId: 'd', group: 'G' }, { host: 'a.example', cookie: 'a=b' })
    expect(status).toBe(403)
  })
})
