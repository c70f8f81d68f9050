/** A real server that speaks TLS: what clients may send, certificates that change, and client certificates. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authority, type CertificateFiles } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const openssl = needTool('openssl')

describe.skipIf(openssl.skip)('a server with a certificate', () => {
  let authority: Authority
  let files: CertificateFiles
  let waypost: Waypost
  let agent: https.Agent

  beforeAll(async () => {
    authority = new Authority()
    const directory = temporaryDirectory('tls-')
    files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
    put(authority.forServer())
    waypost = await startWaypost({
      settings: {
        auth: 'on',
        'tls-cert': files.cert,
        'tls-key': files.key,
        'tls-client-ca': authority.caFile,
      },
    })
    agent = new https.Agent({ keepAlive: true, ca: authority.ca })
    const code = /code=([\w-]+)/.exec(waypost.output())![1]!
    await ask('POST', `/svc/v1/auth/users/admin?code=${code}&password=secret`)
  })
  afterAll(async () => {
    agent.destroy()
    await waypost.stop()
  })

  function put(pair: CertificateFiles): void {
    copyFileSync(pair.cert, files.cert)
    copyFileSync(pair.key, files.key)
  }

  const credentials = 'username=nacos&password=secret'

  function ask(
    method: string,
    path: string,
    options: https.RequestOptions = {},
  ): Promise<{ status: number; text: string; cookies: readonly string[] }> {
    return new Promise((resolve, reject) => {
      const request = https.request(`${waypost.url}${path}`, { method, agent, ...options }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            text: Buffer.concat(chunks).toString(),
            cookies: response.headers['set-cookie'] ?? [],
          }),
        )
      })
      request.on('error', reject).end()
    })
  }

  const serialNow = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({ port: waypost.port, host: '127.0.0.1', ca: authority.ca }, () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })

  test('says so in its banner, and answers as without TLS', async () => {
    expect(waypost.output()).toContain(`address  https://127.0.0.1:${waypost.port}`)
    const content = 'x'.repeat(200_000)
    const form = new URLSearchParams({ dataId: 'd', group: 'G', content }).toString()
    const published = await new Promise<string>((resolve, reject) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length }
      const request = https.request(
        `${waypost.url}/svc/v1/cs/configs?${credentials}`,
        { method: 'POST', agent, headers },
        (response) => response.setEncoding('utf8').on('data', resolve),
      )
      request.on('error', reject).end(form)
    })
    expect(published).toBe('true')
    expect((await ask('GET', `/svc/v1/cs/configs?dataId=d&group=G&${credentials}`)).text).toBe(content)
    const many = await Promise.all(
      Array.from({ length: 50 }, () => ask('GET', `/svc/v1/ns/instance/list?serviceName=s&${credentials}`)),
    )
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('tells plain HTTP to use https, and refuses versions of TLS before 1.2', async () => {
    const plain = connect({ port: waypost.port, host: '127.0.0.1' })
    plain.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    let text = ''
    plain.on('error', () => undefined)
    await new Promise((resolve) =>
      plain.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('close', resolve),
    )
    expect(text).toMatch(/^HTTP\/1\.1 400 [^]*use a URL that begins with https:/)
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(ask('GET', '/healthz', { agent: false, ca: authority.ca, ...old })).rejects.toThrow(
      /alert|version|protocol/i,
    )
  })

  test('takes a new certificate without a restart, and keeps the old one while the new one is broken', async () => {
    const first = await serialNow()
    writeFileSync(files.cert, readFileSync(files.cert, 'utf8').slice(0, 400))
    await expect.poll(() => waypost.output()).toContain('the TLS files cannot be used')
    expect(await serialNow()).toBe(first)
    const broken = async () => (await ask('GET', `/metrics?${credentials}`)).text
    expect(await broken()).toContain('waypost_tls_files_broken 1')
    put(authority.forServer())
    await expect.poll(serialNow).not.toBe(first)
    expect(await broken()).toContain('waypost_tls_files_broken 0')
  })

  test('takes a client certificate for the user that it names', async () => {
    const reading = '/svc/v1/cs/configs?dataId=d&group=G'
    const shown = ({ cert, key }: CertificateFiles) => ({
      agent: false as const,
      ca: authority.ca,
      cert: readFileSync(cert),
      key: readFileSync(key),
    })
    expect((await ask('GET', reading)).status).toBe(403)
    expect((await ask('GET', reading, shown(authority.forUser('nacos')))).status).toBe(200)
    expect((await ask('GET', reading, shown(authority.forUser('nobody')))).status).toBe(403)
    const foreign = new Authority().forUser('nacos')
    expect((await ask('GET', reading, shown(foreign))).status).toBe(403)
  })
})

test.skipIf(openssl.skip)(
  'a start refuses a certificate without its key, and one that another key belongs to',
  async () => {
    const authority = new Authority()
    const [one, other] = [authority.forServer(), authority.forServer()]
    await expect(startWaypost({ settings: { 'tls-cert': one.cert } })).rejects.toThrow(
      'set both tls-cert and tls-key',
    )
    const mixed = { 'tls-cert': one.cert, 'tls-key': other.key }
    await expect(startWaypost({ settings: mixed })).rejects.toThrow(
      'the key does not belong to the certificate',
    )
  },
)
