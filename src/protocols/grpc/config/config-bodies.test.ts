import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../core/refusal.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { RequestContext } from '../requests/request-type.ts'
import { configRequests } from './config-requests.ts'

const KEYS = [
  'dataId',
  'group',
  'tenant',
  'tag',
  'content',
  'casMd5',
  'additionMap',
  'listen',
  'configListenContexts',
  'groupKeyPattern',
  'receivedGroupKeys',
  'watchType',
  'initializing',
  'module',
]
const ADDITIONS = [
  'tag',
  'betaIps',
  'type',
  'desc',
  'config_tags',
  'src_user',
  'encryptedDataKey',
  '__proto__',
]

/** Operations that are only asked for their permissions. */
const operation = Object.assign(() => undefined, { permission: { action: 'read', resource: 'config' } })
const group = new Proxy({}, { get: () => operation })
const operations = new Proxy({}, { get: () => group }) as Operations
const limits = { maxContentBytes: 1_000, maxFormBodyBytes: 1_000, maxListeningItems: 5 }
const types = configRequests({ operations, limits, after: () => {} })

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('public'))
const context = fc.dictionary(fc.constantFrom('dataId', 'group', 'tenant', 'md5'), scalar)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.jsonValue(),
  fc.array(context, { maxLength: 7 }),
  fc.dictionary(fc.constantFrom(...ADDITIONS), fc.oneof(scalar, fc.jsonValue())),
  fc.constantFrom('public>>*>>a*', '>>>>', 'a>>b>>c>>d'),
)
const body = fc
  .dictionary(fc.constantFrom(...KEYS), value)
  .map((keys) => JSON.parse(JSON.stringify(keys)) as Record<string, unknown>)

describe('whatever a client sends', () => {
  test.each(types.map((type) => [type.type, type] as const))('%s is read or refused', (_name, { read }) => {
    fc.assert(
      fc.property(body, (sent) => {
        try {
          read(sent, undefined as unknown as RequestContext)
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
