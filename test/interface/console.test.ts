import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorsOfPath } from '../../src/protocols/http/dialect-errors.ts'
import { pageRoutes } from '../../src/protocols/http/page/page-routes.ts'
import { readPage } from '../../src/server/doors/console.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

interface Got {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

/** A plain GET: `fetch` would follow and unpack. */
function get(url: string, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    request.on('error', reject)
  })
}

const started: Waypost[] = []
const start = async (settings: Record<string, string | boolean> = {}): Promise<Waypost> => {
  const waypost = await startWaypost({ settings })
  started.push(waypost)
  return waypost
}

let url: string
beforeAll(async () => {
  url = (await start()).url
})
afterAll(async () => {
  await Promise.all(started.map((waypost) => waypost.stop()))
})

describe('the console', () => {
  test('is at /ui/, where a relative redirect leads, so that it works below any path', async () => {
    const { status, headers } = await get(`${url}/ui`)
    expect([status, headers.location]).toEqual([302, 'ui/'])
    const page = await get(`${url}/ui/`)
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html;charset=UTF-8'])
    const addresses = [...page.body.toString().matchAll(/(?:src|href)="([^"]*)"/g)].map(([, one]) => one)
    expect(addresses.length).toBeGreaterThan(2)
    for (const address of addresses) expect(address).toMatch(/^\.\/assets\//)
    expect(page.body.toString()).not.toMatch(/<script(?![^>]*\ssrc=)|<style| on\w+=|style=/)
  })

  test('is where browsers get from the address of the server alone, and programs get what any unknown path answers', async () => {
    const browser = await get(`${url}/`, { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' })
    expect([browser.status, browser.headers.location]).toEqual([302, 'ui/'])
    expect(browser.headers['cache-control']).toBe('no-store')
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const program = await get(`${url}/`, headers)
      expect([program.status, program.headers['content-type']]).toEqual([404, 'application/problem+json'])
    }
  })

  test.each([
    ['/nacos', '/ui/'],
    ['/nacos/', '/ui/'],
    ['/nacos/index.html', '/ui/'],
    ['/nacos/?a=b', '/ui/'],
    ['/ui/config', '/ui/'],
    ['/ui/a/b/c?d=e', '/ui/'],
  ])('is where browsers get from %s, also below the path of a proxy', async (path, page) => {
    const browser = await get(`${url}${path}`, { accept: 'text/html,*/*;q=0.8' })
    expect(browser.status).toBe(302)
    for (const outside of ['http://a.example:1', 'https://b.example/tools/waypost']) {
      const there = new URL(browser.headers.location!, `${outside}${path}`).href
      expect(there).toBe(`${outside}${page}`)
    }
    const program = await get(`${url}${path}`, { accept: '*/*' })
    expect([program.status, program.headers.location]).toEqual([404, undefined])
  })

  test('tells browsers to run no other code and to show it in no frame', async () => {
    const { headers } = await get(`${url}/ui/`)
    const policy = headers['content-security-policy']
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain(
      "frame-ancestors 'none'; require-trusted-types-for 'script'; worker-src 'self'; trusted-types waypost-workers",
    )
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
    })
  })

  test('is sent as it was compressed at the build, in an encoding that the browser takes', async () => {
    const file = await anAsset()
    const plain = await get(file)
    const br = await get(file, { 'accept-encoding': 'gzip, deflate, br' })
    const gzip = await get(file, { 'accept-encoding': 'gzip, br;q=0' })
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'br',
      'gzip',
    ])
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true)
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    for (const { headers } of [plain, br, gzip]) expect(headers.vary).toBe('Accept-Encoding')
  })

  test('is kept by browsers: files with a hash for ever, the page while its tag is the same', async () => {
    const file = await anAsset()
    expect((await get(file)).headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const { etag = '' } = (await get(`${url}/ui/`)).headers
    const again = await get(`${url}/ui/`, { 'if-none-match': `"other", W/${etag}` })
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
    expect((await get(`${url}/ui/`, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('shows the licences of what is in it', async () => {
    const { body } = await get(`${url}/ui/LICENSES.txt`)
    for (const name of ['preact', '@codemirror/view', 'yaml']) expect(body.toString()).toContain(`${name} `)
  })

  test('has no other files, and takes no other methods', async () => {
    expect((await get(`${url}/ui/.stamp`)).status).toBe(404)
    expect((await get(`${url}/ui/../main.js`)).status).toBe(404)
    expect((await get(`${url}/ui/assets/`)).status).toBe(404)
    expect((await fetch(`${url}/ui/`, { method: 'POST' })).status).toBe(405)
  })
})

describe('while authentication is off', () => {
  const FORWARDED = [
    { forwarded: 'for=10.0.0.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'X-Forwarded-Host': 'a' },
  ]

  test.each(FORWARDED)('it is not shown through a proxy (%j)', async (headers) => {
    for (const path of ['/ui', '/ui/']) {
      const { status, body } = await get(url + path, headers as Record<string, string>)
      expect(status).toBe(403)
      expect(body.toString()).toContain('Authentication is off')
    }
  })

  test('it is, if the server is open to everyone', async () => {
    const open = await start({ 'open-to-everyone': true })
    expect((await get(`${open.url}/ui/`, { 'x-forwarded-for': '10.0.0.1' })).status).toBe(200)
  })
})

test('with authentication it is shown to everybody, so that they can sign in', async () => {
  const { url: managed } = await start({ auth: 'on' })
  expect((await get(`${managed}/ui/`, { 'x-forwarded-for': '10.0.0.1' })).status).toBe(200)
})

describe('a console that was not built', () => {
  const answerOf = async (directory: string) => {
    const routes = pageRoutes({ page: await readPage(directory), isShownTo: () => true }, errorsOfPath)
    const ofConsole = routes.filter(({ path }) => path === '/ui' || path === '/ui/')
    const answers = ofConsole.map(({ path, handle }) => [path, handle({ caller: {} } as never)] as const)
    return answers as unknown as (readonly [string, { status: number; body: string }])[]
  }

  test('is a 503 that says what to do', async () => {
    const missing = await answerOf(join(temporaryDirectory('page-'), 'missing'))
    expect(missing.map(([path, { status }]) => [path, status])).toEqual([
      ['/ui', 503],
      ['/ui/', 503],
    ])
    expect(missing[0]![1].body).toContain('run npm run build')
  })

  test('shows why its build failed', async () => {
    const directory = temporaryDirectory('page-')
    writeFileSync(join(directory, 'failure.log'), 'main.tsx: a bracket is missing')
    expect((await answerOf(directory))[0]![1].body).toContain('a bracket is missing')
  })
})

test('a file that is no part of a page is not read', async () => {
  const directory = temporaryDirectory('page-')
  mkdirSync(join(directory, 'assets'))
  for (const name of ['index.html', 'assets/a-1.js', 'assets/a-1.js.br', '.stamp', 'assets/a.map'])
    writeFileSync(join(directory, name), name)
  const page = await readPage(directory)
  expect(page.kind === 'built' && page.files.map(({ path, br }) => [path, br?.toString()])).toEqual([
    ['assets/a-1.js', 'assets/a-1.js.br'],
    ['', undefined],
  ])
})

/** A file of the page that is large enough to be compressed. */
async function anAsset(): Promise<string> {
  const page = await get(`${url}/ui/`)
  const [, name] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page.body.toString()) ?? []
  return `${url}/ui/${name}`
}
