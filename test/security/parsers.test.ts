/** Laws of every parser of what comes from outside: any text is a value or an expected refusal, never a fault. */
import fc from 'fast-check'
import { isIP } from 'node:net'
import { describe, expect, test } from 'vitest'
import { labelsOfExpression } from '../../src/core/naming/state/label-selector.ts'
import { readSwitch } from '../../src/core/switches/read-switch.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { headersOf as probeHeadersOf, pathOf as probePathOf } from '../../src/probes/http-probe.ts'
import { refusalOfAddress } from '../../src/probes/address-guard.ts'
import { sendable } from '../../src/protocols/http/routing/answer.ts'
import { callerAddress, parseTrustedProxies } from '../../src/protocols/http/transport/client-address.ts'
import { checkJsonDepth } from '../../src/protocols/parameters/json-depth.ts'
import {
  parseBeat,
  parseHealthChecker,
  parseInstanceLocators,
  parseMetadata,
  parseSelector,
} from '../../src/protocols/parameters/json-fields.ts'
import { acceptsPush } from '../../src/operations/naming/push-agents.ts'
import { pathOf, queryOf } from '../../src/protocols/parameters/request-target.ts'
import { decodeAck } from '../../src/protocols/udp/push-socket.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { SettingsError } from '../../src/settings/sources.ts'
import { readFileText } from '../../src/settings/sources.ts'

const RUNS = { numRuns: 400 }

const words = fc.constantFrom(
  'ip',
  'port',
  'cluster',
  'weight',
  'metadata',
  'serviceName',
  'ephemeral',
  'type',
  'expression',
  'path',
  'headers',
  'expectedResponseCode',
  'user',
  'pwd',
  'cmd',
  'clusterName',
  '__proto__',
  'constructor',
  'toString',
  'toJSON',
  'label',
  'none',
  'HTTP',
  'TCP',
  'MYSQL',
  'NONE',
  '127.0.0.1',
  '/up',
  'a:b',
  'min',
  'max',
  'factor',
)

/** JSON of any shape, whose keys and texts are often the ones that parsers look for. */
const json = fc
  .letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(null, true, false, 0, -1, 1.5, 80, 65_535, 1e308, ''),
      words,
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .array(fc.tuple(words, tie('value')), { maxLength: 6 })
        .map((pairs) => Object.fromEntries(pairs) as unknown),
    ),
  }))
  .value.map((value) => JSON.stringify(value))

/** Texts that are nearly JSON, nearly a list, or nothing. */
const text = fc.oneof(
  json,
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.constantFrom(...Array.from('{}[]",:=&|.*%@# \\\n\u0001\u0002a1-')), { maxLength: 60 })
    .map((each) => each.join('')),
  fc.tuple(json, fc.nat(), fc.string({ unit: 'binary', maxLength: 2 })).map(([whole, at, piece]) => {
    const cut = at % (whole.length + 1)
    return whole.slice(0, cut) + piece + whole.slice(cut + 1)
  }),
)

/** The value, or undefined after an expected refusal; anything else fails the test. */
function valueOrRefusal<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.message).not.toBe('')
    // oxlint-disable-next-line no-control-regex
    expect(error.message.slice(0, 2_000)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/)
    return undefined
  }
}

const holdsFor = (property: (text: string) => void) => fc.assert(fc.property(text, property), RUNS)

