import { describe, expect, test } from 'vitest'
import { Refusal, type RefusalCode } from '../../core/refusal.ts'
import { errorsOfPath } from './dialect-errors.ts'
import { configErrors, namingErrors } from './nacos/nacos-errors.ts'
import { problemErrors } from './errors/problem.ts'
import type { ErrorFormat } from './routing/route.ts'
import { REFUSALS } from '../refusals/refusals.ts'

const CONTEXT = { method: 'GET', path: '/x', requestId: '00000000-0000-4000-8000-000000000000' }

function answerOf(format: ErrorFormat, code: RefusalCode, facts = {}): [number, string] {
  const { status, body } = format(new Refusal(code, 'The sentence.', facts), CONTEXT)
  return [status, String(body)]
}

describe('/svc', () => {
  test.each(Object.entries(REFUSALS))(
    '%s is answered with problem details',
    (code, { http: status, title }) => {
      const answer = problemErrors(
        new Refusal(code as RefusalCode, 'The sentence.', { parameter: 'p', allowed: 'q' }),
        CONTEXT,
      )
      expect(answer).toMatchObject({ status, contentType: 'application/problem+json' })
      expect(JSON.parse(String(answer.body))).toEqual({
        type: `urn:waypost:problem:${code}`,
        title,
        status,
        detail: 'The sentence.',
        parameter: 'p',
        allowed: 'q',
      })
    },
  )

  test('a fault of ours tells nothing but where to look', () => {
    const { status, body } = problemErrors(new Error('secret'), CONTEXT)
    expect(status).toBe(500)
    expect(body).not.toContain('secret')
    expect(JSON.parse(String(body))).toMatchObject({ instance: `urn:uuid:${CONTEXT.requestId}` })
  })
})

describe('/nacos', () => {
  test.each([
    ['config-not-found', {}, 404, 'config data not exist\n'],
    ['config-changed', {}, 409, 'caused: Cas publish fail, server md5 may have changed.;'],
    ['history-not-yours', {}, 403, 'Please check dataId and group.'],
    [
      'invalid-parameter',
      { parameter: 'dataId', names: { value: 'a b' } },
      400,
      'caused: invalid dataId : a b;',
    ],
    ['invalid-parameter', { parameter: 'tenant' }, 400, 'caused: invalid tenant;'],
    [
      'invalid-parameter',
      { parameter: 'content', names: { size: '1' } },
      400,
      'caused: invalid content, over 10485760;',
    ],
    ['invalid-parameter', { parameter: 'other' }, 400, 'caused: The sentence.;'],
    ['too-large', {}, 413, 'caused: The sentence.;'],
    [
      'missing-parameter',
      { parameter: 'dataId' },
      400,
      "caused: Required request parameter 'dataId' for method parameter type String is not present;",
    ],
  ] as const)('configuration: %s %j', (...[code, facts, status, text]) => {
    expect(answerOf(configErrors, code, facts)).toEqual([status, text])
  })

  test.each([
    ['missing-parameter', { parameter: 'ip' }, 400, "Param 'ip' is required."],
    ['service-not-found', { names: { serviceName: 'G@@S' } }, 404, 'service G@@S not found!'],
    ['service-exists', { names: { serviceName: 'G@@S' } }, 400, 'specified service G@@S already exists!'],
    [
      'service-not-empty',
      { names: { serviceName: 'G@@S' } },
      400,
      "Service G@@S is not empty, can't be delete. Please unregister instance first",
    ],
    [
      'checker-not-none',
      { names: { serviceName: 'G@@S', cluster: 'C' } },
      400,
      'health check is still working, service: G@@S, cluster: C',
    ],
    ['server-status', { names: { status: 'DOWN' } }, 503, 'server is DOWNnow, please try again later!'],
    ['service-not-found', {}, 404, 'The sentence.'],
    [
      'invalid-parameter',
      { parameter: 'metadata', names: { value: 'x\ny' } },
      400,
      'metadata format incorrect:x?y',
    ],
    ['invalid-parameter', { parameter: 'weight' }, 400, 'The sentence.'],
  ] as const)('naming: %s %j', (...[code, facts, status, text]) => {
    expect(answerOf(namingErrors, code, facts)).toEqual([status, text])
  })

  test('a fault of ours tells nothing but where to look', () => {
    for (const format of [configErrors, namingErrors]) {
      const { status, body } = format(new Error('secret'), CONTEXT)
      expect(status).toBe(500)
      expect(body).not.toContain('secret')
      expect(body).toContain(CONTEXT.requestId)
    }
  })
})

test('a path without a route has the format of its dialect', () => {
  expect(errorsOfPath('/svc/v1/x')).toBe(problemErrors)
  expect(errorsOfPath('/')).toBe(problemErrors)
  expect(errorsOfPath('/nacos/v1/cs/x')).toBe(configErrors)
  expect(errorsOfPath('/nacos/v1/ns/x')).toBe(namingErrors)
})
