import { expect, test } from 'vitest'
import { textAnswer } from '../routing/answers.ts'
import { auditedRoutes } from './audit.ts'
import type { Permission } from '../../../operations/guard.ts'
import type { Handled, Request, Route } from '../routing/route.ts'

const caller = { ip: '127.0.0.9', socketIp: '127.0.0.9', userAgent: '', headers: {} }

async function toldOf(
  permission: Permission,
  handled: () => Handled,
  params: object = {},
): Promise<object[]> {
  const logged: object[] = []
  const plain = { method: 'PUT', path: '/x', permission, handle: handled } as unknown as Route
  const [route] = auditedRoutes([plain], { info: (facts) => void logged.push(facts) })
  await route!.handle({ params, caller } as unknown as Request<never>)
  return logged
}

const SET_SWITCH: Permission = { action: 'write', resource: 'operator' }

test('a change of a switch is logged with the address of the operator', async () => {
  expect(await toldOf(SET_SWITCH, () => textAnswer('ok'), { entry: 'pushEnabled', value: 'false' })).toEqual([
    {
      ip: '127.0.0.9',
      method: 'PUT',
      path: '/x',
      params: { entry: 'pushEnabled', value: 'false' },
      answer: 'ok',
    },
  ])
  expect(
    await toldOf({ action: 'write', resource: 'namespace' }, async () => textAnswer('true')),
  ).toHaveLength(1)
})

test('refused requests, reads and requests of applications are not logged', async () => {
  expect(await toldOf(SET_SWITCH, () => textAnswer('no', 400))).toEqual([])
  expect(await toldOf({ action: 'read', resource: 'operator' }, () => textAnswer('ok'))).toEqual([])
  expect(await toldOf({ action: 'write', resource: 'config' }, () => textAnswer('ok'))).toEqual([])
})

test('long values are cut', async () => {
  const [facts] = await toldOf(SET_SWITCH, () => textAnswer('ok'), { value: 'x'.repeat(100_000) })
  expect(JSON.stringify(facts).length).toBeLessThan(500)
})
