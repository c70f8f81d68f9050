/** The holes that servers of this kind have had, each tried here. docs/security.md has the whole list. */
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique } from '../interface/client.ts'

const waypost = serverForThisFile()

/** The whole answer to raw bytes. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(waypost.server.port, '127.0.0.1')
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

const get = (target: string, headers = '') =>
  raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)

describe('no header gives rights', () => {
  test.each(['Nacos-Server', 'Nacos-Server:v2.3.0', 'Waypost'])(
    'User-Agent %s passes no gate',
    async (agent) => {
      await waypost.svc.put('/ns/operator/switches', {
        entry: 'overriddenServerStatus',
        value: 'DOWN',
        debug: true,
      })
      try {
        const headers = { 'user-agent': agent, 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' }
        expect((await waypost.nacos.get('/ns/service/list', 'pageNo=1&pageSize=1', headers)).status).toBe(503)
      } finally {
        await waypost.svc.put('/ns/operator/switches', {
          entry: 'overriddenServerStatus',
          value: 'null',
          debug: true,
        })
      }
    },
  )
})

describe('no spelling of a path avoids its route', () => {
  test.each([
    '//nacos/v1/cs/configs?dataId=a&group=G',
    '/nacos//v1/cs/configs?dataId=a&group=G',
    '/nacos/v1/cs/../cs/configs?dataId=a&group=G',
    '/nacos/v1/cs/./configs?dataId=a&group=G',
    '/nacos/v1/cs/configs;x=y?dataId=a&group=G',
    '/nacos/v1/cs/configs%2f?dataId=a&group=G',
    '/nacos/v1/cs/config%73?dataId=a&group=G',
    '/NACOS/v1/cs/configs?dataId=a&group=G',
    '/nacos/v1/cs/configs//?dataId=a&group=G',
    '/nacos/v1/cs/configs%00?dataId=a&group=G',
    '/nacos/v1/cs\\configs?dataId=a&group=G',
    '/..%2f..%2f..%2fetc/passwd',
    '/../../../../etc/passwd',
    'file:///etc/passwd',
  ])('%s does not exist', async (target) => {
    expect(await get(target)).toMatch(/^HTTP\/1\.1 404 /)
  })
})

describe('there are no debug endpoints', () => {
  test.each([
    '/nacos/v1/cs/ops/derby?sql=select%201',
    '/nacos/v1/cs/ops/data/removal',
    '/nacos/v1/ns/raft/state',
    '/nacos/v1/ns/raft/datum',
    '/nacos/v1/ns/distro/datums',
    '/nacos/actuator/env',
    '/actuator/heapdump',
    '/debug/pprof',
    '/.env',
    '/dist/main.js',
  ])('%s does not exist', async (target) => {
    expect(await get(target)).toMatch(/^HTTP\/1\.1 404 /)
  })
})

describe('a published content never runs in a browser', () => {
  test.each(['html', 'xml', 'json', 'text', 'yaml'])('type %s is served as plain text', async (type) => {
    const item = { dataId: unique('page'), group: 'G' }
    await waypost.svc.post('/cs/configs', { ...item, content: '<script>alert(1)</script>', type })
    for (const client of [waypost.svc, waypost.nacos]) {
      const reply = await client.get('/cs/configs', item)
      expect(reply.headers['content-type']).toBe('text/plain;charset=UTF-8')
      expect(reply.headers['x-content-type-options']).toBe('nosniff')
    }
  })

  test('an error that repeats a value is no HTML either', async () => {
    const reply = await waypost.nacos.get('/cs/configs', { dataId: '<script>alert(1)</script>', group: 'G' })
    expect(reply.status).toBe(400)
    expect(reply.headers['content-type']).toBe('text/plain;charset=UTF-8')
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
  })
})

describe('an id alone gives no access', () => {
  test('a history record of another item is refused', async () => {
    const [mine, other] = [unique('mine'), unique('other')].map((dataId) => ({ dataId, group: 'G' }))
    await waypost.svc.post('/cs/configs', { ...mine!, content: 'secret' })
    const { pageItems } = (await waypost.svc.get('/cs/history', { ...mine!, search: 'accurate' })).json()
    const nid = pageItems[0].id
    for (const client of [waypost.svc, waypost.nacos]) {
      const reply = await client.get('/cs/history', { ...other!, nid })
      expect(reply.status).toBe(403)
      expect(reply.text).not.toContain('secret')
      expect((await client.get('/cs/history/previous', { ...other!, id: nid })).status).toBe(403)
    }
  })
})

describe('answers cannot be split', () => {
  const evil = 'a\r\nSet-Cookie: b=c\r\n\r\n<html>\u4e2d\u0000'

  test('by a published content', async () => {
    const item = { dataId: unique('split'), group: 'G' }
    const sent = { ...item, content: evil, encryptedDataKey: evil, type: evil, appName: evil, src_user: evil }
    expect((await waypost.nacos.post('/cs/configs', sent)).text).toBe('true')
    const text = await get(`/nacos/v1/cs/configs?dataId=${item.dataId}&group=G`)
    const head = text.slice(0, text.indexOf('\r\n\r\n'))
    expect(head).toContain('Encrypted-Data-Key: a%0D%0ASet-Cookie: b=c%0D%0A%0D%0A<html>%E4%B8%AD%00')
    expect(head).not.toMatch(/^Set-Cookie/im)
    expect(text.slice(head.length + 4)).toBe(Buffer.from(evil).toString('latin1'))
  })

  test('by the items of a poll without a timeout', async () => {
    const watched = encodeURIComponent(`x\r\nSet-Cookie: b=c\u0002G\u0002ffff\u0001`)
    const body = `Listening-Configs=${watched}`
    const text = await raw(
      `POST /nacos/v1/cs/configs/listener HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).toMatch(/^Probe-Modify-Response-New: x%0D%0A/im)
    expect(text).not.toMatch(/^Set-Cookie/im)
  })

  test('by two lengths, or a length together with chunks', async () => {
    const smuggled = 'GET /svc/v1/ns/operator/metrics HTTP/1.1\r\nHost: x\r\n\r\n'
    const head = 'POST /svc/v1/cs/configs HTTP/1.1\r\nHost: x\r\n'
    for (const framing of [
      'Content-Length: 0\r\nContent-Length: 60\r\n',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
      'Transfer-Encoding: xchunked\r\n',
      'Content-Length: +5\r\n',
      'Content-Length : 5\r\n',
    ]) {
      const text = await raw(`${head}${framing}\r\n0\r\n\r\n${smuggled}`)
      expect(text.match(/HTTP\/1\.1 \d+/g), framing).toEqual(['HTTP/1.1 400'])
    }
  })
})