describe('any text is read or refused', () => {
  test('as metadata, whose values are texts', () =>
    holdsFor((sent) => {
      const metadata = valueOrRefusal(() => parseMetadata(sent, 'metadata', 200))
      if (metadata === undefined) return
      expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      for (const value of Object.values(metadata)) expect(typeof value).toBe('string')
      expect(Buffer.byteLength(Object.entries(metadata).flat().join(''))).toBeLessThanOrEqual(200)
    }))

  test('as a beat', () =>
    holdsFor((sent) => {
      const beat = valueOrRefusal(() => parseBeat(sent, { maxMetadataBytes: 200 }))
      if (beat === undefined) return
      expect(beat.ip).toMatch(/^[^\s#/]{1,128}$/)
      expect(Number.isInteger(beat.port) && beat.port >= 0 && beat.port <= 65_535).toBe(true)
    }))

  test('as the instances of a batch', () =>
    holdsFor((sent) => {
      for (const { ip, port, ephemeral, clusterName } of valueOrRefusal(() => parseInstanceLocators(sent)) ??
        []) {
        expect([typeof ip, typeof port, typeof ephemeral, typeof clusterName]).toEqual([
          'string',
          'number',
          'boolean',
          'string',
        ])
      }
    }))

  test('as a selector, which core can use', () =>
    holdsFor((sent) => {
      const selector = valueOrRefusal(() => parseSelector(sent))
      if (selector?.type === 'label')
        expect(labelsOfExpression(selector.expression).length).toBeGreaterThan(0)
    }))

  test('as the expression of a selector', () => {
    const part = fc.constantFrom(
      'CONSUMER',
      'PROVIDER',
      '.label.',
      'zone',
      ' ',
      '=',
      '&',
      'x.y-z',
      '__proto__',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          fc.array(part, { maxLength: 14 }).map((parts) => parts.join('')),
        ),
        (sent) => {
          for (const label of valueOrRefusal(() => labelsOfExpression(sent)) ?? [])
            expect(label).toMatch(/^[\w.-]{1,128}$/)
        },
      ),
      RUNS,
    )
  })

  test.each([true, false])('as a health checker (an unknown one is NONE: %s)', (unknownIsNone) =>
    holdsFor((sent) => {
      const checker = valueOrRefusal(() => parseHealthChecker(sent, { unknownIsNone }))
      if (checker?.type !== 'HTTP') return
      // The instance gets exactly one request: nothing in it ends a line.
      const messages = [
        probePathOf(checker.path),
        ...Object.entries(probeHeadersOf(checker.headers)).flat(),
      ].join('')
      // oxlint-disable-next-line no-control-regex
      expect(messages).not.toMatch(/[\r\n\u0000]/)
    }),
  )

  test('as the value of each switch', () => {
    const entry = fc.oneof(
      fc.constantFrom(
        'masters',
        'clientBeatInterval',
        'distroThreshold',
        'check',
        'healthCheckEnabled',
        'httpHealthParams',
        'incrementalList',
        'limitedUrlMap',
        'pushVersion',
        'batch',
        'overriddenServerStatus',
        'healthCheckWhiteList',
        '__proto__',
        'constructor',
      ),
      text,
    )
    const value = fc.oneof(
      text,
      fc.dictionary(entry, fc.jsonValue()).map((batch) => JSON.stringify(batch)),
    )
    fc.assert(
      fc.property(entry, value, (name, sent) => {
        const patch = valueOrRefusal(() => readSwitch(name, sent))
        for (const field of Object.keys(patch ?? {})) expect(field).toMatch(/^[a-zA-Z]+$/)
        expect(Object.getPrototypeOf(patch ?? {})).toBe(Object.prototype)
      }),
      RUNS,
    )
  })
})

describe('any bytes are', () => {
  test('an ack or none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 1_200 }), text.map(Buffer.from)), (bytes) => {
        const ref = decodeAck(Buffer.from(bytes))
        if (ref !== undefined) expect(Number.isSafeInteger(ref) && ref > 0).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('any header is', () => {
  const hop = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    text,
    fc.constantFrom('::ffff:127.0.0.1', '127.0.0.1:80', '[::1]:80', 'fe80::1%eth0', ''),
  )

  test('the address of a caller: an IP address, and the socket itself where the proxy is not trusted', () => {
    const trusted = parseTrustedProxies(['127.0.0.0/8', '::1'])
    fc.assert(
      fc.property(
        fc.array(hop, { maxLength: 5 }),
        fc.constantFrom('127.0.0.1', '::1', '9.9.9.9'),
        (hops, socketIp) => {
          const header = hops.join(',')
          const address = callerAddress(socketIp, header, trusted)
          expect(isIP(address)).not.toBe(0)
          if (socketIp === '9.9.9.9') expect(address).toBe(socketIp)
        },
      ),
      RUNS,
    )
  })

  test('an agent that takes pushes or not', () => {
    const versions = {
      pushJavaVersion: '0.1.0',
      pushGoVersion: '0.1.0',
      pushPythonVersion: '0.4.3',
      pushCVersion: '1.0.12',
      pushCSharpVersion: '0.9.0',
    }
    const agent = fc
      .tuple(fc.constantFrom('Nacos-Java-Client', 'Nacos-Go-Client', ''), text)
      .map((parts) => parts.join(':v'))
    fc.assert(
      fc.property(agent, (name) => {
        expect(typeof acceptsPush(name, versions)).toBe('boolean')
      }),
      RUNS,
    )
  })

  test('sendable when it is made so', () =>
    holdsFor((value) => {
      expect(sendable(value)).toMatch(/^[\t\x20-\x7e]*$/)
    }))
})

describe('any request target', () => {
  test('has a path, and a query or none', () =>
    holdsFor((target) => {
      expect(pathOf(target)).not.toContain('?')
      expect(target.includes('?')).toBe(queryOf(target) !== undefined)
    }))
})

describe('any address', () => {
  test('is allowed or refused, and an IPv6 spelling of a forbidden IPv4 one is forbidden', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), text), (address) => void refusalOfAddress(address)),
      RUNS,
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 65_535 }), (low) => {
        const dotted = `169.254.${low >> 8}.${low & 0xff}`
        for (const address of [
          dotted,
          `::ffff:${dotted}`,
          `64:ff9b::${dotted}`,
          `::ffff:a9fe:${low.toString(16)}`,
          `2002:a9fe:${low.toString(16)}::1`,
        ])
          expect(refusalOfAddress(address), address).toBeTypeOf('string')
      }),
      RUNS,
    )
  })
})

