import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { changedSettings, loadSettings } from '../../settings/settings.ts'
import { etcdPlaceOf } from './etcd-place.ts'

const directory = mkdtempSync(join(tmpdir(), 'password-'))
afterAll(() => rmSync(directory, { recursive: true }))

const HTTPS = { 'etcd-endpoints': 'https://10.0.0.1:2379' }

/** The place that these flags name, in this environment. */
function placeOf(flags: Record<string, string>, env: Record<string, string> = {}) {
  return etcdPlaceOf(loadSettings({ flags, env }), env)
}

describe('the place of etcd', () => {
  test('has the files for TLS, and nothing that is not set', () => {
    const files = { 'etcd-ca': 'ca.pem', 'etcd-cert': 'cert.pem', 'etcd-key': 'key.pem' }
    expect(placeOf({ ...HTTPS, ...files }).access).toEqual({
      tls: { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' },
    })
    expect(placeOf({ 'etcd-endpoints': 'http://10.0.0.1:2379' })).toEqual({
      endpoints: ['http://10.0.0.1:2379'],
      prefix: 'waypost',
      access: { tls: {} },
      secretsKeys: [],
    })
  })

  test('has the password of the file, read each time, or of the environment; settings have no password', () => {
    const file = join(directory, 'password')
    writeFileSync(file, 'one\n')
    const env = { WAYPOST_ETCD_PASSWORD: 'of the environment' }
    const { user } = placeOf({ 'etcd-user': 'ann', 'etcd-password-file': file }, env).access
    expect([user?.name, user?.password()]).toEqual(['ann', 'one'])
    writeFileSync(file, 'two')
    expect(user?.password()).toBe('two')
    expect(placeOf({ 'etcd-user': 'ann' }, env).access.user?.password()).toBe('of the environment')
    expect(JSON.stringify(changedSettings(loadSettings({ env })))).not.toContain('of the environment')
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ ...HTTPS, 'etcd-cert': 'cert.pem' }, /both etcd-cert and etcd-key/],
    [{ ...HTTPS, 'etcd-key': 'key.pem' }, /both etcd-cert and etcd-key/],
    [{ 'etcd-endpoints': 'http://10.0.0.1:2379', 'etcd-ca': 'ca.pem' }, /begin with https/],
    [{ 'etcd-endpoints': 'http://10.0.0.1:2379,https://10.0.0.2:2379' }, /with TLS and without/],
    [{ 'etcd-user': 'ann' }, /etcd-password-file, or WAYPOST_ETCD_PASSWORD/],
    [{ 'etcd-password-file': 'file' }, /set etcd-user/],
  ])('%j is refused', (flags, why) => expect(() => placeOf(flags)).toThrow(why))
})
