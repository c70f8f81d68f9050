/** Clients of HTTP/2 that know nothing of gRPC, against the server's own HTTP/2: curl and h2load, plain and over TLS. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { frameOf } from '../support/grpc-client.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { execute } from './prepared-program.ts'

const LIMITS = { cwd: '.', env: process.env, limitMs: 50_000 }
const PATH = '/Request/request'
const REQUESTS = 2_000
const HEADERS = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']

const tools = needTool('curl', 'h2load', 'openssl')
describe.skipIf(tools.skip)(`over HTTP/2${tools.reason && ` (${tools.reason})`}`, () => {
  const authority = new Authority()
  const request = join(temporaryDirectory('call-'), 'request')
  const running: Record<'http' | 'https', Waypost | undefined> = { http: undefined, https: undefined }

  beforeAll(async () => {
    writeFileSync(request, frameOf('ServerCheckRequest', {}))
    const { cert, key } = authority.forServer()
    running.http = await startWaypost()
    running.https = await startWaypost({ settings: { 'tls-cert': cert, 'tls-key': key } })
  })
  afterAll(() => Promise.all([running.http?.stop(), running.https?.stop()]))

  describe.each(['http', 'https'] as const)('%s', (scheme) => {
    const urlOf = (path: string): string => `${scheme}://127.0.0.1:${running[scheme]!.port + 1_000}${path}`

    /** The output of curl: the answer, and a line with the version of HTTP and the status. */
    const curl = (url: string, ...more: string[]): Promise<string> => {
      const trust =
        scheme === 'https' ? ['--http2', '--cacert', authority.caFile] : ['--http2-prior-knowledge']
      const print = ['-w', '\n%{http_version} %{http_code}']
      return execute(['curl', '-sS', '--noproxy', '*', ...trust, ...print, ...more, url], LIMITS)
    }

    test('curl is answered, with trailers', async () => {
      const headers = join(temporaryDirectory('curl-'), 'headers')
      const printed = await curl(urlOf(PATH), ...HEADERS, '--data-binary', `@${request}`, '-D', headers)
      expect(printed).toContain('"resultCode":200')
      expect(printed).toMatch(/\n2 200$/)
      expect(await execute(['cat', headers], LIMITS)).toMatch(/grpc-status: 0/)
    })

    test('curl gets statuses of HTTP for what is no gRPC', async () => {
      expect(await curl(urlOf('/'))).toMatch(/\n2 404$/)
      expect(await curl(urlOf(PATH))).toMatch(/\n2 405$/)
      expect(await curl(urlOf(PATH), '--data', 'x')).toMatch(/\n2 415$/)
    })

    test(`all of ${REQUESTS} requests of h2load are answered`, async () => {
      const amount = ['-n', `${REQUESTS}`, '-c', '10', '-m', '50']
      const printed = await execute(['h2load', ...amount, ...HEADERS, '-d', request, urlOf(PATH)], LIMITS)
      expect(printed).toContain(`${REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout`)
      expect(printed).toContain(`status codes: ${REQUESTS} 2xx`)
    })
  })
})
