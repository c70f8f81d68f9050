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

/** The facts of a refusal for a parameter. */
function invalid(parameter: string, names?: Record<string, string>) {
  return names === undefined ? { parameter } : { parameter, names }
}

describe('/svc', () => {
  test.each(Object.entries(REFUSALS))(
    '%s is answered with problem details',
    (code, { http: status, title }) => {
      const facts = { parameter: 'p', allowed: 'q' }
      const answer = problemErrors(new Refusal(code as RefusalCode, 'The sentence.', facts), CONTEXT)
      expect(answer).toMatchObject({ status, contentType: 'application/problem+json' })
      const type = `urn:waypost:problem:${code}`
      expect(JSON.parse(String(answer.body))).toEqual({
        type,
        title,
        status,
        detail: 'The sentence.',
        ...facts,
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

const NOT_PRESENT = "Required request parameter 'dataId' for method parameter type String is not present"
const NOT_EMPTY = "Service G@@S is not empty, can't be delete. Please unregister instance first"
const names = { serviceName: 'G@@S', cluster: 'C' }

describe('/nacos', () => {
  test.each([
    ['config-not-found', {}, 404, 'config data not exist\n'],
    ['config-changed', {}, 409, 'caused: Cas publish fail, server md5 may have changed.;'],
    ['history-not-yours', {}, 403, 'Please check dataId and group.'],
    ['invalid-parameter', invalid('dataId', { value: 'a b' }), 400, 'caused: invalid dataId : a b;'],
    ['invalid-parameter', invalid('tenant'), 400, 'caused: invalid tenant;'],
    ['invalid-parameter', invalid('content', { size: '1' }), 400, 'caused: invalid content, over 10485760;'],
    ['invalid-parameter', invalid('other'), 400, 'caused: The sentence.;'],
    ['too-large', {}, 413, 'caused: The sentence.;'],
    ['missing-parameter', invalid('dataId'), 400, `caused: ${NOT_PRESENT};`],
  ] as const)('configuration: %s %j', (...[code, facts, status, text]) => {
    expect(answerOf(configErrors, code, facts)).toEqual([status, text])
  })

  test.each([
    ['missing-parameter', invalid('ip'), 400, "Param 'ip' is required."],
    ['service-not-found', { names }, 404, 'service G@@S not found!'],
    ['service-exists', { names }, 400, 'specified service G@@S already exists!'],
    ['service-not-empty', { names }, 400, NOT_EMPTY],
    ['checker-not-none', { names }, 400, 'health check is still working, service: G@@S, cluster: C'],
    ['server-status', { names: { status: 'DOWN' } }, 503, 'server is DOWNnow, please try again later!'],
    ['service-not-found', {}, 404, 'The sentence.'],
    ['invalid-parameter', invalid('metadata', { value: 'x\ny' }), 400, 'metadata format incorrect:x?y'],
    ['invalid-parameter', invalid('weight'), 400, 'The sentence.'],
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
