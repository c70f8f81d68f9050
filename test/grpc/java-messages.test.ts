/** Every message that any test gets over gRPC is compared with what Java always writes (test/support/grpc-client.ts). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultsOf, isDescribed } from '../support/java-messages.ts'

const GRPC = new URL('../../src/protocols/grpc/', import.meta.url).pathname

test('all messages of the server are described', () => {
  const files = readdirSync(GRPC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(?!.*test).*\.ts$/.test(name),
  )
  const sources = files.map((name) => readFileSync(join(GRPC, name), 'utf8')).join('\n')
  const answers = Array.from(sources.matchAll(/'(\w+Response)'/g), ([, type]) => type!)
  const modules = /const MODULE_OF = \{([^}]*)\}/.exec(sources)?.[1] ?? ''
  const requests = Array.from(modules.matchAll(/(\w+Request):/g), ([, type]) => type!)
  expect(answers.length).toBeGreaterThan(10)
  expect(requests.length).toBe(9)
  expect([...answers, ...requests].filter((type) => !isDescribed(type))).toEqual([])
})

describe('a message has a fault', () => {
  const answer = { resultCode: 200, errorCode: 0, success: true }
  const push = { headers: {}, requestId: '1', module: 'naming' }
  const list = {
    name: 's',
    groupName: 'G',
    clusters: '',
    cacheMillis: 1,
    hosts: [],
    lastRefTime: 1,
    checksum: '',
    allIPs: false,
    reachProtectionThreshold: false,
    valid: true,
  }
  const faults = (type: string, body: object | string) =>
    faultsOf(type, typeof body === 'string' ? body : JSON.stringify(body)).map(
      (fault) => fault.split(' in ')[0],
    )

  test.each([
    [
      'ConfigQueryResponse',
      { ...answer, success: false, message: 'm', beta: false },
      'lastModified is no integer',
    ],
    [
      'ConfigQueryResponse',
      { ...answer, lastModified: 0, beta: false, content: '', contentType: '' },
      'md5 is no text',
    ],
    ['ServiceListResponse', { ...answer, success: false, message: 'm' }, 'count is no integer'],
    ['ErrorResponse', { ...answer, message: 7 }, 'message is no text'],
    [
      'NotifySubscriberRequest',
      { requestId: '1', module: 'naming', serviceInfo: list },
      'headers is no object',
    ],
    [
      'NotifySubscriberRequest',
      { ...push, serviceInfo: { ...list, valid: undefined } },
      'valid is no boolean',
    ],
    ['ClientDetectionRequest', { ...push, requestId: 1 }, 'requestId is no text'],
    ['HealthCheckResponse', { ...answer, message: null }, 'null'],
    ['InstanceResponse', { ...answer, type: 't', tag: 'x' }, 'tag, although none matched'],
  ])('in %s %j: %s', (type, body, fault) => {
    expect(faults(type, body)).toContain(`${type}: ${fault}`)
  })

  test('in a weight that is written as an integer, and in none that is a text', () => {
    const hosts = (host: string) =>
      JSON.stringify({ ...push, serviceInfo: { ...list, hosts: [0] } }).replace('[0]', `[${host}]`)
    const faultsWith = (host: string) => faults('NotifySubscriberRequest', hosts(host))
    expect(faultsWith('{"weight":1}')).toEqual(['NotifySubscriberRequest: a weight without a fraction'])
    expect(faultsWith('{"weight":1.0,"metadata":{"weight":"1","k":":null"}}')).toEqual([])
  })
})
