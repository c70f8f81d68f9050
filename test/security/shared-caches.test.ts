/** A proxy with nothing but its cache switched on must not give one caller the answer to another. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiDocument } from '../../src/server/doors/api-document.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { freePort, temporaryDirectory } from '../support/waypost.ts'

const proxies = needTool('haproxy', 'nginx', 'varnishd')

/** Parameters that most queries take; each takes its own. */
const QUERY = new URLSearchParams({
  dataId: 'app.yaml',
  group: 'G',
  serviceName: 'svc',
  namespaceId: '',
  search: 'blur',
  pageNo: '1',
  pageSize: '2',
})
/** They end when their client leaves, or send the whole store. */
const WITHOUT_END = new Set(['/svc/v1/console/events', '/svc/v1/operator/backup'])

const paths = Object.entries(
  (JSON.parse(apiDocument()) as { paths: Record<string, { get?: object }> }).paths,
).flatMap(([path, { get }]) => (get === undefined || WITHOUT_END.has(path) ? [] : [path]))

let managed: ManagedWaypost
let token: string
let cookie: string

beforeAll(async () => {
  managed = await startManaged()
  token = await managed.tokenOf('nacos')
  const content = { dataId: 'app.yaml', group: 'G', content: 'owner: nacos' }
  await managed.ask('POST', '/svc/v1/cs/configs', content)
  await managed.ask('POST', '/svc/v1/ns/instance', { serviceName: 'svc', ip: '10.0.0.1', port: '80' })
  const session = await fetch(`${managed.waypost.url}/svc/v1/console/session`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'nacos', password: 'secret' }),
  })
  cookie = session.headers.get('set-cookie')!.split(';')[0]!
})
afterAll(() => managed?.waypost.stop())

const haproxyText = (port: number): string => `
global
  log stdout format raw local0 err
defaults
  mode http
  timeout client 30s
  timeout connect 5s
  timeout server 30s
cache kept
  total-max-size 16
  max-age 60
frontend all
  bind 127.0.0.1:${port}
  http-request cache-use kept
  http-response cache-store kept
  default_backend waypost
backend waypost
  server one 127.0.0.1:${managed.waypost.port}
`

const nginxText = (port: number, directory: string): string => `
daemon off;
master_process off;
pid ${directory}/pid;
error_log stderr error;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  proxy_cache_path ${directory}/cache keys_zone=kept:10m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${managed.waypost.port};
      proxy_cache kept;
      proxy_cache_valid 200 1m;
    }
  }
}
`

const varnishText = (): string => `
vcl 4.1;
backend waypost { .host = "127.0.0.1"; .port = "${managed.waypost.port}"; }
`

/** The text of the configuration of a proxy, and the words of its command. */
function proxyOf(name: string, { port, directory, file }: { port: number; directory: string; file: string }) {
  switch (name) {
    case 'haproxy':
      return { text: haproxyText(port), words: ['-f', file] }
    case 'nginx':
      return { text: nginxText(port, directory), words: ['-p', directory, '-c', file] }
    default: {
      // Another user could not enter the directory of the test.
      const address = ['-j', 'none', '-F', '-a', `127.0.0.1:${port}`, '-T', 'none']
      return { text: varnishText(), words: [...address, '-n', directory, '-f', file, '-s', 'malloc,16m'] }
    }
  }
}

async function startProxy(name: string): Promise<{ url: string; process: ChildProcess }> {
  const directory = temporaryDirectory(`${name}-`)
  mkdirSync(join(directory, 'cache'))
  const port = await freePort()
  const file = join(directory, 'configuration')
  const { text, words } = proxyOf(name, { port, directory, file })
  writeFileSync(file, text)
  const process = spawn(`/usr/sbin/${name}`, words, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { url, process }
}

async function answer(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers, redirect: 'manual' })
  const text = (await response.text()).replaceAll(/"(?:requestId|instance|timestamp)":"[^"]*"/g, '')
  return { status: response.status, text, cache: response.headers.get('cache-control') }
}

describe.skipIf(proxies.skip).each(['haproxy', 'nginx', 'varnishd'])('%s with a cache', (name) => {
  let proxy: { url: string; process: ChildProcess }
  beforeAll(async () => {
    proxy = await startProxy(name)
  })
  afterAll(async () => {
    proxy.process.kill('SIGTERM')
    await once(proxy.process, 'exit')
  })

  test.each(paths)('gives nobody the answer of an administrator: %s', async (path) => {
    const ways = [{ accessToken: token }, { authorization: `Bearer ${token}` }, { cookie }]
    for (const [way, credentials] of ways.entries()) {
      const query = `${path}?${QUERY}&way=${way}`
      const own = await answer(`${proxy.url}${query}`, credentials)
      expect(own.cache, JSON.stringify(own)).toMatch(/no-store/)
      const direct = await answer(`${managed.waypost.url}${query}`)
      const other = await answer(`${proxy.url}${query}`)
      // Figures of the server change with each request.
      if (path === '/healthz' || path.startsWith('/readyz') || path === '/metrics') continue
      expect(other).toEqual(direct)
    }
  })
})
