import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()
const configs = '/cs/configs'
const form = 'application/x-www-form-urlencoded'

async function comesBack(dataId: string, content: string | Buffer): Promise<void> {
  const expected = Buffer.from(content)
  const answer = await waypost.svc.get(configs, { dataId, group: 'G' })
  expect(answer.status).toBe(200)
  expect(answer.bytes.equals(expected), `${answer.bytes.length} bytes of ${expected.length}`).toBe(true)
  expect(answer.headers['content-md5']).toBe(md5(expected))
  expect(Number(answer.headers['content-length'] ?? expected.length)).toBe(expected.length)
}

const contents: [string, string][] = [
  ['Unicode', 'Grüße, 世界, Привет, שלום, 👩‍👩‍👧 𝄞 é'],
  ['decomposed accents', 'e\u0301 \u1e9b\u0323'],
  ['plus signs', 'a+b = c ++ +'],
  ['percent signs', '100% %20 %2B %zz %'],
  ['form syntax', 'a=1&b=2&content=3;c?d#e'],
  ['CRLF', 'one\r\ntwo\r\n'],
  ['LF', 'one\ntwo\n\n'],
  ['a lone CR', 'one\rtwo'],
  ['spaces and tabs at both ends', ' \t padded \t '],
  ['a byte order mark', '\ufeffmarked'],
  ['control characters', '\u0001\u0002\u001f\u007f\u0085\u2028'],
  ['a zero byte', 'a\u0000b'],
  ['quotes and backslashes', '\'"`\\ \\u0041 ${x}'],
  ['noncharacters', '\uffff\ufffe\u{10ffff}'],
  ['JSON', '{\n  "a": [1, 2.50, 1e400, "ü"]\n}\n'],
  ['XML', '<?xml version="1.0" encoding="GBK"?>\r\n<a>&amp;</a>'],
]

describe.each(contents)('%s', (_, content) => {
  test('come back byte for byte from a form body', async () => {
    const dataId = unique('form')
    expect((await waypost.svc.post(configs, { dataId, group: 'G', content })).text).toBe('true')
    await comesBack(dataId, content)
  })

  test('come back byte for byte from the query string', async () => {
    const dataId = unique('query')
    const answer = await waypost.svc.call('POST', configs, { query: { dataId, group: 'G', content } })
    expect(answer.text).toBe('true')
    await comesBack(dataId, content)
  })
})

describe('large contents', () => {
  const limit = 10 * 1024 * 1024

  test('10 MiB come back byte for byte', async () => {
    const dataId = unique('large')
    const content = Buffer.from('0123456789abcdef\n+% &='.repeat(Math.ceil(limit / 22)).slice(0, limit))
    const answer = await waypost.svc.post(configs, { dataId, group: 'G', content: content.toString() })
    expect(answer.text).toBe('true')
    await comesBack(dataId, content)
  })

  test('10 MiB in which every byte is escaped come back byte for byte', async () => {
    const dataId = unique('large')
    const content = '世'.repeat(Math.floor(limit / 3))
    const answer = await waypost.svc.post(configs, { dataId, group: 'G', content })
    expect(answer.text).toBe('true')
    await comesBack(dataId, content)
  })

  test('one byte more than 10 MiB is refused with a 4xx and changes nothing', async () => {
    const dataId = unique('large')
    for (const content of ['x'.repeat(limit + 1), '世'.repeat(Math.ceil(limit / 3) + 1)]) {
      const answer = await waypost.svc.post(configs, { dataId, group: 'G', content })
      expect([400, 413]).toContain(answer.status)
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
      expect(answer.json().detail).toMatch(/content/)
    }
    expect((await waypost.svc.get(configs, { dataId, group: 'G' })).status).toBe(404)
  })

  test('a body over 32 MiB is refused, and the server continues', async () => {
    const body = Buffer.alloc(33 * 1024 * 1024, 'x')
    const refused = waypost.svc.call('POST', configs, { body, headers: { 'content-type': form } })
    const status = await refused.then(
      (answer) => answer.status,
      () => 'closed',
    )
    expect([413, 400, 'closed']).toContain(status)
    expect((await waypost.svc.get('/ns/operator/metrics')).status).toBe(200)
  })

  test('a content of 480 KiB may be in the query', async () => {
    const dataId = unique('query')
    const content = 'q'.repeat(480 * 1024)
    const answer = await waypost.svc.call('POST', configs, { query: { dataId, group: 'G', content } })
    expect(answer.text).toBe('true')
    await comesBack(dataId, content)
  })

  test('a request line over 512 KiB is refused with a 4xx, and the server continues', async () => {
    const query = { dataId: unique('query'), group: 'G', content: 'q'.repeat(600 * 1024) }
    const status = await waypost.svc.call('POST', configs, { query }).then(
      (answer) => answer.status,
      () => 'closed',
    )
    expect([400, 413, 414, 431, 'closed']).toContain(status)
    expect((await waypost.svc.get('/ns/operator/metrics')).status).toBe(200)
  })
})

test('Unicode, plus and percent signs come back in metadata of services and instances', async () => {
  const serviceName = unique('svc')
  const metadata = { 'schlüssel+%': 'wert 世界 +%&=\r\n', tab: '\t' }
  const text = JSON.stringify(metadata)
  await waypost.svc.post('/ns/service', { serviceName, metadata: text })
  await waypost.svc.post('/ns/instance', { serviceName, ip: '127.0.0.1', port: 80, metadata: text })
  expect((await waypost.svc.get('/ns/service', { serviceName })).json().metadata).toEqual(metadata)
  const list = (await waypost.svc.get('/ns/instance/list', { serviceName })).json()
  expect(list.hosts[0].metadata).toEqual(metadata)
})
