/** The TLS files of a server: which pairs it takes, and when it keeps the one it has. */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KeyPair } from '../../src/protocols/sockets/secure-layer.ts'
import { Certificates } from '../../src/server/process/certificates.ts'
import { Authority, type CertificateFiles } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'

const openssl = needTool('openssl')

describe.skipIf(openssl.skip)('the TLS files', () => {
  let authority: Authority
  let first: CertificateFiles
  let second: CertificateFiles
  let files: { tlsCert: string; tlsKey: string; tlsClientCa: string }
  let logged: string[]
  let used: KeyPair[]

  beforeAll(() => {
    authority = new Authority()
    first = authority.forServer()
    second = authority.forServer()
  })
  beforeEach(() => {
    const directory = temporaryDirectory('tls-files-')
    const of = (name: string): string => join(directory, name)
    files = { tlsCert: of('tls.crt'), tlsKey: of('tls.key'), tlsClientCa: of('ca.crt') }
    put(first)
    copyFileSync(authority.caFile, files.tlsClientCa)
    logged = []
    used = []
  })

  const log = {
    info: (_: object, text: string) => logged.push(text),
    error: ({ reason }: { reason: string }) => logged.push(reason),
  } as unknown as Logger

  function put({ cert, key }: CertificateFiles): void {
    copyFileSync(cert, files.tlsCert)
    copyFileSync(key, files.tlsKey)
  }

  async function open(): Promise<Certificates> {
    return (await Certificates.open(files, log))!
  }

  async function look(certificates: Certificates): Promise<boolean> {
    await certificates.look((pair) => used.push(pair))
    return certificates.status().isBroken
  }

  test('that have not changed are used no second time', async () => {
    const certificates = await open()
    expect(await look(certificates)).toBe(false)
    expect([used, logged]).toEqual([[], []])
  })

  test('are used once when they have changed, and their expiry is reported', async () => {
    const certificates = await open()
    put(second)
    expect(await look(certificates)).toBe(false)
    expect(await look(certificates)).toBe(false)
    expect(used.map(({ cert }) => cert)).toEqual([readFileSync(second.cert, 'utf8')])
    expect(logged).toEqual(['a new TLS certificate is in use'])
    const days = (certificates.status().expiresMs - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(1)
    expect(days).toBeLessThan(3)
  })

  test('are found behind a link that moves, as Kubernetes replaces secrets', async () => {
    const directory = temporaryDirectory('secret-')
    const place = (name: string, { cert, key }: CertificateFiles): void => {
      mkdirSync(join(directory, name))
      copyFileSync(cert, join(directory, name, 'tls.crt'))
      copyFileSync(key, join(directory, name, 'tls.key'))
    }
    place('..1', first)
    place('..2', second)
    symlinkSync('..1', join(directory, '..data'))
    const links = { tlsCert: join(directory, 'tls.crt'), tlsKey: join(directory, 'tls.key'), tlsClientCa: '' }
    symlinkSync('..data/tls.crt', links.tlsCert)
    symlinkSync('..data/tls.key', links.tlsKey)
    const certificates = (await Certificates.open(links, log))!
    symlinkSync('..2', join(directory, '..new'))
    renameSync(join(directory, '..new'), join(directory, '..data'))
    expect(await look(certificates)).toBe(false)
    expect(used[0]!.cert).toBe(readFileSync(second.cert, 'utf8'))
  })

  test.each<[string, () => void]>([
    ['a certificate of another key', () => copyFileSync(second.cert, files.tlsCert)],
    ['a key of another certificate', () => copyFileSync(second.key, files.tlsKey)],
    ['half a certificate', () => writeFileSync(files.tlsCert, readFileSync(second.cert).subarray(0, 300))],
    ['half a chain', () => writeFileSync(files.tlsCert, readFileSync(first.cert) + half(authority.ca))],
    ['no certificate at all', () => writeFileSync(files.tlsCert, '')],
    ['no key at all', () => writeFileSync(files.tlsKey, '')],
    ['a missing key', () => rmSync(files.tlsKey)],
    ['a directory', () => (rmSync(files.tlsCert), mkdirSync(files.tlsCert))],
    ['an expired certificate', () => put(authority.expired())],
    ['an empty list of authorities', () => writeFileSync(files.tlsClientCa, '')],
    ['a list of authorities that is none', () => writeFileSync(files.tlsClientCa, 'no PEM')],
    ['half a list of authorities', () => writeFileSync(files.tlsClientCa, authority.ca + half(authority.ca))],
  ])(
    'with %s are not used; the alarm and one line of the log say so until they are good',
    async (_, harm) => {
      const certificates = await open()
      const before = certificates.pair
      harm()
      expect(await look(certificates)).toBe(true)
      expect(await look(certificates)).toBe(true)
      expect(used).toEqual([])
      expect(certificates.pair).toBe(before)
      expect(logged).toHaveLength(1)
      expect(logged[0]).not.toContain('PRIVATE KEY')
      rmSync(files.tlsCert, { recursive: true, force: true })
      copyFileSync(authority.caFile, files.tlsClientCa)
      put(first)
      expect(await look(certificates)).toBe(false)
      expect(used).toEqual([])
      put(second)
      expect(await look(certificates)).toBe(false)
      expect(used).toHaveLength(1)
    },
  )

  test('that cannot be used stop a start, with a sentence that says why', async () => {
    writeFileSync(files.tlsClientCa, '')
    await expect(open()).rejects.toThrow('tls-client-ca holds no certificate of an authority')
    rmSync(files.tlsKey)
    await expect(open()).rejects.toThrow(/the TLS files cannot be used: .*tls\.key/)
    await expect(Certificates.open({ ...files, tlsKey: '' }, log)).rejects.toThrow(
      'set both tls-cert and tls-key',
    )
    const none = { tlsCert: '', tlsKey: '', tlsClientCa: files.tlsClientCa }
    await expect(Certificates.open(none, log)).rejects.toThrow('set both tls-cert and tls-key')
    expect(await Certificates.open({ ...none, tlsClientCa: '' }, log)).toBeUndefined()
  })
})

function half(pem: string): string {
  return pem.slice(0, pem.length / 2)
}
