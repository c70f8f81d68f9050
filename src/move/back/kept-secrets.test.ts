import { expect, test } from 'vitest'
import type { PlanChecker, PlanService } from '../../plan/plan.ts'
import { lacksSecrets, withKeptSecrets } from './kept-secrets.ts'

function serviceWith(checker: PlanChecker, name = 'c'): PlanService {
  const cluster = { name, checker, checkPort: 80, useInstancePort: true, metadata: {} }
  const names = { kind: 'service', namespace: '', group: 'G', name: 'db' } as const
  const selector = { type: 'none', expression: '' }
  return { ...names, protectThreshold: 0, selector, metadata: {}, clusters: [cluster], ephemeral: false }
}

/** The written checker if the other server has this checker. */
function written(checker: PlanChecker, before?: PlanChecker, cluster = 'c'): PlanChecker {
  const there = before === undefined ? undefined : serviceWith(before, cluster)
  return withKeptSecrets(serviceWith(checker), there).clusters[0]!.checker
}

test('header fields keep the values that the other server has', () => {
  const there = { type: 'HTTP', path: '/old', headers: 'X-A:1|B:2:3' }
  const shown = { type: 'HTTP', path: '/up', headers: 'B|X-A' }
  expect(written(shown, there)).toEqual({ type: 'HTTP', path: '/up', headers: 'B:2:3|X-A:1' })
  expect(written({ ...shown, headers: 'B|new:9|gone' }, there)['headers']).toBe('B:2:3|new:9')
  expect(written(shown)['headers']).toBe('')
  expect(written(shown, there, 'other')['headers']).toBe('')
  expect(written({ ...shown, headers: '' }, there)['headers']).toBe('')
})

test('the password of a checker stays, unless the checker is of another type', () => {
  const there = { type: 'MYSQL', user: 'u', pwd: 'secret', cmd: 'select 1' }
  expect(written({ type: 'MYSQL', user: 'v', cmd: 'c' }, there)).toMatchObject({ user: 'v', pwd: 'secret' })
  expect(written({ type: 'MYSQL', pwd: 'own' }, there)).toEqual({ type: 'MYSQL', pwd: 'own' })
  expect(written({ type: 'TCP' }, there)).toEqual({ type: 'TCP' })
})

test('only checkers whose secrets are not shown lack some', () => {
  expect(lacksSecrets({ type: 'TCP' })).toBe(false)
  expect(lacksSecrets({ type: 'HTTP', headers: '' })).toBe(false)
  expect(lacksSecrets({ type: 'HTTP', headers: 'a:1' })).toBe(false)
  expect(lacksSecrets({ type: 'HTTP', headers: 'a:1|b' })).toBe(true)
  expect(lacksSecrets({ type: 'MYSQL' })).toBe(true)
})