describe('any settings', () => {
  const settingsOrError = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError)
      return undefined
    }
  }

  test('file is read or refused', () =>
    holdsFor((file) => void settingsOrError(() => readFileText(file, 'a.json'))))

  test('flags and variables are read or refused', () => {
    const name = fc.oneof(
      fc.constantFrom('port', 'host', 'max-body', 'trusted-proxies', 'request-timeout', '__proto__'),
      text,
    )
    fc.assert(
      fc.property(
        fc.dictionary(name, text),
        fc.dictionary(
          name.map((one) => `WAYPOST_${one.toUpperCase().replaceAll('-', '_')}`),
          text,
        ),
        (flags, env) => {
          const settings = settingsOrError(() =>
            loadSettings({ flags, env: { ...env, WAYPOST_SETTINGS: undefined } }),
          )
          if (settings !== undefined) expect(settings.port).toBeGreaterThanOrEqual(0)
        },
      ),
      RUNS,
    )
  })
})

/** A text that counts how many of its characters are read. */
class CountedText {
  readonly #text: string
  read = 0

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#text.length
  }

  charCodeAt(at: number): number {
    this.read++
    return this.#text.charCodeAt(at)
  }

  indexOf(part: string, from: number): number {
    const found = this.#text.indexOf(part, from)
    this.read += (found < 0 ? this.length : found + 1) - (from || 0)
    return found
  }
}

describe('the depth of JSON', () => {
  const isTooDeep = (sent: string, most: number) =>
    valueOrRefusal(() => checkJsonDepth('p', sent, most) ?? true) === undefined

  test('is what JSON.parse would build', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 5 }), (sent, most) => {
        expect(isTooDeep(sent, most)).toBe(depthOf(JSON.parse(sent)) > most)
      }),
      { numRuns: 1_000 },
    )
  })

  test('brackets in texts do not count', () => {
    expect(isTooDeep(JSON.stringify({ a: '['.repeat(500), b: '\\"[{'.repeat(50) }), 2)).toBe(false)
    expect(isTooDeep('['.repeat(33), 32)).toBe(true)
    expect(isTooDeep(`${'['.repeat(32)}${']'.repeat(32)}`, 32)).toBe(false)
  })

  test('is found by reading each character at most three times', () => {
    for (const piece of ['{"a":1},', '["', '\\"', '[[', '[{}],', '"\\']) {
      const sent = `[${piece.repeat((64 * 1024) / piece.length)}`
      const text = new CountedText(sent)
      let read = 0
      const bytes = new Proxy(Buffer.from(sent), {
        get: (all, name) => {
          if (/^\d+$/.test(String(name))) read++
          return Reflect.get(all, name, all) as unknown
        },
      })
      valueOrRefusal(() => checkJsonDepth('p', { text: text as unknown as string, bytes }, 32) ?? true)
      expect(text.read, piece).toBeGreaterThan(0)
      expect(text.read + read, piece).toBeLessThanOrEqual(3 * sent.length)
    }
  })
})
