import { expect } from 'vitest'
import type { Dialect, Reply } from './client.ts'

/** Asserts that an answer is RFC 9457 problem JSON of this status which names the parameter, if one is given. */
export function expectProblem(reply: Reply, status: number, parameter?: string): void {
  expect(reply.status, reply.text).toBe(status)
  expect(reply.headers['content-type'], reply.text).toMatch(/^application\/problem\+json/)
  const problem = reply.json()
  expect(problem).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    status,
    detail: expect.any(String),
  })
  expect(problem.title).not.toBe('')
  expect(problem.detail).not.toBe('')
  if (parameter !== undefined) expect(`${problem.detail} ${problem.parameter ?? ''}`).toContain(parameter)
}

/** An assertion of refusals in the form of a dialect: a problem under `/svc`, a text under `/nacos`. */
export function refusals(dialect: Dialect): typeof expectProblem {
  if (dialect === 'svc') return expectProblem
  return (reply, status, parameter = '') => {
    expect(reply.status, reply.text).toBe(status)
    expect(reply.headers['content-type'] ?? '').not.toMatch(/problem/)
    expect(reply.text).not.toBe('')
    expect(reply.text).toContain(parameter)
  }
}
