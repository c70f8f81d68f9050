import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { definitions } from './definitions.ts'
import { changedSettings, loadSettings } from './settings.ts'
import type { Settings } from './settings.ts'
import { environmentName, SettingsError } from './sources.ts'

let directory: string
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'waypost-settings-'))))
afterAll(() => rmSync(directory, { recursive: true }))

type Flags = Readonly<Record<string, unknown>>

function load(flags: Flags, env: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({ flags, env })
}

function loadFile(content: string, flags: Flags = {}, env: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({ file: fileOf(content), flags, env })
}

function problemsOf(flags: Flags, env: Readonly<Record<string, string>> = {}): readonly string[] {
  return problemsWhere(() => load(flags, env))
}

function problemsWhere(read: () => Settings): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
  }
  throw new Error('no problem was found')
}

function fileOf(content: string): string {
  const file = join(directory, 'settings')
  writeFileSync(file, content)
  return file
}

describe('without flags, variables and file', () => {
  test('every setting has its default', () => {
    const settings = load({})
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 8848,
      dataDir: './data',
      logLevel: 'info',
      trustedProxies: [],
    })
    expect(settings).toMatchObject({
      expiredMetadataTimeMs: 60_000,
      expiredMetadataIntervalMs: 5_000,
      keepAliveTimeoutMs: 90_000,
    })
    expect(settings).toMatchObject({
      historyRetentionMs: 2_592_000_000,
      maxContentBytes: 10_485_760,
      namespaceQuota: 200,
    })
  })

  test('every default, and its shown form, is an allowed value of its setting', () => {
    for (const { kind, shownDefault, default: value } of Object.values(definitions)) {
      expect(kind.read(value)).toEqual(value)
      expect(kind.read(shownDefault)).toEqual(value)
    }
  })

  test('the settings are frozen', () => {
    const settings = load({ 'trusted-proxies': '10.0.0.1' })
    expect(Object.isFrozen(settings)).toBe(true)
    expect(Object.isFrozen(settings.trustedProxies)).toBe(true)
    expectTypeOf(settings.port).toEqualTypeOf<number>()
    expectTypeOf(settings.trustedProxies).toEqualTypeOf<readonly string[]>()
    expectTypeOf(settings.logLevel).toEqualTypeOf<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'>()
  })

  test('no two settings have the same environment variable', () => {
    const names = Object.values(definitions).map(({ name }) => name)
    expect(new Set(names.map(environmentName)).size).toBe(names.length)
  })
})

describe('flags', () => {
  test.each([
    [{ port: undefined }, 'the flag --port has no value. It must be a whole number'],
    [
      { host: '' },
      'Wrong value of the setting host: "", from the flag --host. It must be a text that is not empty',
    ],
    [{ 'log-level': 'loud' }, 'one of trace, debug, info'],
    [{ dir: 'x' }, 'Unknown setting dir, from the flag --dir'],
  ])('%j are refused, and the message says why', (flags, problem) =>
    expect(problemsOf(flags).join('\n')).toContain(problem),
  )
})

describe('the environment', () => {
  test('sets settings by variables that start with WAYPOST_', () => {
    const env = { WAYPOST_DATA_DIR: 'd', WAYPOST_SVC_NAMING_CLEAN_EXPIRED_METADATA_INTERVAL: '1s', PORT: '1' }
    expect(load({}, env)).toMatchObject({ dataDir: 'd', expiredMetadataIntervalMs: 1000, port: 8848 })
  })

  test('is ignored where a variable is empty', () =>
    expect(load({}, { WAYPOST_PORT: '', WAYPOST_NOTHING: '' }).port).toBe(8848))

  test('is refused if a variable has an unknown name or a wrong value', () => {
    expect(problemsOf({}, { WAYPOST_HOSTS: 'x' })).toEqual([
      'Unknown setting WAYPOST_HOSTS, from the environment variable WAYPOST_HOSTS. Did you mean WAYPOST_HOST?',
    ])
    expect(problemsOf({}, { WAYPOST_PORT: 'x' })[0]).toContain(
      'setting port: "x", from the environment variable WAYPOST_PORT',
    )
  })

  test('may have all that the commands read: a server may be started in the same shell', () => {
    const src = new URL('../', import.meta.url)
    const texts = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(name, src), 'utf8'))
    const names = new Set(texts.flatMap((text) => text.match(/\bWAYPOST_[A-Z_]+[A-Z]\b/g) ?? []))
    expect([...names]).toEqual(expect.arrayContaining(['WAYPOST_FROM_PASSWORD', 'WAYPOST_CONTEXT']))
    const settings = new Set(Object.values(definitions).map(({ name }) => environmentName(name)))
    for (const name of names)
      if (!settings.has(name) && name !== 'WAYPOST_SETTINGS')
        expect(() => load({}, { [name]: 'x' }), name).not.toThrow()
  })

  test('is refused with a hint if Kubernetes set a variable of that name', () => {
    expect(problemsOf({}, { WAYPOST_SERVICE_HOST: '10.0.0.1' })[0]).toContain('enableServiceLinks')
    expect(problemsOf({}, { WAYPOST_PORT: 'tcp://10.0.0.1:80' })[0]).toContain('enableServiceLinks')
  })
})

describe('a settings file', () => {
  test.each([
    [
      '{ "port": 1, "site": "s", "svc": { "naming": { "clean": { "expired-metadata": { "interval": "7s" } } } } }',
    ],
    ['\uFEFF{ "port": "1", "site": "s", "svc.naming.clean.expired-metadata.interval": 7000 }'],
    ['# ours\n\n port = 1\r\nsite=s\nsvc.naming.clean.expired-metadata.interval=7s\n'],
  ])('sets settings by the content %j', (content) => {
    const expected = { port: 1, site: 's', expiredMetadataIntervalMs: 7000 }
    expect(loadFile(content)).toMatchObject(expected)
    expect(load({}, { WAYPOST_SETTINGS: fileOf(content) })).toMatchObject(expected)
  })

  test('is overridden by the environment, which flags override', () => {
    const env = { WAYPOST_PORT: '2', WAYPOST_SITE: 'env' }
    const settings = loadFile('port=1\nsite=file\nhost=file', { port: '3' }, env)
    expect(settings).toMatchObject({ port: 3, site: 'env', host: 'file' })
  })

  test('is checked completely, also where a flag overrides it', () => {
    expect(problemsWhere(() => loadFile('port=x', { port: '3' }))[0]).toMatch(
      /setting port: "x", from .*settings, line 1\./,
    )
  })

  test.each([
    ['{ "port": 1', 'is not valid JSON'],
    ['port 1', 'line 1: "port 1" is not of the form name=value'],
    ['=1', 'is not of the form name=value'],
    ['{ "prot": 1 }', 'Did you mean port?'],
    ['{ "port": null }', 'Wrong value of the setting port: null'],
    ['{ "site": 5 }', 'Wrong value of the setting site: 5'],
  ])('with the content %j is refused', (content, problem) =>
    expect(problemsWhere(() => loadFile(content))[0]).toContain(problem),
  )

  test('that does not exist is named in the message', () => {
    expect(problemsWhere(() => loadSettings({ file: join(directory, 'absent'), env: {} }))[0]).toMatch(
      /settings file .*absent cannot be read/,
    )
  })
})

test('only settings that differ from their defaults are reported, by name', () => {
  const flags = { port: '9000', site: 'unknown', 'trusted-proxies': '127.0.0.1' }
  const changed = changedSettings(load(flags))
  expect(changed).toEqual({ port: 9000, 'trusted-proxies': ['127.0.0.1'] })
  expect(changedSettings(load({}))).toEqual({})
})
